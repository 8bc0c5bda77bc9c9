/*
 * Puts a Hardpan image under a VehicleSim solver: the wrapper that a solver's program calls before its run.
 * The solver's own headers declare vs_real, terrain_func_t and vs_road_install_terrain_function; here a header of that shape.
 */
#include <hpan_vs.h>

#include "vs_api.h"

/* memory: hpan_view_size() bytes at a multiple of hpan_view_align(). Memory and image stay until the run is over. */
hpan_error install_terrain(void *memory, size_t size, const void *image, size_t length) {
    hpan_view *view;
    const hpan_error error = hpan_open(memory, size, image, length, &view);
    if (error == HPAN_OK) {
        vs_road_install_terrain_function(hpan_vs_terrain_func, view);
    }
    return error;
}
