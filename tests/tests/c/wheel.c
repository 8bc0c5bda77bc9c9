/* Wheels, chassis points and the sensor: wheel IMAGE. Prints doubles as bits; the layout and what is refused are checked here. */
#include "tool.h"
#include <stddef.h>

static const hpan_body LEVEL = {{0.1, 0.2, 0.28}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}, {0, 0, 0}, 0, 0, HPAN_AXES_ISO8855};
static const hpan_tyre TYRE = {0.3, 0.25, 0, 0, 0, 0};

static void print(const char *name, const double *values, size_t count) {
    printf("%s", name);
    for (size_t i = 0; i < count; i++) {
        printf(" %016" PRIx64, bits(values[i]));
    }
    printf("\n");
}

static void print_contact(const char *name, const hpan_contact_found *c) {
    print(name, &c->height, offsetof(hpan_contact_found, cost) / sizeof(double));
    printf("rest %u %u %u %u %u %u %u %u\n", c->cost.tests, c->place[2], c->surface, c->material, c->status, c->patch_valid,
           c->plane_fitted, c->is_hd);
}

static uint8_t status(const hpan_view *view, hpan_tyre tyre, hpan_body body) {
    hpan_contact_found c;
    must(hpan_contact(view, &tyre, NULL, 0, &body, &c), "contact");
    return c.status;
}

int main(int count, char **arguments) {
    EXPECT(count == 2);
    size_t length;
    void *bytes = load(arguments[1], &length);
    hpan_view *view = opened(bytes, length);

    /* records of fixed layout */
    EXPECT(sizeof(hpan_body) == 24 + 72 + 24 + 24 + 8 + 8);
    EXPECT(sizeof(hpan_tyre) == 40 && sizeof(hpan_contact_point) == 32);
    EXPECT(sizeof(hpan_contact_found) == 19 * 8 + 40 && offsetof(hpan_contact_found, cost) == 19 * 8);
    EXPECT(offsetof(hpan_contact_found, surface) == 19 * 8 + 28 && offsetof(hpan_contact_found, status) == 19 * 8 + 34);
    EXPECT(sizeof(hpan_chassis_found) == 11 * 8 + 32 && offsetof(hpan_chassis_found, local_height) == 32);
    EXPECT(sizeof(hpan_chassis_group) == 104 && sizeof(hpan_chassis_point) == 32);
    EXPECT(offsetof(hpan_ts_query, chassis) == 4 * sizeof(hpan_ts_wheel) && sizeof(hpan_ts_wheel) == 160 + 40 + 320 + 8);
    EXPECT(offsetof(hpan_ts_result, points) == 4 * sizeof(hpan_contact_found));
    EXPECT(offsetof(hpan_sensor_found, distance) == 60 * 8 && offsetof(hpan_sensor_found, hit) == 60 * 8 + 80 + 16 + 10);
    EXPECT(offsetof(hpan_sensor_found, start) == 15 * 8 && sizeof(hpan_sensor_found) == 70 * 8 + 40);

    const hpan_contact_point two[] = {{{-0.1, 0, 0}, 1}, {{0.1, 0, 0}, 3}};
    hpan_contact_found c;
    must(hpan_contact(view, &TYRE, NULL, 0, &LEVEL, &c), "contact");
    print_contact("one", &c);
    must(hpan_contact(view, &TYRE, two, 2, &LEVEL, &c), "contact");
    print_contact("two", &c);
    hpan_tyre strips = TYRE;
    strips.strips = HPAN_STRIPS;
    must(hpan_contact(view, &strips, NULL, 0, &LEVEL, &c), "contact");
    print_contact("strips", &c);
    EXPECT(offsetof(hpan_tyre, strips) == 36);
    strips.strips = 1;
    EXPECT(status(view, strips, LEVEL) == HPAN_CONTACT_LIMIT_REACHED);
    strips.strips = 65536;
    EXPECT(hpan_contact(view, &strips, NULL, 0, &LEVEL, &c) == HPAN_ERROR_OPTION);
    strips.strips = HPAN_STRIPS, strips.columns = 16;
    EXPECT(hpan_contact(view, &strips, NULL, 0, &LEVEL, &c) == HPAN_ERROR_OPTION);
    hpan_tyre columns = TYRE;
    columns.columns = 64;
    must(hpan_contact(view, &columns, NULL, 0, &LEVEL, &c), "contact");
    print_contact("columns", &c);

    /* what it may cost at most, and a ray */
    hpan_cost most, ground;
    must(hpan_contact_bound(view, &columns, 0, &most), "bound of columns");
    EXPECT(c.cost.nodes <= most.nodes && c.cost.tests <= most.tests && c.cost.lines <= most.lines);
    must(hpan_contact_bound(view, &TYRE, 2, &most), "bound of two points");
    must(hpan_contact_bound(view, &TYRE, 1, &ground), "bound of a point");
    EXPECT(ground.tests > 0 && most.tests == 2 * ground.tests && most.nodes == 2 * ground.nodes);
    must(hpan_ray_bound(view, 5, 1 << HPAN_GROUND, &ground), "bound of a ray");
    must(hpan_ray_bound(view, 5, 0, &most), "bound of a ray");
    EXPECT(ground.tests > 0 && ground.tests <= most.tests && ground.lines <= most.lines);
    must(hpan_ray_bound(view, 2001, 0, &most), "bound of no ray");
    EXPECT(most.nodes == 0 && most.tests == 0);
    EXPECT(hpan_ray_bound(view, 5, 8, &most) == HPAN_ERROR_OPTION);
    EXPECT(hpan_contact_bound(view, &TYRE, 65, &most) == HPAN_ERROR_COUNT);

    /* the same wheel in rFactor's axes: (x, y, z) of ISO are (-z, x, y) */
    hpan_body rf = LEVEL;
    rf.axes = HPAN_AXES_RFACTOR;
    rf.centre[0] = 0.2, rf.centre[1] = 0.28, rf.centre[2] = -0.1;
    hpan_contact_found other;
    must(hpan_contact(view, &columns, NULL, 0, &rf, &other), "contact");
    EXPECT(other.height == c.height && other.penetration == c.penetration && other.status == HPAN_CONTACT_FOUND);
    EXPECT(other.normal[0] == c.normal[1] && other.normal[1] == c.normal[2] && other.normal[2] == -c.normal[0]);
    EXPECT(other.patch_centre[0] == c.patch_centre[1] && other.patch_centre[2] == -c.patch_centre[0]);

    /* what cannot be asked has a status of its own */
    hpan_tyre tyre = TYRE;
    tyre.radius = 0;
    EXPECT(status(view, tyre, LEVEL) == HPAN_CONTACT_BAD_SIZE);
    tyre.radius = NAN;
    EXPECT(status(view, tyre, LEVEL) == HPAN_CONTACT_BAD_SIZE);
    tyre = TYRE;
    tyre.width = -1;
    EXPECT(status(view, tyre, LEVEL) == HPAN_CONTACT_BAD_SIZE);
    hpan_body body = LEVEL;
    body.ori[0][1] = 0.01;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_SKEWED);
    body = LEVEL;
    body.ori[1][1] = -1;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_MIRRORED);
    body = LEVEL;
    body.ori[1][1] = 0, body.ori[1][2] = -1, body.ori[2][1] = 1, body.ori[2][2] = 0;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_LYING);
    body = LEVEL;
    body.dt = 60;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_FOUND);
    body.flags = HPAN_VELOCITY_VALID | HPAN_EXTRAPOLATE;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_BAD_MOTION);
    body.dt = 0.001, body.velocity[0] = NAN;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_BAD_MOTION);
    body.flags = HPAN_EXTRAPOLATE;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_FOUND);
    body.flags = HPAN_DOWN_VALID;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_BAD_DOWN);
    body = LEVEL;
    body.centre[0] = NAN;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_NOT_FINITE);
    body.centre[0] = 1e6;
    EXPECT(status(view, TYRE, body) == HPAN_CONTACT_NOT_IN_IMAGE);
    body = LEVEL;
    body.flags = 8;
    EXPECT(hpan_contact(view, &TYRE, NULL, 0, &body, &c) == HPAN_ERROR_OPTION);
    body.flags = 0, body.axes = 6;
    EXPECT(hpan_contact(view, &TYRE, NULL, 0, &body, &c) == HPAN_ERROR_OPTION);
    tyre = TYRE;
    tyre.columns = 17;
    EXPECT(hpan_contact(view, &tyre, NULL, 0, &LEVEL, &c) == HPAN_ERROR_OPTION);
    EXPECT(hpan_contact(view, &TYRE, two, 65, &LEVEL, &c) == HPAN_ERROR_COUNT);
    EXPECT(hpan_contact(view, NULL, NULL, 0, &LEVEL, &c) == HPAN_ERROR_NULL);
    EXPECT(hpan_contact(NULL, &TYRE, NULL, 0, &LEVEL, &c) == HPAN_ERROR_NULL);

    /* a chassis whose group is turned by 90 degrees and lifted by half a metre */
    const hpan_chassis_group group = {{0, 0, 0.5}, {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}, 7, 0};
    const hpan_chassis_point points[] = {{{1, 0, 0}, 7, 0}, {{1, 0, 0}, 0, 0}, {{1, 0, 0}, 8, 0}};
    hpan_chassis_found found[3];
    must(hpan_chassis(view, &LEVEL, &group, 1, points, 3, found), "chassis");
    for (int i = 0; i < 2; i++) {
        print("chassis", found[i].point, offsetof(hpan_chassis_found, cost) / sizeof(double));
        EXPECT(found[i].status == HPAN_CONTACT_FOUND && found[i].local_valid == 1 && found[i].material != 65535);
    }
    EXPECT(found[2].status == HPAN_CONTACT_NO_GROUP);

    /* RF-43, RF-51: a whole car, of which values without a valid result are held */
    static hpan_ts_query query;
    static hpan_ts_result result;
    for (int i = 0; i < 4; i++) {
        query.wheels[i].body = LEVEL;
        query.wheels[i].body.centre[0] = i < 2 ? 1.35 : -1.35;
        query.wheels[i].body.centre[1] = i % 2 ? -0.8 : 0.8;
    }
    query.chassis = LEVEL;
    query.point_count = 25;
    must(hpan_ts_ask(view, &query, &result), "car");
    EXPECT(result.errors == 0 && result.wheels[0].patch_valid == 1);
    for (int i = 0; i < 4; i++) {
        print_contact("wheel", &result.wheels[i]);
    }
    const hpan_ts_result before = result;
    query.wheels[0].body.centre[0] = 1e6;
    query.wheels[1].point_count = 11;
    query.wheels[2].body.centre[2] = 1.0;
    query.points[3].group = 99;
    must(hpan_ts_ask(view, &query, &result), "car");
    EXPECT(result.errors == 3 && result.wheel_status[0] == HPAN_CONTACT_NOT_IN_IMAGE);
    EXPECT(result.wheel_status[1] == HPAN_CONTACT_TOO_MANY_POINTS && result.wheel_status[2] == HPAN_CONTACT_FOUND);
    EXPECT(result.point_status[3] == HPAN_CONTACT_NO_GROUP && result.point_status[4] == HPAN_CONTACT_FOUND);
    EXPECT(memcmp(&result.wheels[0], &before.wheels[0], 2 * sizeof before.wheels[0]) == 0);
    EXPECT(memcmp(&result.points[3], &before.points[3], sizeof before.points[3]) == 0);
    EXPECT(result.wheels[2].patch_valid == 0);
    EXPECT(memcmp(result.wheels[2].patch_centre, before.wheels[2].patch_centre, sizeof before.wheels[2].patch_centre) == 0);
    query.point_count = 26;
    EXPECT(hpan_ts_ask(view, &query, &result) == HPAN_ERROR_COUNT);

    /* MW-01, MW-17: one step of the sensor */
    hpan_sensor sensor;
    must(hpan_sensor_defaults(&sensor), "sensor");
    hpan_sensor_input input = {{0, 0, 0.4}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0, {0}, {{0}}, 0, 0};
    hpan_sensor_found s;
    must(hpan_sensor_step(view, &sensor, &input, &s), "step");
    EXPECT(s.sensor == HPAN_SENSOR_FINE);
    print("sensor", &s.hit_location[0][0], offsetof(hpan_sensor_found, cost) / sizeof(double));
    printf("hits %u %u %u %u %u\n", s.hit[0], s.hit[1], s.hit[2], s.hit[3], s.hit[4]);
    sensor.traces[0].enabled = 0;
    must(hpan_sensor_step(view, &sensor, &input, &s), "step");
    EXPECT(s.status[0] == HPAN_TRACE_DISABLED && s.hit[0] == 0 && s.distance[0] == 0);
    input.flags = HPAN_TYRE_DISTANCE;
    must(hpan_sensor_step(view, &sensor, &input, &s), "step");
    EXPECT(s.sensor == HPAN_SENSOR_NOT_EXPECTED);
    sensor.tyre_setting = HPAN_EXTERNAL;
    must(hpan_sensor_step(view, &sensor, &input, &s), "step");
    EXPECT(s.sensor == HPAN_SENSOR_FINE && s.tyre_adjusted[0] == s.distance[1]);
    input.flags = 0;
    must(hpan_sensor_step(view, &sensor, &input, &s), "step");
    EXPECT(s.sensor == HPAN_SENSOR_MISSING);
    sensor.tyre_setting = 2;
    EXPECT(hpan_sensor_step(view, &sensor, &input, &s) == HPAN_ERROR_OPTION);

    must(hpan_close(view), "close");
    free(view);
    free(bytes);
    return 0;
}
