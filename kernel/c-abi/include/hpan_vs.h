/*
 * The terrain callback of VehicleSim, on a Hardpan image. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     hpan_view *view;                        // of hpan_open: an image in memory
 *     vs_road_install_terrain_function(hpan_vs_terrain_func, view);
 *
 * HPAN_VS_REAL is the solver's vs_real: double, or float if that is defined before.
 * The user data is an open hpan_view or an open hpan_stack: functions of yours, and images, of which the first that has ground answers.
 * There are no globals: any number of images, solvers and threads at once.
 */
#ifndef HPAN_VS_H
#define HPAN_VS_H

#include "hardpan.h"

#ifndef HPAN_VS_REAL
#define HPAN_VS_REAL double
#endif

/* the function for a number type, by its name */
#define HPAN_VS_FUNC_double hpan_vs_terrain_func_f64
#define HPAN_VS_FUNC_float hpan_vs_terrain_func_f32
#define HPAN_VS_JOIN_(a, b) a##b
#define HPAN_VS_JOIN(a, b) HPAN_VS_JOIN_(a, b)

/*
 * int hpan_vs_terrain_func(HPAN_VS_REAL in_x, HPAN_VS_REAL in_y, HPAN_VS_REAL in_z, HPAN_VS_REAL *out_z, HPAN_VS_REAL *out_dzdx,
 *                          HPAN_VS_REAL *out_dzdy, HPAN_VS_REAL *out_mu, HPAN_VS_REAL *out_rr, void *userData)
 *
 * Units, ranges, errors and threads: hpan_vs_terrain_func_f64 in hardpan.h.
 */
#define hpan_vs_terrain_func HPAN_VS_JOIN(HPAN_VS_FUNC_, HPAN_VS_REAL)

/* The field of hpan_surface that a function of this number type goes to: surfaces[0].hpan_vs_function = my_ground; */
#define HPAN_VS_FIELD_double function_f64
#define HPAN_VS_FIELD_float function_f32
#define hpan_vs_function HPAN_VS_JOIN(HPAN_VS_FIELD_, HPAN_VS_REAL)

/* The shape of VehicleSim's terrain_func_t. */
typedef int (*hpan_vs_terrain_t)(HPAN_VS_REAL in_x, HPAN_VS_REAL in_y, HPAN_VS_REAL in_z, HPAN_VS_REAL *out_z,
                                 HPAN_VS_REAL *out_dzdx, HPAN_VS_REAL *out_dzdy, HPAN_VS_REAL *out_mu,
                                 HPAN_VS_REAL *out_rr, void *userData);

#endif
