#include "VsTerrain.h"

void optimize_callback(int progress, void *userData) { printf("\n%d\n", progress); }

int main()
{
    vs_terrain_point a = { -500.0, -500.0, 0.0 }, b = { 500.0, -500.0, 0.0 };
    vs_terrain_point c = { -500.0, 500.0, 0.0 }, d = { 500.0, 500.0, 0.0 };
    vs_terrain_mu_type mu = 0.85f;
    vs_terrain_rr_type rr = 1.0f;
    double weldThreshold = 0.001;

    vs_terrain_handle td = vs_terrain_create(0);
    vs_terrain_add_triangle(td, &a, &b, &c, mu, rr);
    vs_terrain_add_triangle(td, &c, &b, &d, mu, rr);
    vs_terrain_optimize(td, weldThreshold, optimize_callback, NULL);
    vs_terrain_build(td);
    vs_terrain_save(td, "example.vsterrain");
    vs_terrain_output_as_obj(td, "example.obj", 0, 0.0, false);
    vs_terrain_destroy(td);
    return 0;
}
