/* The functions of VsTerrain.h: one part of the program for each of them, named by the first argument. It prints what fails. */
#define _POSIX_C_SOURCE 200809L
#include "VsTerrain.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

typedef vs_terrain_point point;

static const point A = {-500.0, -500.0, 0.0}, B = {500.0, -500.0, 0.0}, C = {-500.0, 500.0, 0.0}, D = {500.0, 500.0, 0.0};

/* whether the last error of a handle is of this kind and has these words */
static bool failed(vs_terrain_handle h, vs_terrain_error code, const char *words) {
    const char *text = vs_terrain_get_last_error(h);
    if (vs_terrain_get_last_error_code(h) == code && strstr(text, words) != NULL) {
        return true;
    }
    printf("error %d: %s\n", (int)vs_terrain_get_last_error_code(h), text);
    return false;
}

/* the square of the listing */
static vs_terrain_handle square(double version) {
    vs_terrain_handle h = vs_terrain_create(version);
    CHECK(h != NULL);
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, 0.85f, 1.0f));
    CHECK(vs_terrain_add_triangle(h, &C, &B, &D, 0.85f, 1.0f));
    return h;
}

static uint64_t mixed(uint64_t v) {
    v = (v ^ (v >> 31)) * 0x9E3779B97F4A7C15u;
    v = (v ^ (v >> 29)) * 0xBF58476D1CE4E5B9u;
    return v ^ (v >> 32);
}

/* a corner of a hilly grid, moved by up to 0.2 mm along each axis, for each triangle otherwise */
static point corner(int i, int j, uint64_t of) {
    const double most = 0.0002;
    point p = {i * 2.0, j * 2.0, 0.5 * sin(i * 0.7) + 0.25 * cos(j * 0.9)};
    p.x += most * ((double)(mixed(of * 3) % 2001) / 1000.0 - 1.0);
    p.y += most * ((double)(mixed(of * 3 + 1) % 2001) / 1000.0 - 1.0);
    p.z += most * ((double)(mixed(of * 3 + 2) % 2001) / 1000.0 - 1.0);
    return p;
}

enum { SIDE = 24, CELLS = SIDE * SIDE };

/* adds a triangle of the grid; every fifth cell has another friction, and some triangles come wound the other way */
static void add_half(vs_terrain_handle h, int cell, int half) {
    int i = cell % SIDE, j = cell / SIDE;
    uint64_t of = (uint64_t)(cell * 2 + half) * 3 + 1;
    point a = corner(i + half, j + half, of), b = corner(i + 1, j, of + 1), c = corner(i, j + 1, of + 2);
    float mu = cell % 5 == 0 ? 0.3f : 0.9f;
    if (of % 2) {
        CHECK(vs_terrain_add_triangle(h, &a, &b, &c, mu, 1.0f));
    } else {
        CHECK(vs_terrain_add_triangle(h, &a, &c, &b, mu, 1.0f));
    }
}

/* adds cells of the grid, from one to before another, in an order by a seed */
static void add_grid(vs_terrain_handle h, int from, int to, uint64_t seed) {
    static int order[CELLS * 2];
    int n = 0;
    for (int k = from * 2; k < to * 2; k++) {
        order[n++] = k;
    }
    for (int k = n - 1; k > 0 && seed > 0; k--) {
        int with = (int)(mixed(seed * 100000 + (uint64_t)k) % (uint64_t)(k + 1)), kept = order[k];
        order[k] = order[with];
        order[with] = kept;
    }
    for (int k = 0; k < n; k++) {
        add_half(h, order[k] / 2, order[k] % 2);
    }
}

/* what a callback was told */
struct told {
    int count, values[4096];
    vs_terrain_handle own;
    bool refused;
};

static void record(int progress, void *userData) {
    struct told *told = userData;
    if (told->count < 4096) {
        told->values[told->count] = progress;
    }
    told->count++;
    if (told->own != NULL) {
        told->refused = vs_terrain_get_num_triangles(told->own) == 0 && !vs_terrain_clear(told->own)
            && !vs_terrain_destroy(told->own) && !vs_terrain_build(told->own)
            && failed(told->own, VS_TERRAIN_ERROR_BUSY, "another call uses this handle");
    }
}

/* whether it got 0, some numbers between, each larger than the one before, and 100 */
static bool rises_to_100(const struct told *told) {
    for (int k = 1; k < told->count; k++) {
        if (told->values[k] <= told->values[k - 1]) {
            return false;
        }
    }
    return told->count >= 3 && told->values[0] == 0 && told->values[told->count - 1] == 100;
}

static void versions(void) {
    const double accepted[] = {0, 1, 2, 1.0, 2.0}, reached[] = {2, 1, 2, 1, 2};
    for (int k = 0; k < 5; k++) {
        vs_terrain_handle h = vs_terrain_create(accepted[k]);
        CHECK(h != NULL);
        CHECK(vs_terrain_get_version(h) == reached[k]);
        CHECK(vs_terrain_get_last_error_code(h) == VS_TERRAIN_OK && strcmp(vs_terrain_get_last_error(h), "") == 0);
        CHECK(vs_terrain_destroy(h));
    }
    const double unknown[] = {99, -1, 1.5, 3, INFINITY, -INFINITY};
    for (int k = 0; k < 6; k++) {
        CHECK(vs_terrain_create(unknown[k]) == NULL);
        CHECK(failed(NULL, VS_TERRAIN_ERROR_VERSION, "there is no version"));
    }
    CHECK(vs_terrain_create(99) == NULL && failed(NULL, VS_TERRAIN_ERROR_VERSION, "there is no version 99; give 0"));
    CHECK(vs_terrain_create(NAN) == NULL && failed(NULL, VS_TERRAIN_ERROR_VERSION, "NaN"));
}

/* every function on a handle that is none; `words` say why */
static void refuse(vs_terrain_handle h, const char *words) {
    double low = 7, high = 8;
    vs_terrain_triangle triangle;
    vs_terrain_build_parameters parameters = VS_TERRAIN_BUILD_DEFAULT;
    vs_terrain_build_results results;
    vs_terrain_handle other = square(0);
#define REFUSED(call) \
    do { \
        CHECK(vs_terrain_create(99) == NULL); /* so that the error is this call's */ \
        CHECK(!(call)); \
        CHECK(failed(h, VS_TERRAIN_ERROR_HANDLE, words)); \
    } while (0)
    REFUSED(vs_terrain_add_triangle(h, &A, &B, &C, 0.5f, 1.0f));
    REFUSED(vs_terrain_merge(h, other));
    REFUSED(vs_terrain_optimize(h, 0.001, NULL, NULL));
    REFUSED(vs_terrain_build(h));
    REFUSED(vs_terrain_build2_parameters(h, &parameters));
    REFUSED(vs_terrain_build2_get_parameters(h, &parameters));
    REFUSED(vs_terrain_build2(h, NULL, NULL, &results));
    REFUSED(vs_terrain_save(h, "refused.vsterrain"));
    REFUSED(vs_terrain_clear(h));
    REFUSED(vs_terrain_get_version(h));
    REFUSED(vs_terrain_get_num_triangles(h));
    REFUSED(vs_terrain_get_num_points(h));
    REFUSED(vs_terrain_get_triangle(h, 0, &triangle));
    REFUSED(vs_terrain_is_built(h));
    REFUSED(vs_terrain_get_extents_x(h, &low, &high));
    REFUSED(vs_terrain_get_extents_y(h, &low, &high));
    REFUSED(vs_terrain_get_extents_z(h, &low, &high));
    REFUSED(vs_terrain_output_as_obj(h, "refused.obj", 0, 0.0, false));
    if (h != NULL) {
        REFUSED(vs_terrain_destroy(h));
    }
    CHECK(low == 7 && high == 8);
    CHECK(!vs_terrain_merge(other, h));
    CHECK(failed(other, VS_TERRAIN_ERROR_HANDLE, words) && failed(other, VS_TERRAIN_ERROR_HANDLE, "source: "));
    CHECK(vs_terrain_get_num_triangles(other) == 2);
    CHECK(vs_terrain_destroy(other));
}

static void handles(void) {
    CHECK(vs_terrain_destroy(NULL));
    refuse(NULL, "the handle is null; vs_terrain_create makes one");
    vs_terrain_handle h = square(0), copy = h;
    CHECK(vs_terrain_destroy(h));
    refuse(copy, "the handle was destroyed");
    vs_terrain_handle next = vs_terrain_create(0);
    CHECK(next != NULL && next != copy);
    CHECK(vs_terrain_destroy(next));
    double memory[8] = {0};
    refuse((vs_terrain_handle)(void *)memory, "this is no handle of vs_terrain_create");
    refuse((vs_terrain_handle)(uintptr_t)1, "this is no handle of vs_terrain_create");
    refuse((vs_terrain_handle)~(uintptr_t)0, "this is no handle of vs_terrain_create");
    refuse((vs_terrain_handle)((uintptr_t)copy ^ 1), "this is no handle of vs_terrain_create");
}

static void add(void) {
    vs_terrain_handle h = square(0);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 27; k++) {
        point p[3] = {A, B, C};
        (&p[k / 9].x)[k / 3 % 3] = bad[k % 3];
        CHECK(!vs_terrain_add_triangle(h, &p[0], &p[1], &p[2], 0.5f, 1.0f));
        char words[16];
        sprintf(words, "point %c: %c is ", "abc"[k / 9], "xyz"[k / 3 % 3]);
        CHECK(failed(h, VS_TERRAIN_ERROR_ARGUMENT, words));
    }
    const float worse[] = {NAN, INFINITY, -INFINITY, -0.1f};
    for (int k = 0; k < 4; k++) {
        CHECK(!vs_terrain_add_triangle(h, &A, &B, &C, worse[k], 1.0f));
        CHECK(failed(h, VS_TERRAIN_ERROR_ARGUMENT, "mu is "));
        CHECK(!vs_terrain_add_triangle(h, &A, &B, &C, 1.0f, worse[k]));
        CHECK(failed(h, VS_TERRAIN_ERROR_ARGUMENT, "rr is "));
    }
    CHECK(!vs_terrain_add_triangle(h, NULL, &B, &C, 0.5f, 1.0f) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "a is null"));
    CHECK(!vs_terrain_add_triangle(h, &A, NULL, &C, 0.5f, 1.0f) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "b is null"));
    CHECK(!vs_terrain_add_triangle(h, &A, &B, NULL, 0.5f, 1.0f) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "c is null"));
    CHECK(vs_terrain_get_num_triangles(h) == 2 && vs_terrain_get_num_points(h) == 6);
    CHECK(vs_terrain_destroy(h));
    /* wound the one way, the other way, and one each: all is ground, in the same file */
    const char *files[] = {"counter.vsterrain", "clock.vsterrain", "both.vsterrain"};
    for (int k = 0; k < 3; k++) {
        h = vs_terrain_create(0);
        CHECK(k == 1 ? vs_terrain_add_triangle(h, &A, &C, &B, 0.85f, 1.0f) : vs_terrain_add_triangle(h, &A, &B, &C, 0.85f, 1.0f));
        CHECK(k >= 1 ? vs_terrain_add_triangle(h, &C, &D, &B, 0.85f, 1.0f) : vs_terrain_add_triangle(h, &C, &B, &D, 0.85f, 1.0f));
        CHECK(vs_terrain_save(h, files[k]));
        CHECK(vs_terrain_destroy(h));
    }
}

static void merge(void) {
    const char *files[] = {"whole.vsterrain", "ab.vsterrain", "ba.vsterrain"};
    for (int k = 0; k < 3; k++) {
        vs_terrain_handle all = vs_terrain_create(0), a = vs_terrain_create(1), b = vs_terrain_create(0);
        if (k == 0) {
            add_grid(all, 0, CELLS, 0);
        }
        add_grid(a, 0, CELLS / 2, 0);
        add_grid(b, CELLS / 2, CELLS, 5);
        if (k > 0) {
            CHECK(vs_terrain_merge(all, k == 1 ? a : b) && vs_terrain_merge(all, k == 1 ? b : a));
        }
        CHECK(vs_terrain_get_num_triangles(a) == CELLS && vs_terrain_get_num_triangles(all) == CELLS * 2);
        CHECK(vs_terrain_get_num_points(all) == CELLS * 6);
        CHECK(vs_terrain_optimize(all, 0.001, NULL, NULL) && vs_terrain_build(all) && vs_terrain_save(all, files[k]));
        CHECK(vs_terrain_merge(all, a) && !vs_terrain_is_built(all));
        CHECK(vs_terrain_destroy(a) && vs_terrain_destroy(b) && vs_terrain_destroy(all));
    }
    vs_terrain_handle h = square(0), none = vs_terrain_create(0);
    CHECK(!vs_terrain_merge(h, h) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "not merged into itself"));
    CHECK(vs_terrain_get_num_triangles(h) == 2);
    CHECK(vs_terrain_merge(h, none) && vs_terrain_get_num_triangles(h) == 2);
    CHECK(vs_terrain_merge(none, h) && vs_terrain_get_num_triangles(none) == 2);
    vs_terrain_triangle triangle;
    CHECK(vs_terrain_get_triangle(none, 1, &triangle) && triangle.points[2].x == 500 && triangle.mu == 0.85f);
    CHECK(vs_terrain_destroy(h) && vs_terrain_destroy(none));
}

static void optimize(const char *seed, const char *file) {
    vs_terrain_handle h = vs_terrain_create(0);
    add_grid(h, 0, CELLS, strtoul(seed, NULL, 10));
    for (int k = 0; k < 7; k++) {
        add_half(h, k * 9, k % 2); /* again */
    }
    point upright[3] = {{3, 3, 0}, {3, 3, 5}, {4, 4, 2}}, flat[3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
    CHECK(vs_terrain_add_triangle(h, &upright[0], &upright[1], &upright[2], 0.9f, 1.0f));
    CHECK(vs_terrain_add_triangle(h, &flat[0], &flat[1], &flat[2], 0.9f, 1.0f));
    CHECK(vs_terrain_get_num_triangles(h) == CELLS * 2 + 9);
    const double bad[] = {-0.001, NAN, INFINITY, 256.1};
    for (int k = 0; k < 4; k++) {
        CHECK(!vs_terrain_optimize(h, bad[k], NULL, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "weldThreshold is "));
    }
    CHECK(vs_terrain_get_num_points(h) == (CELLS * 2 + 9) * 3);
    CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL));
    CHECK(vs_terrain_get_num_triangles(h) == CELLS * 2);
    CHECK(vs_terrain_get_num_points(h) == (SIDE + 1) * (SIDE + 1));
    CHECK(vs_terrain_save(h, file));
    CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL) && !vs_terrain_is_built(h)); /* nothing is left to do */
    CHECK(vs_terrain_get_num_triangles(h) == CELLS * 2 && vs_terrain_get_num_points(h) == (SIDE + 1) * (SIDE + 1));
    CHECK(vs_terrain_destroy(h));
}

static void progress(void) {
    static struct told told;
    vs_terrain_handle h = vs_terrain_create(0);
    CHECK(vs_terrain_optimize(h, 0.001, record, &told)); /* of nothing */
    CHECK(told.count == 2 && told.values[0] == 0 && told.values[1] == 100);
    add_grid(h, 0, CELLS, 1);
    memset(&told, 0, sizeof told);
    CHECK(vs_terrain_optimize(h, 0.001, record, &told) && rises_to_100(&told));
    memset(&told, 0, sizeof told);
    CHECK(vs_terrain_build2(h, record, &told, NULL) && rises_to_100(&told));
    CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL) && vs_terrain_build2(h, NULL, NULL, NULL));
    /* of what fails, no 100 */
    memset(&told, 0, sizeof told);
    CHECK(!vs_terrain_optimize(h, -1, record, &told) && told.count == 1 && told.values[0] == 0);
    /* a callback cannot use its own handle, and nobody waits for ever */
    memset(&told, 0, sizeof told);
    told.own = h;
    CHECK(vs_terrain_optimize(h, 0.001, record, &told) && told.refused && told.count >= 2);
    CHECK(vs_terrain_build2(h, record, &told, NULL) && told.refused);
    CHECK(vs_terrain_get_num_triangles(h) == CELLS * 2);
    CHECK(vs_terrain_destroy(h));
}

static void built(void) {
    vs_terrain_handle h = vs_terrain_create(0);
    CHECK(!vs_terrain_is_built(h));
    CHECK(!vs_terrain_build(h) && failed(h, VS_TERRAIN_ERROR_EMPTY, "there are no triangles"));
    CHECK(!vs_terrain_is_built(h));
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, 0.85f, 1.0f) && !vs_terrain_is_built(h));
    CHECK(vs_terrain_build(h) && vs_terrain_is_built(h));
    CHECK(!vs_terrain_add_triangle(h, &A, &B, &C, -1.0f, 1.0f) && vs_terrain_is_built(h)); /* nothing was added */
    CHECK(vs_terrain_add_triangle(h, &C, &B, &D, 0.85f, 1.0f) && !vs_terrain_is_built(h));
    CHECK(vs_terrain_build2(h, NULL, NULL, NULL) && vs_terrain_is_built(h));
    CHECK(vs_terrain_optimize(h, 0.0, NULL, NULL) && !vs_terrain_is_built(h));
    CHECK(vs_terrain_build(h) && vs_terrain_clear(h) && !vs_terrain_is_built(h));
    /* only walls */
    point top = {0, 0, 5}, foot = {0, 0, 0}, side = {3, 0, 0};
    CHECK(vs_terrain_add_triangle(h, &top, &foot, &side, 0.85f, 1.0f));
    CHECK(!vs_terrain_build(h) && failed(h, VS_TERRAIN_ERROR_EMPTY, "no ground") && !vs_terrain_is_built(h));
    CHECK(!vs_terrain_optimize(h, 0.0, NULL, NULL) && failed(h, VS_TERRAIN_ERROR_EMPTY, "no ground"));
    CHECK(vs_terrain_get_num_triangles(h) == 1);
    /* out of what an image holds: not left out in silence */
    CHECK(vs_terrain_clear(h) && vs_terrain_add_triangle(h, &A, &B, &C, 0.85f, 1.0f));
    CHECK(vs_terrain_add_triangle(h, &C, &B, &D, 0.85f, 1.0f) && vs_terrain_add_triangle(h, &A, &D, &C, 0.85f, 1.0f));
    point far = {1e7, 0, 0};
    CHECK(vs_terrain_add_triangle(h, &A, &B, &far, 0.85f, 1.0f));
    CHECK(!vs_terrain_build(h) && failed(h, VS_TERRAIN_ERROR_LIMIT, "1 of 4 triangles reach as far as (1e7, "));
    CHECK(!vs_terrain_optimize(h, 0.0, NULL, NULL) && failed(h, VS_TERRAIN_ERROR_LIMIT, "1 of 4 triangles"));
    CHECK(vs_terrain_get_num_triangles(h) == 4 && !vs_terrain_is_built(h));
    CHECK(vs_terrain_destroy(h));
}

static bool same(const vs_terrain_build_parameters *a, const vs_terrain_build_parameters *b) {
    return a->toleranceDepth == b->toleranceDepth && a->preferredBundleSize == b->preferredBundleSize
        && a->toleranceDepthBundleIncrease == b->toleranceDepthBundleIncrease && a->minBundleVolume == b->minBundleVolume
        && a->toleranceDepthVolumeIncrease == b->toleranceDepthVolumeIncrease;
}

static void parameters(void) {
    vs_terrain_handle h = square(0);
    vs_terrain_build_parameters got = {0, 0, 0, 0, 0}, table4 = {8, 8, 0.5, 0.125, 1.5};
    CHECK(vs_terrain_build2_get_parameters(h, &got) && same(&got, &table4) && same(&got, &VS_TERRAIN_BUILD_DEFAULT));
    CHECK(!same(&VS_TERRAIN_BUILD_DENSE, &VS_TERRAIN_BUILD_DEFAULT));
    const vs_terrain_build_parameters given[] = {
        {0, 1, 0, 0, 0}, {64, 2147483647, 1e9, 1e9, 1e9}, {3, 5, 0.25, 0.5, 2.5}, VS_TERRAIN_BUILD_DENSE, VS_TERRAIN_BUILD_DEFAULT};
    for (int k = 0; k < 5; k++) {
        CHECK(vs_terrain_build2_parameters(h, &given[k]));
        CHECK(vs_terrain_build2_get_parameters(h, &got) && same(&got, &given[k]));
        if (k > 1) {
            CHECK(vs_terrain_build2(h, NULL, NULL, NULL));
        }
    }
    const vs_terrain_build_parameters bad[] = {
        {-1, 8, 0.5, 0.125, 1.5}, {65, 8, 0.5, 0.125, 1.5}, {8, 0, 0.5, 0.125, 1.5}, {8, -8, 0.5, 0.125, 1.5},
        {8, 8, -0.5, 0.125, 1.5}, {8, 8, 0.5, NAN, 1.5}, {8, 8, 0.5, 0.125, INFINITY}};
    for (int k = 0; k < 7; k++) {
        CHECK(!vs_terrain_build2_parameters(h, &bad[k]) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "toleranceDepth goes from 0 to 64"));
        CHECK(vs_terrain_build2_get_parameters(h, &got) && same(&got, &VS_TERRAIN_BUILD_DEFAULT));
    }
    CHECK(!vs_terrain_build2_parameters(h, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "parameters is null"));
    CHECK(!vs_terrain_build2_get_parameters(h, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "parameters is null"));
    CHECK(vs_terrain_destroy(h));
}

/* builds the grid by default and dense parameters, and prints the results */
static void build2(void) {
    const vs_terrain_build_parameters groups[] = {VS_TERRAIN_BUILD_DEFAULT, VS_TERRAIN_BUILD_DENSE};
    const char *files[] = {"default.vsterrain", "dense.vsterrain"};
    for (int k = 0; k < 2; k++) {
        vs_terrain_handle h = vs_terrain_create(2);
        vs_terrain_build_results r;
        add_grid(h, 0, CELLS, 0);
        CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL));
        CHECK(vs_terrain_build2_parameters(h, &groups[k]) && vs_terrain_build2(h, NULL, NULL, &r) && vs_terrain_is_built(h));
        CHECK(vs_terrain_save(h, files[k]));
        printf("%llu %llu %llu %u %u %u %u %.17g %.17g %llu %.17g\n", (unsigned long long)r.triangles,
               (unsigned long long)r.leaves, (unsigned long long)r.references, r.maxDepth, r.maxLeaf, r.worstTests, r.worstLines,
               r.errorPlan, r.errorHeight, (unsigned long long)r.contested, r.seconds);
        CHECK(vs_terrain_destroy(h));
    }
    /* coincident triangles of different mu: counted */
    vs_terrain_handle h = square(0);
    vs_terrain_build_results r;
    CHECK(vs_terrain_build2(h, NULL, NULL, &r) && r.contested == 0);
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, 0.25f, 1.0f) && vs_terrain_build2(h, NULL, NULL, &r) && r.contested == 1);
    CHECK(r.triangles == 2 && vs_terrain_destroy(h));
}

static void old_version(void) {
    vs_terrain_handle h = square(1);
    static struct told told;
    vs_terrain_build_results results;
    memset(&results, 7, sizeof results);
    CHECK(!vs_terrain_build2(h, NULL, NULL, &results) && !vs_terrain_is_built(h));
    CHECK(results.triangles == 0x0707070707070707u);
    CHECK(failed(h, VS_TERRAIN_ERROR_VERSION, "vs_terrain_build2 is not for terrains of version 1.0; call vs_terrain_build, or create version 2"));
    CHECK(!vs_terrain_build2(h, record, &told, NULL) && (told.count == 0 || told.values[told.count - 1] < 100));
    CHECK(vs_terrain_build(h) && vs_terrain_is_built(h) && vs_terrain_save(h, "old.vsterrain"));
    CHECK(vs_terrain_destroy(h));
}

static void save(void) {
    vs_terrain_handle h = square(0);
    CHECK(vs_terrain_save(h, "unbuilt.vsterrain") && vs_terrain_is_built(h));
    CHECK(vs_terrain_save(h, "again.vsterrain"));
    CHECK(vs_terrain_save(h, "d\xc3\xa9j\xc3\xa0 vu.vsterrain") && vs_terrain_save(h, "link.vsterrain"));
    CHECK(vs_terrain_destroy(h));
    h = square(0);
    CHECK(vs_terrain_build(h) && vs_terrain_save(h, "built.vsterrain"));
    CHECK(!vs_terrain_save(h, "no/such/folder.vsterrain") && failed(h, VS_TERRAIN_ERROR_FILE, "no/such/folder.vsterrain: there is no folder no/such"));
    CHECK(!vs_terrain_save(h, ".") && failed(h, VS_TERRAIN_ERROR_FILE, ".: this is a folder; name a file in it"));
    CHECK(!vs_terrain_save(h, "/dev/null") && failed(h, VS_TERRAIN_ERROR_FILE, "/dev/null: this is a device or a pipe, or a link to one"));
    CHECK(!vs_terrain_save(h, "locked.vsterrain") && failed(h, VS_TERRAIN_ERROR_FILE, "locked.vsterrain: the file here may only be read"));
    CHECK(!vs_terrain_save(h, "loop") && failed(h, VS_TERRAIN_ERROR_FILE, "loop: this is a link that leads to itself"));
    CHECK(!vs_terrain_save(h, "") && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "the name of the file is empty"));
    CHECK(!vs_terrain_save(h, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "filename is null"));
    CHECK(vs_terrain_is_built(h) && vs_terrain_destroy(h));
    h = vs_terrain_create(0);
    CHECK(!vs_terrain_save(h, "none.vsterrain") && failed(h, VS_TERRAIN_ERROR_EMPTY, "there are no triangles"));
    CHECK(vs_terrain_destroy(h));
}

/* saves two terrains in turn, until it is killed */
/* a bumpy grid of so many cells along a side: an image of several megabytes */
static vs_terrain_handle large(int side) {
    vs_terrain_handle h = vs_terrain_create(0);
    for (int j = 0; j < side; j++) {
        for (int i = 0; i < side; i++) {
            point p[4];
            for (int k = 0; k < 4; k++) {
                const int x = i + k % 2, y = j + k / 2;
                p[k] = (point){x, y, (double)(mixed((uint64_t)(x * 1000 + y)) % 64) / 64};
            }
            CHECK(vs_terrain_add_triangle(h, &p[0], &p[1], &p[2], 0.9f, 1.0f));
            CHECK(vs_terrain_add_triangle(h, &p[1], &p[3], &p[2], 0.9f, 1.0f));
        }
    }
    return h;
}

static void save_for_ever(void) {
    vs_terrain_handle one = large(260), other = large(262);
    CHECK(vs_terrain_save(one, "one.vsterrain") && vs_terrain_save(other, "other.vsterrain"));
    for (;;) {
        CHECK(vs_terrain_save(one, "turn.vsterrain"));
        CHECK(vs_terrain_save(other, "turn.vsterrain"));
    }
}

static void clear(void) {
    vs_terrain_handle h = square(1);
    double low = 7, high = 8;
    CHECK(vs_terrain_get_extents_x(h, &low, &high) && low == -500 && high == 500);
    CHECK(vs_terrain_get_extents_y(h, &low, &high) && low == -500 && high == 500);
    CHECK(vs_terrain_get_extents_z(h, &low, &high) && low == 0 && high == 0);
    low = 7, high = 8;
    CHECK(!vs_terrain_get_extents_x(h, NULL, &high) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "min is null"));
    CHECK(!vs_terrain_get_extents_x(h, &low, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "max is null"));
    CHECK(vs_terrain_build2_parameters(h, &VS_TERRAIN_BUILD_DENSE) && vs_terrain_clear(h));
    CHECK(vs_terrain_get_num_triangles(h) == 0 && vs_terrain_get_num_points(h) == 0);
    CHECK(!vs_terrain_get_extents_x(h, &low, &high) && failed(h, VS_TERRAIN_ERROR_EMPTY, "there is no extent"));
    CHECK(!vs_terrain_get_extents_y(h, &low, &high) && !vs_terrain_get_extents_z(h, &low, &high));
    CHECK(low == 7 && high == 8);
    vs_terrain_build_parameters kept;
    CHECK(vs_terrain_get_version(h) == 1 && vs_terrain_build2_get_parameters(h, &kept) && same(&kept, &VS_TERRAIN_BUILD_DENSE));
    CHECK(vs_terrain_clear(h));
    /* as good as new */
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, 0.85f, 1.0f) && vs_terrain_add_triangle(h, &C, &B, &D, 0.85f, 1.0f));
    point high_up = {0, 10, 42.5}, low_down = {10, 0, -3.25};
    CHECK(vs_terrain_add_triangle(h, &A, &high_up, &low_down, 0.85f, 1.0f));
    CHECK(vs_terrain_get_extents_z(h, &low, &high) && low == -3.25 && high == 42.5);
    CHECK(vs_terrain_destroy(h));
}

static void errors(void) {
    vs_terrain_handle h = square(1), other = square(0);
    point bad = A;
    bad.x = NAN;
    CHECK(!vs_terrain_add_triangle(h, &bad, &B, &C, 0.85f, 1.0f));
    CHECK(failed(h, VS_TERRAIN_ERROR_ARGUMENT, "point a: x is NaN; give a finite number"));
    CHECK(vs_terrain_get_last_error_code(other) == VS_TERRAIN_OK); /* each has its own */
    const char *text = vs_terrain_get_last_error(h);
    CHECK(vs_terrain_build(h) && vs_terrain_get_last_error(h) == text); /* what succeeds says nothing */
    CHECK(!vs_terrain_build2(h, NULL, NULL, NULL) && failed(h, VS_TERRAIN_ERROR_VERSION, "version 1.0"));
    CHECK(vs_terrain_destroy(h) && vs_terrain_destroy(other));
}

static void counts(void) {
    vs_terrain_handle h = square(0);
    vs_terrain_triangle t;
    CHECK(vs_terrain_get_num_triangles(h) == 2 && vs_terrain_get_num_points(h) == 6);
    CHECK(vs_terrain_get_triangle(h, 1, &t) && memcmp(t.points, (point[]){C, B, D}, sizeof t.points) == 0);
    CHECK(t.mu == 0.85f && t.rr == 1.0f && strcmp(t.material, "mu 0.85 rr 1") == 0);
    memset(&t, 7, sizeof t);
    vs_terrain_triangle before = t;
    CHECK(!vs_terrain_get_triangle(h, 2, &t) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "there is no triangle 2; there are 2 triangles, from 0 on"));
    CHECK(!vs_terrain_get_triangle(h, (size_t)-1, &t) && memcmp(&t, &before, sizeof t) == 0);
    CHECK(!vs_terrain_get_triangle(h, 0, NULL) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "triangle is null"));
    CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL));
    CHECK(vs_terrain_get_num_triangles(h) == 2 && vs_terrain_get_num_points(h) == 4);
    for (size_t k = 0; k < 2; k++) {
        CHECK(vs_terrain_get_triangle(h, k, &t) && t.mu == 0.85f && t.rr == 1.0f && strcmp(t.material, "mu 0.85 rr 1") == 0);
        for (int c = 0; c < 3; c++) {
            CHECK(fabs(t.points[c].x) == 500 && fabs(t.points[c].y) == 500 && t.points[c].z == 0);
        }
    }
    CHECK(!vs_terrain_get_triangle(h, 2, &t));
    /* more on top, with names of the largest and the smallest numbers */
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, 3.4028235e38f, 1e-45f) && vs_terrain_get_num_points(h) == 7);
    CHECK(vs_terrain_get_triangle(h, 2, &t) && t.mu == 3.4028235e38f && t.rr == 1e-45f);
    CHECK(strcmp(t.material, "mu 3.4028235e38 rr 1e-45") == 0);
    CHECK(vs_terrain_add_triangle(h, &A, &B, &C, -0.0f, 0.0f) && vs_terrain_get_triangle(h, 3, &t));
    CHECK(!signbit(t.mu) && strcmp(t.material, "mu 0 rr 0") == 0);
    CHECK(vs_terrain_destroy(h));
}

/* the ramp z = x / 4 over 40 m x 40 m */
static void obj(void) {
    point a = {0, 0, 0}, b = {40, 0, 10}, c = {0, 40, 0}, d = {40, 40, 10};
    vs_terrain_handle h = vs_terrain_create(0);
    CHECK(vs_terrain_add_triangle(h, &a, &b, &c, 0.85f, 1.0f) && vs_terrain_add_triangle(h, &c, &b, &d, 0.5f, 1.0f));
    CHECK(vs_terrain_output_as_obj(h, "plain.obj", 0, 0.0, false) && vs_terrain_is_built(h));
    CHECK(vs_terrain_output_as_obj(h, "pins.obj", 10, 0.0, false));
    CHECK(vs_terrain_output_as_obj(h, "origin.obj", -3, 5.0, false));
    CHECK(vs_terrain_output_as_obj(h, "cells.obj", 0, 0.0, true));
    CHECK(vs_terrain_output_as_obj(h, "all.obj", 3, 2.0, true));
    CHECK(!vs_terrain_output_as_obj(h, "bad.obj", 0, NAN, false) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "centroidSize is NaN"));
    CHECK(!vs_terrain_output_as_obj(h, "bad.obj", 0, -1.0, false) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "centroidSize is -1"));
    CHECK(!vs_terrain_output_as_obj(h, "bad.mtl", 0, 0.0, false) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "bad.mtl: this is the name of the material library"));
    CHECK(!vs_terrain_output_as_obj(h, NULL, 0, 0.0, false) && failed(h, VS_TERRAIN_ERROR_ARGUMENT, "filename is null"));
    CHECK(!vs_terrain_output_as_obj(h, "no/bad.obj", 0, 0.0, false) && failed(h, VS_TERRAIN_ERROR_FILE, "no/bad."));
    CHECK(vs_terrain_clear(h));
    CHECK(!vs_terrain_output_as_obj(h, "bad.obj", 0, 0.0, false) && failed(h, VS_TERRAIN_ERROR_EMPTY, "there are no triangles"));
    CHECK(vs_terrain_destroy(h));
}

/* triangles in a row of squares, each of another mu */
static void squares(vs_terrain_handle h, int count, int along, double side) {
    for (int k = 0; k < count; k++) {
        double x = k % along * side, y = k / along * side;
        point a = {x, y, 0}, b = {x + side, y, 0}, c = {x, y + side, 0};
        CHECK(vs_terrain_add_triangle(h, &a, &b, &c, (float)(k + 1) / 65536.0f, 1.0f));
    }
}

static void pairs(void) {
    point a = {-10, -10, 0}, b = {-9, -10, 0}, c = {-10, -9, 0};
    vs_terrain_handle h = vs_terrain_create(0), more = vs_terrain_create(0);
    /* in a square that one of the least tiles that builds choose would hold: smaller ones */
    squares(h, 300, 20, 1.0 / 128);
    CHECK(vs_terrain_save(h, "palette.vsterrain"));
    CHECK(vs_terrain_clear(h));
    /* over one place: no tile is small enough */
    for (int k = 0; k < 257; k++) {
        point low[3] = {{0, 0, k}, {1, 0, k}, {0, 1, k}};
        CHECK(vs_terrain_add_triangle(h, &low[0], &low[1], &low[2], (float)(k + 1) / 65536.0f, 1.0f));
    }
    CHECK(!vs_terrain_build(h) && failed(h, VS_TERRAIN_ERROR_LIMIT, "257 pairs") && !vs_terrain_is_built(h));
    CHECK(vs_terrain_clear(h));
    squares(h, 65535, 256, 0.5);
    CHECK(!vs_terrain_add_triangle(h, &a, &b, &c, 2.0f, 1.0f) && failed(h, VS_TERRAIN_ERROR_LIMIT, "at most 65,535 pairs"));
    CHECK(vs_terrain_get_num_triangles(h) == 65535);
    CHECK(vs_terrain_add_triangle(h, &a, &b, &c, 1.0f / 65536.0f, 1.0f)); /* one that it has */
    CHECK(vs_terrain_add_triangle(more, &a, &b, &c, 2.0f, 1.0f));
    CHECK(!vs_terrain_merge(h, more) && failed(h, VS_TERRAIN_ERROR_LIMIT, "at most 65,535 pairs"));
    CHECK(vs_terrain_get_num_triangles(h) == 65536 && vs_terrain_get_num_points(h) == 3 * 65536);
    CHECK(vs_terrain_destroy(h) && vs_terrain_destroy(more));
}

static void *work(void *argument) {
    vs_terrain_handle h = vs_terrain_create(0);
    CHECK(vs_terrain_create(99) == NULL);
    for (int k = 0; k < CELLS * 2; k++) {
        add_half(h, k / 2, k % 2);
    }
    CHECK(vs_terrain_optimize(h, 0.001, NULL, NULL) && vs_terrain_save(h, argument));
    CHECK(failed(NULL, VS_TERRAIN_ERROR_VERSION, "99")); /* of this thread */
    CHECK(vs_terrain_destroy(h));
    return NULL;
}

static vs_terrain_handle shared;

static void *use(void *argument) {
    int *busy = argument;
    for (int k = 0; k < 200; k++) {
        if (!vs_terrain_add_triangle(shared, &A, &B, &C, 0.85f, 1.0f)) {
            (*busy)++;
        }
    }
    return NULL;
}

static void threads(void) {
    char *files[] = {"thread0.vsterrain", "thread1.vsterrain", "thread2.vsterrain", "thread3.vsterrain"};
    pthread_t all[4];
    for (int k = 0; k < 4; k++) {
        CHECK(pthread_create(&all[k], NULL, work, files[k]) == 0);
    }
    for (int k = 0; k < 4; k++) {
        CHECK(pthread_join(all[k], NULL) == 0);
    }
    CHECK(failed(NULL, VS_TERRAIN_OK, "")); /* nothing failed on this thread */
    /* a handle that several use against the rule: each call is done or refused */
    int busy[4] = {0, 0, 0, 0};
    shared = vs_terrain_create(0);
    for (int k = 0; k < 4; k++) {
        CHECK(pthread_create(&all[k], NULL, use, &busy[k]) == 0);
    }
    for (int k = 0; k < 4; k++) {
        CHECK(pthread_join(all[k], NULL) == 0);
    }
    CHECK(vs_terrain_get_num_triangles(shared) + (size_t)(busy[0] + busy[1] + busy[2] + busy[3]) == 800);
    CHECK(vs_terrain_destroy(shared));
}

/* sizes and offsets, as this compiler has them */
static void layout(void) {
#define SIZE(type) printf("%s %u\n", #type, (unsigned)sizeof(type))
#define FIELD(type, field) printf("%s.%s %u\n", #type, #field, (unsigned)offsetof(type, field))
    SIZE(vs_terrain_point);
    FIELD(vs_terrain_point, x);
    FIELD(vs_terrain_point, y);
    FIELD(vs_terrain_point, z);
    SIZE(vs_terrain_mu_type);
    SIZE(vs_terrain_rr_type);
    SIZE(vs_terrain_handle);
    SIZE(vs_terrain_error);
    SIZE(vs_terrain_build_parameters);
    FIELD(vs_terrain_build_parameters, toleranceDepth);
    FIELD(vs_terrain_build_parameters, preferredBundleSize);
    FIELD(vs_terrain_build_parameters, toleranceDepthBundleIncrease);
    FIELD(vs_terrain_build_parameters, minBundleVolume);
    FIELD(vs_terrain_build_parameters, toleranceDepthVolumeIncrease);
    SIZE(vs_terrain_build_results);
    FIELD(vs_terrain_build_results, triangles);
    FIELD(vs_terrain_build_results, leaves);
    FIELD(vs_terrain_build_results, references);
    FIELD(vs_terrain_build_results, maxDepth);
    FIELD(vs_terrain_build_results, maxLeaf);
    FIELD(vs_terrain_build_results, worstTests);
    FIELD(vs_terrain_build_results, worstLines);
    FIELD(vs_terrain_build_results, errorPlan);
    FIELD(vs_terrain_build_results, errorHeight);
    FIELD(vs_terrain_build_results, contested);
    FIELD(vs_terrain_build_results, seconds);
    SIZE(vs_terrain_triangle);
    FIELD(vs_terrain_triangle, points);
    FIELD(vs_terrain_triangle, mu);
    FIELD(vs_terrain_triangle, rr);
    FIELD(vs_terrain_triangle, material);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"versions", versions}, {"handles", handles}, {"add", add}, {"merge", merge}, {"progress", progress},
                 {"built", built}, {"parameters", parameters}, {"build2", build2}, {"old_version", old_version}, {"save", save},
                 {"save_for_ever", save_for_ever}, {"clear", clear}, {"errors", errors}, {"counts", counts}, {"obj", obj},
                 {"pairs", pairs}, {"threads", threads}, {"layout", layout}};
    if (count == 4 && strcmp(arguments[1], "optimize") == 0) {
        optimize(arguments[2], arguments[3]);
        return 0;
    }
    for (size_t k = 0; count == 2 && k < sizeof parts / sizeof parts[0]; k++) {
        if (strcmp(arguments[1], parts[k].name) == 0) {
            parts[k].run();
            return 0;
        }
    }
    printf("no such part\n");
    return 1;
}
