/* What a VehicleSim solver declares, in the words of its documentation. */
#ifndef VS_API_H
#define VS_API_H

#ifndef HPAN_VS_REAL
#define HPAN_VS_REAL double
#endif
typedef HPAN_VS_REAL vs_real;

typedef int (*terrain_func_t)(vs_real in_x, vs_real in_y, vs_real in_z, vs_real *out_z, vs_real *out_dzdx, vs_real *out_dzdy,
                              vs_real *out_mu, vs_real *out_rr, void *userData);

void vs_road_install_terrain_function(terrain_func_t userFunction, void *userData);

#endif
