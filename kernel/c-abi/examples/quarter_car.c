/*
 * A quarter of a car rolls east at 10 m/s over whatever lies there: quarter_car IMAGE X Y METRES. The page kernel/docs/tyre.md
 * explains the wheel.
 *
 * The tyre is a spring of the penetration that hpan_contact finds by strips: at a kerb it grows with each millimetre of travel, so
 * the force has no jumps, whatever the step. Rows are time, place, heights of hub and body, and the tyre's force.
 */
#define _POSIX_C_SOURCE 200809L
#include <hardpan.h>

#include <stdio.h>
#include <stdlib.h>

static void must(hpan_error error, const char *what) {
    if (error != HPAN_OK) {
        fprintf(stderr, "error: %s: %s\n", what, hpan_error_text(error));
        exit(1);
    }
}

static void *room(size_t align, size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) {
        fprintf(stderr, "error: no memory\n");
        exit(1);
    }
    return memory;
}

static void *load(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "error: %s cannot be read\n", path);
        exit(1);
    }
    *length = (size_t)ftell(file);
    rewind(file);
    void *bytes = room(128, *length);
    if (fread(bytes, 1, *length, file) != *length) {
        fprintf(stderr, "error: %s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: quarter_car IMAGE X Y METRES\n");
        return 2;
    }
    size_t length;
    const void *bytes = load(arguments[1], &length);
    hpan_view *view = NULL;
    must(hpan_open(room(hpan_view_align(), hpan_view_size()), hpan_view_size(), bytes, length, &view), "open");

    const double step = 0.0005, speed = 10, gravity = 9.81;
    const double wheel_mass = 40, body_mass = 360, tyre_rate = 200000, tyre_damping = 500, spring = 20000, damper = 1500;
    const hpan_tyre tyre = {0.3, 0.25, 0, 0, 0, HPAN_STRIPS};
    hpan_body wheel = {{atof(arguments[2]), atof(arguments[3]), 0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}, {0, 0, 0}, 0, 0, HPAN_AXES_ISO8855};
    const double start = wheel.centre[0], way = atof(arguments[4]);

    /* at rest on the ground that is there */
    hpan_contact_found c;
    must(hpan_contact(view, &tyre, NULL, 0, &wheel, &c), "contact");
    if (c.status != HPAN_CONTACT_FOUND) {
        fprintf(stderr, "error: no ground at the start\n");
        return 1;
    }
    wheel.centre[2] = c.height + tyre.radius - (wheel_mass + body_mass) * gravity / tyre_rate;
    double hub_speed = 0, body_speed = 0, last = -1, force = 0, most = 0, jump = 0;
    const double rest = 0.5;
    double body = wheel.centre[2] + rest - body_mass * gravity / spring;
    printf("t,x,hub,body,force\n");
    for (int i = 0; i * step * speed <= way; i++) {
        wheel.centre[0] = start + i * step * speed;
        must(hpan_contact(view, &tyre, NULL, 0, &wheel, &c), "contact");
        const int touches = c.status == HPAN_CONTACT_FOUND && c.patch_valid;
        /* a tyre pushes, and never pulls */
        const double depth = touches ? c.penetration : 0;
        const double rate = last < 0 ? 0 : (depth - last) / step;
        const double before = force;
        force = touches ? tyre_rate * depth + tyre_damping * rate : 0;
        force = force > 0 ? force : 0;
        jump = i > 0 && force - before > jump ? force - before : jump;
        most = force > most ? force : most;
        last = depth;
        const double strut = spring * (rest - (body - wheel.centre[2])) - damper * (body_speed - hub_speed);
        hub_speed += ((force - strut) / wheel_mass - gravity) * step;
        body_speed += (strut / body_mass - gravity) * step;
        wheel.centre[2] += hub_speed * step;
        body += body_speed * step;
        if (i % 20 == 0) {
            printf("%.4f,%.4f,%.6f,%.6f,%.1f\n", i * step, wheel.centre[0], wheel.centre[2], body, force);
        }
    }
    printf("# greatest force %.0f N, greatest rise in a step %.0f N\n", most, jump);
    return 0;
}
