/* A mock solver: vs IMAGE IMAGE FLAT. It installs the callback, and drives four wheels at 1 kHz on both images from four threads. */
#include "tool.h"

#include "vs_api.h"

#include "vs_install.c"
#include <pthread.h>

#define TICKS 1000

/* one a vehicle */
typedef struct {
    terrain_func_t function;
    void *user;
    uint64_t hash;
    int found, calls;
} solver;

/* the solver that installs */
static solver *current;

void vs_road_install_terrain_function(terrain_func_t userFunction, void *userData) {
    current->function = userFunction;
    current->user = userData;
}

/* FNV-1a over the bits of an output */
static void digest(solver *s, vs_real v) {
    unsigned char b[sizeof v];
    memcpy(b, &v, sizeof v);
    for (size_t i = 0; i < sizeof b; i++) {
        s->hash = (s->hash ^ b[i]) * UINT64_C(0x100000001b3);
    }
}

/* One wheel: five outputs, all written. */
static void wheel(solver *s, vs_real x, vs_real y, vs_real z) {
    vs_real out[5];
    memset(out, 0xCC, sizeof out);
    const int found = s->function(x, y, z, &out[0], &out[1], &out[2], &out[3], &out[4], s->user);
    s->found += found != 0;
    s->calls++;
    for (int i = 0; i < 5; i++) {
        digest(s, out[i]);
    }
    digest(s, (vs_real)found);
}

/* A thread has a vehicle on each image, and drives both by turns. */
static void *drive(void *argument) {
    solver *s = argument;
    for (int tick = 0; tick < TICKS; tick++) {
        /* 36 m/s along a diagonal: multiples of 1/1024 m, which a float holds */
        const vs_real x = (vs_real)(tick * 37) / 1024 - 18, y = (vs_real)(tick * 11) / 1024 - 5;
        for (int i = 0; i < 4; i++) {
            for (int image = 0; image < 2; image++) {
                wheel(&s[image], i < 2 ? x : x - (vs_real)2.75, i % 2 == 0 ? y : y + (vs_real)1.5, 5);
            }
        }
    }
    return NULL;
}

/* a user's own ground: z = 7 within 10 m of zero */
static int seven(vs_real x, vs_real y, vs_real z, vs_real *out_z, vs_real *out_dzdx, vs_real *out_dzdy, vs_real *out_mu,
                 vs_real *out_rr, void *userData) {
    (void)z;
    ++*(int *)userData;
    *out_z = 7;
    *out_dzdx = *out_dzdy = 0;
    *out_mu = (vs_real)0.5;
    *out_rr = 2;
    return x * x + y * y < 100;
}

static void stack(const char *path) {
    size_t length;
    void *bytes = load(path, &length);
    hpan_view *view = opened(bytes, length);
    int calls = 0;
    hpan_surface surfaces[2];
    memset(surfaces, 0, sizeof surfaces);
    surfaces[0].hpan_vs_function = seven;
    surfaces[0].userData = &calls;
    surfaces[1].view = view;
    hpan_stack *first, *last;
    void *memories[2] = {memory(hpan_stack_align(), hpan_stack_size()), memory(hpan_stack_align(), hpan_stack_size())};
    must(hpan_stack_start(memories[0], hpan_stack_size(), surfaces, 2, &first), "stack");
    const hpan_surface own = surfaces[0];
    surfaces[0] = surfaces[1];
    surfaces[1] = own;
    must(hpan_stack_start(memories[1], hpan_stack_size(), surfaces, 2, &last), "stack");
    memset(surfaces, 0xCC, sizeof surfaces); /* they were copied */
    const terrain_func_t function = hpan_vs_terrain_func;
    vs_real o[5];
    EXPECT(function(0, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], first) == 1 && calls == 1);
    EXPECT(o[0] == 7 && o[1] == 0 && o[2] == 0 && o[3] == (vs_real)0.5 && o[4] == 2);
    EXPECT(function(0, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], last) == 1 && calls == 1);
    EXPECT(o[0] == 0 && o[3] != (vs_real)0.5);
    /* beyond the user's ground the image answers, and where neither has any, the last's defaults do */
    EXPECT(function(20, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], first) == 1 && o[0] == 0 && calls == 2);
    EXPECT(function(9000, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], first) == 0 && o[0] == 0 && calls == 3);
    EXPECT(function(9000, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], last) == 0 && o[0] == 7 && o[4] == 2 && calls == 4);
    /* a null output is left out; what is neither view nor stack is answered by zeros */
    EXPECT(function(0, 0, 0, &o[0], NULL, NULL, NULL, NULL, view) == 1 && o[0] == 0);
    must(hpan_stack_close(first), "close");
    static uint64_t foreign[2] = {1, 2};
    void *const none[] = {NULL, first, foreign};
    for (size_t i = 0; i < 3; i++) {
        memset(o, 0xCC, sizeof o);
        EXPECT(function(0, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], none[i]) == 0);
        EXPECT(o[0] == 0 && o[1] == 0 && o[2] == 0 && o[3] == 0 && o[4] == 0);
    }
    must(hpan_stack_close(last), "close");
    /* a view that was closed since has no ground, also where a function stands beside it */
    hpan_surface both = own;
    both.view = view;
    must(hpan_stack_start(memories[1], hpan_stack_size(), &both, 1, &last), "stack");
    EXPECT(function(0, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], last) == 1 && o[0] == 0);
    must(hpan_close(view), "close");
    calls = 0;
    EXPECT(function(0, 0, 0, &o[0], &o[1], &o[2], &o[3], &o[4], last) == 0 && o[0] == 0 && calls == 0);
    must(hpan_stack_close(last), "close");
    free(memories[0]);
    free(memories[1]);
    free(view);
    free(bytes);
}

int main(int count, char **arguments) {
    EXPECT(count == 4);
    static solver solvers[4][2];
    void *images[2], *rooms[2];
    pthread_t threads[4];
    for (int image = 0; image < 2; image++) {
        size_t length;
        images[image] = load(arguments[1 + image], &length);
        rooms[image] = memory(hpan_view_align(), hpan_view_size());
        current = &solvers[0][image];
        must(install_terrain(rooms[image], hpan_view_size(), images[image], length), "install");
        current->hash = UINT64_C(0xcbf29ce484222325);
        for (int i = 1; i < 4; i++) {
            solvers[i][image] = solvers[0][image];
        }
    }
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_create(&threads[i], NULL, drive, solvers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        for (int image = 0; image < 2; image++) {
            const solver *s = &solvers[i][image];
            EXPECT(s->calls == 4 * TICKS && s->function == hpan_vs_terrain_func);
            printf("%d %d %016" PRIx64 " %d\n", i, image, s->hash, s->found);
        }
    }
    for (int image = 0; image < 2; image++) {
        must(hpan_close(rooms[image]), "close");
        free(rooms[image]);
        free(images[image]);
    }
    stack(arguments[3]);
    return 0;
}
