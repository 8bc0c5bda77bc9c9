/* Asks an image everything and prints it: answers IMAGE < POINTS, which are x, y, z and a length as doubles. */
#include "tool.h"
#include <hpan_vs.h>

#define BATCH 70
#define ROOM 5

static hpan_answer answer;

/* Calls a query, which must succeed, and prints its answer. */
#define ASK(name, call) \
    do { \
        memset(&answer, 0xCC, sizeof answer); \
        must(call, name); \
        print_answer(name, &answer); \
    } while (0)

static void facts(const hpan_view *view) {
    hpan_facts f;
    must(hpan_get_facts(view, &f), "facts");
    printf("facts %" PRIu64 " %" PRIu64 " %d %d %u %u %u %u %u %u %u %u %u %016" PRIx64 " %016" PRIx64 " %016" PRIx64
           " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n",
           f.image_bytes, f.triangles, f.xy_log2, f.z_log2, f.tiles, f.materials, f.sources, f.max_layers, f.bound.nodes,
           f.bound.leaves, f.bound.tests, f.bound.lines, f.wide_tests, bits(f.error_plan), bits(f.error_height),
           bits(f.default_z), bits(f.default_mu), bits(f.default_rolling), bits(f.default_gain));
    uint8_t identity[32];
    must(hpan_get_identity(view, identity), "identity");
    printf("identity ");
    for (int i = 0; i < 32; i++) {
        printf("%02x", identity[i]);
    }
    double low[3], high[3];
    must(hpan_get_bounds(view, low, high), "bounds");
    printf("\nbounds");
    for (int i = 0; i < 3; i++) {
        printf(" %016" PRIx64 " %016" PRIx64, bits(low[i]), bits(high[i]));
    }
    printf("\n");
    for (uint32_t i = 0; i < f.materials; i++) {
        hpan_material m;
        must(hpan_get_material(view, i, &m), "material");
        char name[64];
        size_t needed;
        must(hpan_get_material_name(view, i, name, sizeof name, &needed), "name");
        EXPECT(needed == strlen(name) + 1);
        EXPECT(hpan_get_material_name(view, i, name, needed - 1, NULL) == HPAN_ERROR_ROOM);
        uint32_t index = 99;
        must(hpan_find_material(view, name, needed - 1, &index), "find");
        printf("material %s %u %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %u %u %d %u %u\n", name, index, bits(m.mu),
               bits(m.rolling), bits(m.gain), bits(m.cone_index), m.class_mask, m.label, m.priority, m.surface, m.obstacle);
    }
    for (uint32_t i = 0; i < f.sources; i++) {
        char name[64];
        must(hpan_get_source_name(view, i, name, sizeof name, NULL), "name");
        printf("source %s\n", name);
    }
}

static void values(const hpan_view *view, const hpan_answer *a) {
    double z, slope[2], normal[3], surface[3];
    float slope_f32[2], normal_f32[3], surface_f32[3];
    int64_t fixed;
    hpan_ground g;
    must(hpan_z_f64(view, &a->hit, &z), "z");
    must(hpan_z_fixed(view, &a->hit, &fixed), "z");
    must(hpan_slope_f64(view, &a->hit, slope), "slope");
    must(hpan_normal_f64(view, &a->hit, normal), "normal");
    must(hpan_surface_f64(view, a, surface), "surface");
    must(hpan_slope_f32(view, &a->hit, slope_f32), "slope");
    must(hpan_normal_f32(view, &a->hit, normal_f32), "normal");
    must(hpan_surface_f32(view, a, surface_f32), "surface");
    must(hpan_get_ground(view, a, &g), "ground");
    const double all[] = {z, slope[0], slope[1], normal[0], normal[1], normal[2], surface[0], surface[1], surface[2],
                          g.z, g.dzdx, g.dzdy, g.mu, g.rolling, g.gain};
    /* the word comes from the header's names alone */
    const char *leaf = a->hit.leaf == HPAN_LEAF_MESH ? "mesh" : a->hit.leaf == HPAN_LEAF_FIELD ? "field" : a->hit.leaf == HPAN_LEAF_NONE ? "none" : "?";
    printf("leaf %s\n", leaf);
    printf("values %" PRId64, fixed);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        printf(" %016" PRIx64, bits(all[i]));
    }
    const float few[] = {slope_f32[0],  slope_f32[1],   normal_f32[0],  normal_f32[1],
                         normal_f32[2], surface_f32[0], surface_f32[1], surface_f32[2]};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        printf(" %08" PRIx32, bits_f32(few[i]));
    }
    printf("\n");
}

static void callback(const hpan_view *view, double x, double y, double z) {
    double d[5];
    float f[5];
    memset(d, 0xCC, sizeof d);
    memset(f, 0xCC, sizeof f);
    int found = hpan_vs_terrain_func_f64(x, y, z, &d[0], &d[1], &d[2], &d[3], &d[4], (void *)view);
    printf("vs %d", found);
    for (int i = 0; i < 5; i++) {
        printf(" %016" PRIx64, bits(d[i]));
    }
    found = hpan_vs_terrain_func_f32((float)x, (float)y, (float)z, &f[0], &f[1], &f[2], &f[3], &f[4], (void *)view);
    printf(" %d", found);
    for (int i = 0; i < 5; i++) {
        printf(" %08" PRIx32, bits_f32(f[i]));
    }
    printf("\n");
}

static void see(hpan_trace *t, void *user) {
    ++*(int *)user;
    printf("trace %u %u %u %u %" PRIu64 " %u %u", t->kind, t->log2, t->words, t->lines, t->record, t->part, t->covered);
    print_hit(&t->hit);
    printf("\n");
}

static void print_ray(const char *name, const hpan_ray_answer *a) {
    printf("%s %u %u %u %u %u %u %u %016" PRIx64, name, a->status, a->kind, a->leaf, a->back, a->at_start, a->material, a->source,
           bits(a->t));
    for (int i = 0; i < 3; i++) {
        printf(" %016" PRIx64 " %016" PRIx64 " %u", bits(a->at[i]), bits(a->normal[i]), a->place[i]);
    }
    printf("\n");
}

/* Rays from the place down, ahead, and to the origin; every second one sees some surfaces alone. */
static void rays(const hpan_view *view, double x, double y, double z, double length) {
    const hpan_ray all[3] = {{{x, y, z}, {0, 0, -1}, length}, {{x, y, z}, {1, 0.25, -0.125}, length}, {{x, y, z}, {-x, -y, -z}, 50}};
    const hpan_ray_options some = {1, 0, HPAN_RAY_FRONT_ONLY | HPAN_RAY_AFTER, 9, 0.125};
    hpan_ray_answer found[3];
    for (int i = 0; i < 3; i++) {
        memset(found, 0xCC, sizeof found);
        must(hpan_raycast(view, &all[i], i == 1 ? &some : NULL, found), "raycast");
        print_ray("raycast", found);
    }
    memset(found, 0xCC, sizeof found);
    must(hpan_rays(view, all, 3, NULL, found), "rays");
    for (int i = 0; i < 3; i++) {
        print_ray("rays", &found[i]);
    }
    hpan_clearance_found c;
    memset(&c, 0xCC, sizeof c);
    must(hpan_clearance(view, x, y, z, &c), "clearance");
    print_answer("clearance", &c.ground);
    print_ray("above", &c.above);
    printf("free %016" PRIx64 "\n", bits(c.free != c.free ? -1.0 : c.free));
    ASK("closest_of", hpan_closest_of(view, x, y, z, 2, &answer));
}

static void layers(const hpan_view *view, double x, double y, const hpan_point *p) {
    for (size_t room = 0; room <= ROOM; room += ROOM - 1) {
        hpan_hit hits[ROOM];
        hpan_layers_found found;
        for (int at = 0; at < 2; at++) {
            memset(hits, 0xCC, sizeof hits);
            if (at == 0) {
                must(hpan_layers(view, x, y, room == 0 ? NULL : hits, room, &found), "layers");
            } else {
                must(hpan_layers_at(view, p, hits, room, &found), "layers_at");
            }
            printf("layers %u %zu %zu", found.status, found.written, found.total);
            for (size_t i = 0; i < found.written; i++) {
                print_hit(&hits[i]);
            }
            printf("\n");
        }
    }
}

static int64_t fixed(double v) {
    return isfinite(v) && fabs(v) < 1e9 ? (int64_t)(v * 16777216.0) : INT64_MAX;
}

int main(int count, char **arguments) {
    EXPECT(count == 2);
    size_t length;
    void *bytes = load(arguments[1], &length);
    hpan_view *view = opened(bytes, length);
    facts(view);
    hpan_cursor *cursors[4];
    for (int i = 0; i < 4; i++) {
        must(hpan_cursor_start(memory(hpan_cursor_align(), hpan_cursor_size()), hpan_cursor_size(), &cursors[i]), "cursor");
    }
    static double points[BATCH * 3];
    static float points_f32[BATCH * 3];
    static hpan_point points_at[BATCH];
    static hpan_answer answers[BATCH];
    size_t filled = 0;
    double q[4];
    while (fread(q, sizeof q, 1, stdin) == 1) {
        const double x = q[0], y = q[1], z = q[2];
        const float xf = (float)x, yf = (float)y, zf = (float)z;
        const int64_t xi = fixed(x), yi = fixed(y), zi = fixed(z);
        hpan_point p, pf, pi;
        hpan_error e = hpan_point_f64(view, x, y, z, &p);
        printf("point %d %" PRId64 " %" PRId64 " %" PRId64 "\n", e, p.x, p.y, p.z);
        e = hpan_point_f32(view, xf, yf, zf, &pf);
        printf("point %d %" PRId64 " %" PRId64 " %" PRId64 "\n", e, pf.x, pf.y, pf.z);
        e = hpan_point_fixed(view, xi, yi, zi, &pi);
        printf("point %d %" PRId64 " %" PRId64 " %" PRId64 "\n", e, pi.x, pi.y, pi.z);
        ASK("closest", hpan_closest(view, x, y, z, &answer));
        values(view, &answer);
        ASK("closest_f32", hpan_closest_f32(view, xf, yf, zf, &answer));
        ASK("closest_fixed", hpan_closest_fixed(view, xi, yi, zi, &answer));
        ASK("closest_at", hpan_closest_at(view, &p, &answer));
        hpan_options options;
        must(hpan_get_options(view, &options), "options");
        printf("options %" PRId64 " %" PRId64 " %u\n", options.near_steps, options.far_steps, options.fallback);
        int64_t steps;
        e = hpan_steps(view, q[3], &steps);
        printf("steps %d %" PRId64 "\n", e, steps);
        options.near_steps /= 16;
        options.far_steps /= 512;
        for (options.fallback = 0; options.fallback < 4; options.fallback++) {
            ASK("closest_with", hpan_closest_with(view, x, y, z, &options, &answer));
            ASK("closest_with_at", hpan_closest_with_at(view, &p, &options, &answer));
        }
        hpan_cost cost;
        ASK("costed", hpan_closest_costed(view, x, y, z, &answer, &cost));
        printf("cost %u %u %u %u\n", cost.nodes, cost.leaves, cost.tests, cost.lines);
        ASK("costed_at", hpan_closest_costed_at(view, &p, &answer, &cost));
        printf("cost %u %u %u %u\n", cost.nodes, cost.leaves, cost.tests, cost.lines);
        int traces = 0;
        ASK("explain", hpan_explain(view, x, y, z, see, &traces, &answer));
        printf("traces %d\n", traces);
        ASK("below", hpan_below(view, x, y, z, &answer));
        ASK("below_at", hpan_below_at(view, &p, &answer));
        ASK("segment", hpan_segment(view, x, y, z, q[3], &answer));
        ASK("segment_at", hpan_segment_at(view, &p, steps, &answer));
        ASK("cursor", hpan_closest_cursor(view, cursors[0], x, y, z, &answer));
        ASK("cursor_f32", hpan_closest_cursor_f32(view, cursors[1], xf, yf, zf, &answer));
        ASK("cursor_fixed", hpan_closest_cursor_fixed(view, cursors[2], xi, yi, zi, &answer));
        ASK("cursor_at", hpan_closest_cursor_at(view, cursors[3], &p, &answer));
        layers(view, x, y, &p);
        rays(view, x, y, z, q[3]);
        callback(view, x, y, z);
        if (filled < BATCH) {
            memcpy(&points[3 * filled], q, 3 * sizeof *q);
            points_f32[3 * filled] = xf;
            points_f32[3 * filled + 1] = yf;
            points_f32[3 * filled + 2] = zf;
            points_at[filled++] = p;
        }
    }
    for (int kind = 0; kind < 3; kind++) {
        memset(answers, 0xCC, sizeof answers);
        must(kind == 0   ? hpan_closest_batch(view, points, filled, answers)
             : kind == 1 ? hpan_closest_batch_f32(view, points_f32, filled, answers)
                         : hpan_closest_batch_at(view, points_at, filled, answers),
             "batch");
        for (size_t i = 0; i < filled; i++) {
            print_answer("batch", &answers[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        void *room = cursors[i];
        must(hpan_cursor_close(cursors[i]), "close");
        free(room);
    }
    must(hpan_close(view), "close");
    free(view);
    free(bytes);
    return 0;
}
