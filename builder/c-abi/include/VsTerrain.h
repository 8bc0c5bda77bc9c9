/*
 * Terrain images from C, by the functions of the VS Terrain Library. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Programs that were written for the library of VehicleSim compile and run unchanged. Two things differ:
 * - vs_terrain_save writes a Hardpan image, whatever the file is called. VehicleSim's own solver cannot read it with
 *   VS_TERRAIN_FILE: install the terrain callback of hpan_vs.h instead, with the image in memory.
 * - The prototypes are ours, as natural as the published sample and tables allow: those publish none.
 *
 * Frame: right-handed, z up, metres. Texts are UTF-8.
 *
 * Errors. Functions that return bool return true if all was done. After false nothing has changed but where it is said;
 * vs_terrain_get_last_error says why, vs_terrain_get_last_error_code which kind. Functions that return a number return
 * zero then. A success leaves the last error as it is. Nothing is printed; no exception and no panic leaves a function.
 *
 * Handles. A handle is a number in a pointer's clothes, never an address. Null, destroyed and foreign handles are refused
 * with VS_TERRAIN_ERROR_HANDLE and never looked through; no number is given twice. Other pointers must be null or point to
 * what their type says; null is refused where it is not allowed.
 *
 * Threads. A handle is for one thread at a time, different handles may be used side by side. A call on a handle that another
 * call uses fails with VS_TERRAIN_ERROR_BUSY at once, so a callback cannot use its own handle. Long calls take threads of
 * their own on all cores (the environment's RAYON_NUM_THREADS says how many) and end them before they return.
 * Callbacks come on the thread of the call. They must return: no exception, no longjmp.
 *
 * C99 and later, C++11 and later. No other header of VehicleSim is needed, nor in the way.
 */
#ifndef VS_TERRAIN_H
#define VS_TERRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Stands before every function. On Windows, VST_DLL before this header says that the functions come from a DLL. */
#ifndef VST_API
#if defined(_WIN32) && defined(VST_DLL)
#define VST_API __declspec(dllimport)
#else
#define VST_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A point, metres: x east, y north, z up. */
typedef struct vs_terrain_point {
    double x;
    double y;
    double z;
} vs_terrain_point;

/*
 * Friction coefficient and rolling resistance, 0 or more. An image holds doubles: those of these floats, exactly, so 0.85f
 * is 0.85000002384185791 there.
 */
typedef float vs_terrain_mu_type;
typedef float vs_terrain_rr_type;

/* A terrain; null is none. */
typedef struct vs_terrain_opaque *vs_terrain_handle;

/* What a call came to. */
typedef enum vs_terrain_error {
    VS_TERRAIN_OK = 0,
    VS_TERRAIN_ERROR_HANDLE = 1,   /* the handle is null, was destroyed, or is none of this library's */
    VS_TERRAIN_ERROR_BUSY = 2,     /* another call uses the handle */
    VS_TERRAIN_ERROR_ARGUMENT = 3, /* an argument has a value that it cannot have */
    VS_TERRAIN_ERROR_VERSION = 4,  /* there is no such version, or it cannot do this */
    VS_TERRAIN_ERROR_EMPTY = 5,    /* there is no triangle, or none that is ground */
    VS_TERRAIN_ERROR_LIMIT = 6,    /* more than an image or the memory can hold */
    VS_TERRAIN_ERROR_BUILD = 7,    /* no image can be made of this, or it could not be proven */
    VS_TERRAIN_ERROR_FILE = 8,     /* a file cannot be written */
    VS_TERRAIN_ERROR_INTERNAL = 9  /* a fault of this library */
} vs_terrain_error;

/*
 * Told how far a call is: rising numbers from 0 on, and 100 once all is done; if the call fails, no 100. They say what is
 * done, not how long the rest takes. userData is the caller's.
 */
typedef void (*vs_terrain_optimize_callback)(int progress, void *userData);
typedef void (*vs_terrain_build2_callback)(int progress, void *userData);

/*
 * Build parameters. The plan is a square that is quartered; a square at depth d (d quarterings) is accepted, with s as the
 * steps that d lies beyond toleranceDepth, if at most preferredBundleSize + floor(s * toleranceDepthBundleIncrease) triangles
 * meet it, or if its volume is below minBundleVolume * (1 + s * toleranceDepthVolumeIncrease).
 */
typedef struct vs_terrain_build_parameters {
    int32_t toleranceDepth;              /* 0 to 64 */
    int32_t preferredBundleSize;         /* triangles, 1 or more */
    double toleranceDepthBundleIncrease; /* triangles a step, 0 to 1e9 */
    double minBundleVolume;              /* cubic metres, 0 to 1e9 */
    double toleranceDepthVolumeIncrease; /* least volumes a step, 0 to 1e9 */
} vs_terrain_build_parameters;

/* For most scenes: what a new terrain has. */
static const vs_terrain_build_parameters VS_TERRAIN_BUILD_DEFAULT = {8, 8, 0.5, 0.125, 1.5};

/* For data of high density. The values are ours. */
static const vs_terrain_build_parameters VS_TERRAIN_BUILD_DENSE = {14, 16, 0.5, 0.0001, 1.5};

/* What a build came to: the figures that `hardpan info --json` and `--leaves --json` tell of the file, but for the last two. */
typedef struct vs_terrain_build_results {
    uint64_t triangles;  /* of the image */
    uint64_t leaves;     /* squares that were accepted */
    uint64_t references; /* triangles of all bundles; one that several tiles hold counts in each */
    uint32_t maxDepth;   /* depth of the deepest leaf */
    uint32_t maxLeaf;    /* triangles of the fullest leaf */
    uint32_t worstTests; /* no vertical query tests more triangles */
    uint32_t worstLines; /* or reads more lines of 64 bytes */
    double errorPlan;    /* no place of the ground is farther from the triangles that were added: in plan, metres */
    double errorHeight;  /* in height, metres */
    uint64_t contested;  /* coincident triangles of other mu or rr that were left out: see vs_terrain_add_triangle */
    double seconds;      /* that the build took */
} vs_terrain_build_results;

/* Bytes of a material's name, with the zero at its end. */
#define VS_TERRAIN_NAME_SIZE 48

/* A triangle of a terrain. */
typedef struct vs_terrain_triangle {
    vs_terrain_point points[3];
    vs_terrain_mu_type mu;
    vs_terrain_rr_type rr;
    char material[VS_TERRAIN_NAME_SIZE]; /* as in the image: "mu 0.85 rr 1" */
} vs_terrain_triangle;

/* ---- Basic functions ---- */

/*
 * A new, empty terrain. Versions are 1 and 2; 0 is the latest, 2. Both are saved alike; version 1 has no vs_terrain_build2.
 * Null for any other version: vs_terrain_get_last_error(NULL) says so.
 */
VST_API vs_terrain_handle vs_terrain_create(double version);

/* Ends a terrain and frees what it holds. Null is fine. False for a handle that was destroyed before. */
VST_API bool vs_terrain_destroy(vs_terrain_handle handle);

/*
 * Adds a triangle with its friction and rolling resistance. Whichever way it is wound, its upper side is ground.
 *
 * False, and nothing added, for a coordinate, mu or rr that is not finite, a mu or rr below 0, a null pointer, no memory,
 * or the 65,536th different pair of mu and rr. Each pair becomes a material of the image, named after its values.
 *
 * Triangles that stand upright or have no area are kept until vs_terrain_optimize, and never become ground. Of coincident
 * triangles one stays; if they differ in mu or rr, the one whose material's name comes first.
 */
VST_API bool vs_terrain_add_triangle(vs_terrain_handle handle, const vs_terrain_point *a, const vs_terrain_point *b,
                                     const vs_terrain_point *c, vs_terrain_mu_type mu, vs_terrain_rr_type rr);

/*
 * Adds a copy of all triangles of source. Best followed by vs_terrain_optimize. The order of merges does not change what
 * is saved. A terrain is not merged into itself: false.
 */
VST_API bool vs_terrain_merge(vs_terrain_handle handle, vs_terrain_handle source);

/*
 * Joins points, and takes out triangles that are no ground: without area, upright, or coincident with another.
 *
 * Points are rounded to 2^-12 m in plan and 2^-16 m in height, as a build does. Then those within weldThreshold metres in
 * plan and in height, both rounded down to such steps, are joined: 0 joins equal ones, 256 is the most. The result does not
 * depend on the order of triangles. No triangle loses its plan area by it. The errors of vs_terrain_build_results count
 * what was moved. Triangles come back counter-clockwise from above, in an order of places. An empty terrain stays empty.
 * callback may be null; it gets rising numbers: 0 first, and 100 once all is done.
 */
VST_API bool vs_terrain_optimize(vs_terrain_handle handle, double weldThreshold, vs_terrain_optimize_callback callback,
                                 void *userData);

/*
 * Builds what queries need, by Hardpan's native rule: it makes the stated worst cost of a query small. Hairline gaps of up
 * to 2^-10 m are closed in the image; the triangles of the terrain stay as they are. If a tile of the image would hold more
 * than 256 pairs of mu and rr, tiles get smaller; if none are small enough the build fails. No mu is ever changed.
 *
 * False if no triangle is ground, or for triangles beyond what an image holds: 524,288 m in plan and 32,768 m in height
 * about most points. The terrain is not built then.
 */
VST_API bool vs_terrain_build(vs_terrain_handle handle);

/* Sets what vs_terrain_build2 builds by; vs_terrain_build and vs_terrain_save do not use it. False if one is out of range. */
VST_API bool vs_terrain_build2_parameters(vs_terrain_handle handle, const vs_terrain_build_parameters *parameters);

/* Gets what vs_terrain_build2 builds by: VS_TERRAIN_BUILD_DEFAULT until it is set. */
VST_API bool vs_terrain_build2_get_parameters(vs_terrain_handle handle, vs_terrain_build_parameters *parameters);

/*
 * vs_terrain_build by the parameters, with progress and results; both pointers may be null. Answers of queries are the
 * same, their cost is not. False for version 1, and where the parameters ask for more than 256 MiB of index, or 256 bytes a triangle if that is more.
 */
VST_API bool vs_terrain_build2(vs_terrain_handle handle, vs_terrain_build2_callback callback, void *userData,
                               vs_terrain_build_results *results);

/*
 * Writes the image to a file; a terrain that is not built is built first, by vs_terrain_build. The image is proven from its
 * bytes, written beside the file, and renamed: the file is old or new, never half. A file that is there is replaced unless it
 * may only be read. The name is bytes of the system on Unix, UTF-8 on Windows.
 */
VST_API bool vs_terrain_save(vs_terrain_handle handle, const char *filename);

/* ---- Additional functions ---- */

/* Takes all triangles out. Version and parameters stay. */
VST_API bool vs_terrain_clear(vs_terrain_handle handle);

/* The version: 1 or 2. */
VST_API double vs_terrain_get_version(vs_terrain_handle handle);

/*
 * Why the last call on this handle failed that did, in one line; of null or of what is no handle, why the last call of this thread
 * without a terrain did. Empty if none has. Stays until the next such failure, or until the handle is destroyed.
 */
VST_API const char *vs_terrain_get_last_error(vs_terrain_handle handle);

/* The kind of that error. */
VST_API vs_terrain_error vs_terrain_get_last_error_code(vs_terrain_handle handle);

/* Triangles of the terrain: all that were added, or what vs_terrain_optimize left of them. */
VST_API size_t vs_terrain_get_num_triangles(vs_terrain_handle handle);

/* Points of the terrain: three a triangle as they are added, each once after vs_terrain_optimize. */
VST_API size_t vs_terrain_get_num_points(vs_terrain_handle handle);

/* A triangle by its number, from 0 on: in the order of adding, until vs_terrain_optimize. False if there is none. */
VST_API bool vs_terrain_get_triangle(vs_terrain_handle handle, size_t index, vs_terrain_triangle *triangle);

/* Whether the terrain was built and has not changed since. */
VST_API bool vs_terrain_is_built(vs_terrain_handle handle);

/* Least and greatest coordinate of all points, metres. False, and nothing written, for an empty terrain. */
VST_API bool vs_terrain_get_extents_x(vs_terrain_handle handle, double *min, double *max);
VST_API bool vs_terrain_get_extents_y(vs_terrain_handle handle, double *min, double *max);
VST_API bool vs_terrain_get_extents_z(vs_terrain_handle handle, double *min, double *max);

/*
 * Writes the ground as queries see it to an OBJ file, and its materials beside it: FILE.obj, FILE.mtl. Builds first if need be.
 * Files of these names are replaced. If the second cannot be written, the first has been.
 *
 * queryTestDropsPerAxis: so many queries along x and y each; a red line along the normal where each meets the ground. 0 or less: none.
 * centroidSize: metres of three lines from the origin along x, y and z. 0: none.
 * drawQuery: boxes of the leaves, coloured by their triangles: white to 10, green to 15, blue to 20, teal to 25, yellow to
 * 40, purple to 60, red above.
 */
VST_API bool vs_terrain_output_as_obj(vs_terrain_handle handle, const char *filename, int queryTestDropsPerAxis,
                                      double centroidSize, bool drawQuery);

#ifdef __cplusplus
}
#endif

#endif
