/*
 * Hashes of the answers to a file of queries, through C: what the crate `probe` prints, whose layout and order these are.
 * Of places of the same file it measures the stack of two calls, where the board can.
 */
#include "hash.h"

#include <hardpan.h>
#include <string.h>

enum { BATCH = 16, LAYERS = 8, HEADER = 32, RECORD = 24, STACKS = 3 };

static struct {
    uint32_t total, timed;
    int32_t xy, z;
    const unsigned char *points;
} queries;

static uint64_t fnv;
static const hpan_view *view;
static hpan_answer answer, answers[BATCH];
static hpan_hit hits[LAYERS];
static uint64_t rooms[3][80];

static void bytes(const void *from, size_t length) {
    const unsigned char *b = from;
    for (size_t i = 0; i < length; i++) {
        fnv = (fnv ^ b[i]) * UINT64_C(0x100000001b3);
    }
}

static void hit(const hpan_hit *h) {
    bytes(&h->z, 8);
    bytes(h->normal, 24);
    bytes(&h->material, 2);
    bytes(&h->source, 2);
    bytes(&h->leaf, 1);
    bytes(&h->reach, 1);
    bytes(h->place, 12);
}

static void ask(hpan_error error, const hpan_answer *a) {
    if (error != HPAN_OK) {
        stop(5);
    }
    bytes(&a->status, 1);
    hit(&a->hit);
}

static void must(hpan_error error) {
    if (error != HPAN_OK) {
        put(hpan_error_text(error));
        put("\n");
        stop(5);
    }
}

static hpan_point point(uint32_t i) {
    hpan_point p;
    memcpy(&p, queries.points + (size_t)i * RECORD, sizeof p);
    return p;
}

/* 2^e */
static double exp2_of(int32_t e) {
    const uint64_t b = (uint64_t)(1023 + e) << 52;
    double d;
    memcpy(&d, &b, sizeof d);
    return d;
}

static double xy(int64_t v) { return (double)v * exp2_of(queries.xy - 8); }
static double z(int64_t v) { return (double)v * exp2_of(queries.z - 8); }
static int64_t fixed(int64_t v, int32_t log2) { return (int64_t)((uint64_t)v << (24 + log2 - 8)); }

/* A ray from the point or from beside it, by its bits. */
static hpan_ray shot(const hpan_point *p) {
    const uint64_t y = (uint64_t)p->y;
    const uint64_t bits = (uint64_t)p->x * UINT64_C(0x9e3779b97f4a7c15) ^ (y << 23 | y >> 41) ^ (uint64_t)p->z;
    int64_t way[3];
    for (int i = 0; i < 3; i++) {
        way[i] = (int64_t)(bits >> 20 * i & 0xffffff) - 0x800000;
    }
    if ((bits >> 8 & 7) == 0) {
        way[0] = way[1] = 0;
    }
    hpan_ray ray = {{xy(p->x), xy(p->y), z(p->z)}, {(double)way[0], (double)way[1], 4.0 * (double)way[2]}, 0.0};
    ray.length = (double)((bits >> 30 & 0xff) + 1) * 0.125;
    if (bits & 1) {
        ray.origin[0] = xy(p->x + way[0]), ray.origin[1] = xy(p->y + way[1]), ray.origin[2] = z(p->z + 64 * way[2]);
        for (int i = 0; i < 3; i++) {
            ray.direction[i] = 0.0 - ray.direction[i];
        }
    }
    return ray;
}

static void met(const hpan_ray *ray, const hpan_ray_options *options, hpan_ray_answer *a) {
    must(hpan_raycast(view, ray, options, a));
    bytes(&a->status, 1);
    bytes(&a->kind, 1);
    bytes(&a->leaf, 1);
    bytes(&a->back, 1);
    bytes(&a->at_start, 1);
    bytes(&a->t, 8);
    bytes(a->at, 24);
    bytes(a->normal, 24);
    bytes(&a->material, 2);
    bytes(&a->source, 2);
    bytes(a->place, 12);
}

static void rays(const hpan_point *p) {
    const hpan_ray ray = shot(p);
    static hpan_ray_answer a;
    hpan_ray_options options;
    memset(&options, 0, sizeof options);
    met(&ray, &options, &a);
    options.flags = HPAN_RAY_AFTER;
    options.after = a.t;
    options.limit = 64;
    met(&ray, &options, &a);
}

static int64_t length_of(const hpan_point *p) {
    const uint64_t y = (uint64_t)p->y;
    return (int64_t)(((uint64_t)p->x ^ (y << 7 | y >> 57) ^ (uint64_t)p->z) & 0x3fffffff);
}

static void entries(const hpan_point *p, hpan_cursor *cursor) {
    const double mx = xy(p->x), my = xy(p->y), mz = z(p->z);
    ask(hpan_closest(view, mx, my, mz, &answer), &answer);
    ask(hpan_closest_f32(view, (float)mx, (float)my, (float)mz, &answer), &answer);
    const int64_t fx = fixed(p->x, queries.xy), fy = fixed(p->y, queries.xy), fz = fixed(p->z, queries.z);
    ask(hpan_closest_fixed(view, fx, fy, fz, &answer), &answer);
    ask(hpan_closest_cursor_at(view, cursor, p, &answer), &answer);
}

static void layers(const hpan_point *p) {
    for (int i = 0; i < 2; i++) {
        hpan_layers_found found;
        must(hpan_layers_at(view, p, hits, i == 0 ? LAYERS : 1, &found));
        bytes(&found.status, 1);
        const int64_t total = (int64_t)found.total;
        bytes(&total, 8);
        for (size_t k = 0; k < found.written; k++) {
            hit(&hits[k]);
        }
    }
}

static void values(const hpan_point *p) {
    must(hpan_closest_at(view, p, &answer));
    hpan_material m;
    memset(&m, 0, sizeof m);
    if (answer.hit.material != 65535) {
        must(hpan_get_material(view, answer.hit.material, &m));
    }
    double d[9];
    float f[8];
    int64_t i;
    must(hpan_z_f64(view, &answer.hit, &d[0]));
    d[1] = m.mu, d[2] = m.rolling, d[3] = m.gain;
    bytes(d, 32);
    must(hpan_z_fixed(view, &answer.hit, &i));
    bytes(&i, 8);
    must(hpan_slope_f64(view, &answer.hit, &d[0]));
    must(hpan_normal_f64(view, &answer.hit, &d[2]));
    bytes(d, 40);
    must(hpan_slope_f32(view, &answer.hit, &f[0]));
    must(hpan_normal_f32(view, &answer.hit, &f[2]));
    must(hpan_surface_f32(view, &answer, &f[5]));
    bytes(f, 32);
    static char name[4096];
    size_t needed;
    if (answer.hit.material != 65535) {
        must(hpan_get_material_name(view, answer.hit.material, name, sizeof name, &needed));
        bytes(name, needed - 1);
    }
    if (answer.hit.source != 65535) {
        must(hpan_get_source_name(view, answer.hit.source, name, sizeof name, &needed));
        bytes(name, needed - 1);
    }
}

static uint64_t hash(int kind) {
    fnv = UINT64_C(0xcbf29ce484222325);
    hpan_cursor *cursor;
    must(hpan_cursor_start(rooms[1], sizeof rooms[1], &cursor));
    hpan_options options;
    hpan_cost cost;
    static hpan_point batch[BATCH];
    for (uint32_t i = 0; i < queries.total; i++) {
        const hpan_point p = point(i);
        const int64_t length = length_of(&p);
        switch (kind) {
        case 0:
            ask(hpan_closest_costed_at(view, &p, &answer, &cost), &answer);
            bytes(&cost, sizeof cost);
            break;
        case 1:
            entries(&p, cursor);
            break;
        case 2:
            must(hpan_get_options(view, &options));
            options.near_steps = length >> 8;
            options.far_steps = length;
            ask(hpan_closest_with_at(view, &p, &options, &answer), &answer);
            break;
        case 3:
            ask(hpan_below_at(view, &p, &answer), &answer);
            break;
        case 4:
            ask(hpan_segment_at(view, &p, length, &answer), &answer);
            break;
        case 5:
            layers(&p);
            break;
        case 6:
            batch[i % BATCH] = p;
            if (i % BATCH == BATCH - 1) {
                must(hpan_closest_batch_at(view, batch, BATCH, answers));
                for (int k = 0; k < BATCH; k++) {
                    ask(HPAN_OK, &answers[k]);
                }
            }
            break;
        case 7:
            rays(&p);
            break;
        default:
            values(&p);
        }
    }
    must(hpan_cursor_close(cursor));
    return fnv;
}

static double mx, my, mz;
static int64_t fx, fy, fz;
static void call_nothing(void) {}
static void call_closest(void) { hpan_closest(view, mx, my, mz, &answer); }
static void call_fixed(void) { hpan_closest_fixed(view, fx, fy, fz, &answer); }

static void number(const char *name, uint64_t v, int base) {
    char digits[24];
    int at = sizeof digits - 1;
    digits[at] = 0;
    for (int left = base == 16 ? 16 : 1; left > 0 || v > 0; left--, v /= (unsigned)base) {
        digits[--at] = "0123456789abcdef"[v % (unsigned)base];
    }
    put(name);
    put(digits + at);
    put("\n");
}

static void measure(const char *name, void (*call)(void)) {
    const size_t own = stack(call_nothing);
    size_t most = 0;
    for (uint32_t i = 0; i < queries.timed; i += STACKS) {
        const hpan_point p = point(i);
        mx = xy(p.x), my = xy(p.y), mz = z(p.z);
        fx = fixed(p.x, queries.xy), fy = fixed(p.y, queries.xy), fz = fixed(p.z, queries.z);
        const size_t used = stack(call);
        most = used > own && used - own > most ? used - own : most;
    }
    number(name, most, 10);
}

void hash_all(const void *image, const void *blob, int stacks) {
    uint32_t words[8];
    memcpy(words, blob, sizeof words);
    if (memcmp(blob, "HPQ1", 4) != 0) {
        stop(2);
    }
    queries.total = words[2];
    queries.timed = words[4];
    queries.xy = (int32_t)words[5];
    queries.z = (int32_t)words[6];
    queries.points = (const unsigned char *)blob + HEADER;
    hpan_view *opened;
    must(hpan_open(rooms[0], sizeof rooms[0], image, words[1], &opened));
    view = opened;
    static const char *const names[] = {"hash closest ", "hash entries ", "hash windows ", "hash below ",
                                        "hash segment ", "hash layers ",  "hash batch ",   "hash rays ",
                                        "hash values "};
    for (int kind = 0; kind < 9; kind++) {
        number(names[kind], hash(kind), 16);
    }
    if (stacks) {
        measure("c_stack closest_f64 ", call_closest);
        measure("c_stack closest_fixed ", call_fixed);
    }
    must(hpan_close(opened));
}
