/*
 * A million triangles through the library, or as many as are asked for: how long adding and building take. The same in Rust: million.rs.
 *
 *     cc -O2 -I builder/c-abi/include builder/c-abi/examples/million.c target/release/libhpan_vsterrain.a -lpthread -lm -ldl -o million
 *     ./million 1000000 million.vsterrain
 */
#define _POSIX_C_SOURCE 200809L
#include "VsTerrain.h"

#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* a corner of a grid of posts two metres apart, on hills whose heights are exact in every language */
static vs_terrain_point corner(long i, long j) {
    long slope = (i * 7 + j * 13) % 64, wave = (i / 16 + j / 16) % 8;
    vs_terrain_point p = {2.0 * (double)i, 2.0 * (double)j, (double)slope / 128.0 + (double)wave / 4.0};
    return p;
}

int main(int count, char **arguments) {
    long triangles = count > 1 ? atol(arguments[1]) : 1000000, side = 1;
    while (2 * side * side < triangles) {
        side++;
    }
    vs_terrain_handle terrain = vs_terrain_create(0);
    double began = now();
    bool good = true;
    for (long k = 0; k < triangles && good; k++) {
        long i = k / 2 % side, j = k / 2 / side;
        vs_terrain_point a = corner(i + k % 2, j + k % 2), b = corner(i + 1, j), c = corner(i, j + 1);
        good = k % 2 ? vs_terrain_add_triangle(terrain, &a, &c, &b, 0.85f, 1.0f)
                     : vs_terrain_add_triangle(terrain, &a, &b, &c, 0.85f, 1.0f);
    }
    double added = now();
    good = good && vs_terrain_build(terrain);
    double built = now();
    good = good && (count < 3 || vs_terrain_save(terrain, arguments[2]));
    if (!good) {
        printf("%s\n", vs_terrain_get_last_error(terrain));
        return 1;
    }
    printf("%ld triangles: added in %.3f s, built in %.3f s, together %.3f s\n", triangles, added - began, built - added, built - began);
    vs_terrain_destroy(terrain);
    return 0;
}
