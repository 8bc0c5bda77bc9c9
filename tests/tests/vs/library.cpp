// The header in C++, with what a solver declares before and after it.
#ifdef VENDOR_FIRST
#include "vs_deftypes.h"
#endif
#include "VsTerrain.h"
#include <cstdio>
#ifdef VENDOR_LAST
#include "vs_deftypes.h"
#endif

static void told(int progress, void *count) {
    *static_cast<int *>(count) += progress == 100;
}

int main() {
    vs_terrain_point a = {0, 0, 0}, b = {10, 0, 1}, c = {0, 10, 0};
    int ended = 0;
    vs_terrain_build_results results = vs_terrain_build_results();
    vs_terrain_handle h = vs_terrain_create(0);
    bool good = vs_terrain_add_triangle(h, &a, &b, &c, 0.5f, 1.0f) && vs_terrain_optimize(h, 0.001, told, &ended);
    good = good && vs_terrain_build2_parameters(h, &VS_TERRAIN_BUILD_DENSE) && vs_terrain_build2(h, told, &ended, &results);
    good = good && results.triangles == 1 && ended == 2;
    if (!good) {
        std::printf("%s\n", vs_terrain_get_last_error(h));
    }
    return vs_terrain_destroy(h) && good ? 0 : 1;
}
