/*
 * Hardpan for C and C++: what is the ground here? SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Handles (hpan_view, hpan_cursor, hpan_verifier, hpan_stack) lie in memory of the caller's, whose size and alignment come from
 * calls; nothing is allocated, and there are no globals. A handle may not be copied or moved while it is open. Functions return an
 * hpan_error and write through their last pointers; what is written where one fails is unspecified but for handles, which are null.
 * A null, closed or foreign handle is an error. Behind an HPAN_ERROR_ name, `_X` stands for HPAN_ERROR_X. Pointers that are not null must point to as much memory as is said, and what is
 * written to must not overlap what is read. Frame: right-handed, z up, metres, east-north-up.
 *
 * Threads: a view is only read by queries, so any number of threads may ask it at a time. Cursors and verifiers are for one at a time.
 * No function locks, waits, throws or aborts.
 */


#ifndef HARDPAN_H
#define HARDPAN_H

/* Made by cbindgen from the crate hardpan-c; do not edit. */

#include <stddef.h>
#include <stdint.h>

// The version of the interface: it changes when a record or a function does.
#define HPAN_ABI_VERSION 1

// `hpan_ray_options.flags`: surfaces are seen from their front alone.
#define HPAN_RAY_FRONT_ONLY 1

// `hpan_ray_options.flags`: `after` counts.
#define HPAN_RAY_AFTER 2

// `hpan_tyre.strips` for tyres of cars, also on height fields of 5 mm.
#define HPAN_STRIPS 16384

// `hpan_body.flags`: `down` counts; else down lies in the plane of the wheel.
#define HPAN_DOWN_VALID 1

// `hpan_body.flags`: `velocity` counts.
#define HPAN_VELOCITY_VALID 2

// `hpan_body.flags`: the body is asked for `dt` seconds ahead, if its velocity counts.
#define HPAN_EXTRAPOLATE 4

// Most contact points of a wheel of `hpan_ts_query`.
#define HPAN_TS_CONTACT_POINTS 10

// Most points of the chassis of `hpan_ts_query`.
#define HPAN_TS_CHASSIS_POINTS 25

// Most groups of `hpan_ts_query`.
#define HPAN_TS_GROUPS 8

// `hpan_sensor.vehicle_setting` and `tyre_setting`: the value of the configuration.
#define HPAN_CONSTANT 0

// `hpan_sensor.vehicle_setting` and `tyre_setting`: the value of each step.
#define HPAN_EXTERNAL 1

// `hpan_sensor_input.flags`: `vehicle_distance` is given.
#define HPAN_VEHICLE_DISTANCE 1

// `hpan_sensor_input.flags`: `tyre_distance` is given.
#define HPAN_TYRE_DISTANCE 2

// `hpan_sensor_input.flags`: `wheels` are given.
#define HPAN_WHEELS 4

// `hpan_sensor_found.status` of a trace that is not enabled.
#define HPAN_TRACE_DISABLED 255

// Most surfaces of a stack.
#define HPAN_STACK_MOST 8

// What a function came to; `hpan_error_text` says it in words.
//
// Wrong pointers, sizes and handles are mistakes of the program; the others are of the image or of the question.
enum hpan_error
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Fine.
  HPAN_OK = 0,
  // A pointer that is needed is null.
  HPAN_ERROR_NULL = 1,
  // Not a handle of this kind: another one, or memory that was overwritten or never held one.
  HPAN_ERROR_HANDLE = 2,
  // The handle was closed.
  HPAN_ERROR_CLOSED = 3,
  // A pointer is not a multiple of what its type asks for.
  HPAN_ERROR_ALIGNMENT = 4,
  // The memory is too small; of a string, the length that it needs was written.
  HPAN_ERROR_ROOM = 5,
  // More than 2^31 - 1 elements, or more bytes than memory can have.
  HPAN_ERROR_COUNT = 6,
  // There is no material, source or surface of that number, or no material of that name.
  HPAN_ERROR_INDEX = 7,
  // An option has a value that it cannot have.
  HPAN_ERROR_OPTION = 8,
  // The position is not finite, or farther from zero than any image reaches.
  HPAN_ERROR_POSITION = 9,
  // The image does not start at a multiple of 128.
  HPAN_ERROR_IMAGE_ADDRESS = 20,
  // The image is shorter than a head, or than the length that its head states.
  HPAN_ERROR_IMAGE_SHORT = 21,
  // The bytes are not a terrain image.
  HPAN_ERROR_NOT_AN_IMAGE = 22,
  // Blank or erased memory: all zeros or all ones.
  HPAN_ERROR_BLANK = 23,
  // The image needs a newer library.
  HPAN_ERROR_TOO_NEW = 24,
  // The head of the image does not match its checksum.
  HPAN_ERROR_HEAD_DAMAGED = 25,
  // The head of the image states what no builder writes.
  HPAN_ERROR_HEAD_INVALID = 26,
  // The image is of a format that is read no longer: build it again.
  HPAN_ERROR_TOO_OLD = 27,
  // A section's bytes do not match their checksum; its kind was written.
  HPAN_ERROR_SECTION_DAMAGED = 30,
  // A section contradicts the head; its kind was written.
  HPAN_ERROR_SECTION_INVALID = 31,
  // Bytes outside the sections are not zero.
  HPAN_ERROR_PADDING = 32,
  // A tile's bytes do not match their checksum; its number was written.
  HPAN_ERROR_TILE_DAMAGED = 33,
  // A tile contradicts itself; its number was written.
  HPAN_ERROR_TILE_INVALID = 34,
  // A place in a tile costs more than the image states; the tile's number was written.
  HPAN_ERROR_BOUND_EXCEEDED = 35,
  // Something else that a newer kernel tells apart.
  HPAN_ERROR_OTHER = 99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_error hpan_error;
#else
typedef int32_t hpan_error;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a query came to: `status` of an answer.
enum hpan_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // There is ground, and the hit describes it.
  HPAN_FOUND = 0,
  // The image covers this place and there is no ground within the windows.
  HPAN_NO_GROUND = 1,
  // The image does not cover this place, or the position is not a finite place in its domain.
  HPAN_NOT_IN_IMAGE = 2,
  // The tile is marked as damaged, or its bytes are not a tile.
  HPAN_DAMAGED = 3,
  // The work limit was reached first: no query has one yet.
  HPAN_LIMIT_REACHED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_status hpan_status;
#else
typedef uint8_t hpan_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which stage of the search answered: `reach` of a hit.
enum hpan_reach
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Within the near window.
  HPAN_NEAR = 0,
  // Below, outside the near window.
  HPAN_FAR_BELOW = 1,
  // Above, outside the near window.
  HPAN_FAR_ABOVE = 2,
  // Not found: the values come from the fall-back.
  HPAN_FALLBACK = 3,
  // Ground of higher precedence hides it: only layers tell it.
  HPAN_HIDDEN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_reach hpan_reach;
#else
typedef uint8_t hpan_reach;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What holds the surface: `leaf` of a hit.
enum hpan_leaf
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A bundle of triangles of a mesh.
  HPAN_LEAF_MESH = 0,
  // A block of a height field.
  HPAN_LEAF_FIELD = 1,
  // No leaf: the fall-back.
  HPAN_LEAF_NONE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_leaf hpan_leaf;
#else
typedef uint8_t hpan_leaf;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Height where there is no ground: `fallback` of `hpan_options`.
enum hpan_fallback
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The lower end of the bounds.
  HPAN_BOUNDS_MIN_Z = 0,
  // The image's default height.
  HPAN_DEFAULT_Z = 1,
  // No value of its own: the default height, and nothing should use it.
  HPAN_MISS = 2,
  // The height at the nearest place of the bounding rectangle, else its bottom.
  HPAN_EDGE_EXTEND = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_fallback hpan_fallback;
#else
typedef uint32_t hpan_fallback;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kinds of steps.
enum hpan_trace_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A directory, page or node was read.
  HPAN_TRACE_NODE = 0,
  // The words of a cell were read.
  HPAN_TRACE_WORDS = 1,
  // A bundle or a patch block was read.
  HPAN_TRACE_LEAF = 2,
  // A triangle was tested, or a patch interpolated.
  HPAN_TRACE_TEST = 3,
  // A surface over the place, within the windows or not.
  HPAN_TRACE_CANDIDATE = 4,
  // A patch block named a long one, which was read.
  HPAN_TRACE_LONG = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_trace_kind hpan_trace_kind;
#else
typedef uint32_t hpan_trace_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a ray came to.
enum hpan_ray_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It meets a surface.
  HPAN_RAY_FOUND = 0,
  // It meets nothing.
  HPAN_RAY_CLEAR = 1,
  // It meets nothing in the image, and `t` is where it first leaves what the image covers.
  HPAN_RAY_LEFT_IMAGE = 2,
  // A kind was asked for that the image does not hold.
  HPAN_RAY_NOT_STORED = 3,
  // It comes to a damaged tile at `t`, and meets nothing before.
  HPAN_RAY_DAMAGED = 4,
  // The limit on its work was reached; it meets nothing before `t`.
  HPAN_RAY_LIMIT_REACHED = 5,
  // It has no length.
  HPAN_RAY_NO_LENGTH = 6,
  // A number of it is not finite, or farther away than any image.
  HPAN_RAY_NOT_FINITE = 7,
  // It is longer than 2 km.
  HPAN_RAY_TOO_LONG = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_ray_status hpan_ray_status;
#else
typedef uint8_t hpan_ray_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kinds of surfaces; of `hpan_ray_options` the bit 1 << kind.
enum hpan_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // What wheels stand on.
  HPAN_GROUND = 0,
  // What looks down.
  HPAN_CEILING = 1,
  // What wheels do not stand on.
  HPAN_OBSTACLE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_kind hpan_kind;
#else
typedef uint8_t hpan_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a wheel, or a point of a chassis, came to.
enum hpan_contact_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // There is ground, and the values describe it.
  HPAN_CONTACT_FOUND = 0,
  // There is no ground within reach.
  HPAN_CONTACT_NO_GROUND = 1,
  // The image covers no place that was asked for.
  HPAN_CONTACT_NOT_IN_IMAGE = 2,
  // A place that was asked for lies in a damaged tile.
  HPAN_CONTACT_DAMAGED = 3,
  // A number of the pose is not finite.
  HPAN_CONTACT_NOT_FINITE = 4,
  // Radius or width is not above zero and at most 100 m, or the reach is none.
  HPAN_CONTACT_BAD_SIZE = 5,
  // The rows of the orientation are not unit vectors at right angles, to 0.001.
  HPAN_CONTACT_SKEWED = 6,
  // The orientation is that of a mirror: its axes have another name.
  HPAN_CONTACT_MIRRORED = 7,
  // The axle points along down, to 10 degrees: there is no contact patch.
  HPAN_CONTACT_LYING = 8,
  // The down vector is zero or not finite.
  HPAN_CONTACT_BAD_DOWN = 9,
  // The velocity is not finite, or the time is above one second.
  HPAN_CONTACT_BAD_MOTION = 10,
  // A weight is negative, all weights are zero, or a number of a point is not finite.
  HPAN_CONTACT_BAD_POINTS = 11,
  // The compatible form has ten points at most.
  HPAN_CONTACT_TOO_MANY_POINTS = 12,
  // The point names a group that is not given.
  HPAN_CONTACT_NO_GROUP = 13,
  // Strips: too many triangles lie below the tread, the tyre reaches into two sheets, or the image has precedence.
  HPAN_CONTACT_LIMIT_REACHED = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_contact_status hpan_contact_status;
#else
typedef uint8_t hpan_contact_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Axes of a world and of a body, of `hpan_body.axes`; answers are in the axes of their question.
enum hpan_axes
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Forward, left, up in both: ISO 8855.
  HPAN_AXES_ISO8855 = 0,
  // World east, north, up; body forward, left, up: the same numbers as ISO 8855.
  HPAN_AXES_ENU = 1,
  // World north, east, down; body forward, right, down.
  HPAN_AXES_NED = 2,
  // x, up, right of x; right-handed. To ISO 8855: (x, -z, y).
  HPAN_AXES_Y_UP = 3,
  // Left, up, back; left-handed. To ISO 8855: (-z, x, y).
  HPAN_AXES_RFACTOR = 4,
  // Forward, right, up; left-handed. To ISO 8855: (x, -y, z).
  HPAN_AXES_ISO_Y_RIGHT = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_axes hpan_axes;
#else
typedef uint32_t hpan_axes;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a step of the sensor is not one.
enum hpan_sensor_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It is one.
  HPAN_SENSOR_FINE = 0,
  // A number is not finite.
  HPAN_SENSOR_NOT_FINITE = 1,
  // The rows of the orientation are not unit vectors at right angles, to 0.001.
  HPAN_SENSOR_SKEWED = 2,
  // The orientation is that of a mirror.
  HPAN_SENSOR_MIRRORED = 3,
  // A distance is set to come with each step, and did not.
  HPAN_SENSOR_MISSING = 4,
  // A distance is set to be constant, and came with the step.
  HPAN_SENSOR_NOT_EXPECTED = 5,
  // An enabled trace does not run forwards, or is longer than 2 km.
  HPAN_SENSOR_BAD_LENGTH = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hpan_sensor_status hpan_sensor_status;
#else
typedef uint8_t hpan_sensor_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Remembers the last place of one wheel; it changes no answer of an image that verifies.
typedef struct hpan_cursor hpan_cursor;

// Surfaces in order: the first that has ground answers; where none has, the last does, with its defaults.
typedef struct hpan_stack hpan_stack;

// Proves an image in slices. It needs the image's bytes, not the view.
typedef struct hpan_verifier hpan_verifier;

// An image that was opened. It borrows the image's bytes: they stay where they are, unchanged, until it is closed.
typedef struct hpan_view hpan_view;

// Counted work of one query.
typedef struct hpan_cost {
  // Directory, page and nodes read.
  uint32_t nodes;
  // Leaves read.
  uint32_t leaves;
  // Triangle tests and interpolations.
  uint32_t tests;
  // 64-byte lines of cell words and leaves, beyond root and nodes.
  uint32_t lines;
} hpan_cost;

// What an image says of itself.
typedef struct hpan_facts {
  // Length of the image in bytes.
  uint64_t image_bytes;
  // Triangles of the ground.
  uint64_t triangles;
  // log2 of the plan step in metres.
  int32_t xy_log2;
  // log2 of the height step in metres.
  int32_t z_log2;
  // Number of tiles; a bitmap of damage has a bit for each.
  uint32_t tiles;
  // Number of materials.
  uint32_t materials;
  // Number of sources.
  uint32_t sources;
  // Most layers over any place, an upper bound.
  uint32_t max_layers;
  // Stated worst cost of any vertical query.
  struct hpan_cost bound;
  // How many of its tests may be of wide bundles, which take many times as long.
  uint32_t wide_tests;
  // Error against the source in plan, metres.
  double error_plan;
  // Error against the source in height, metres.
  double error_height;
  // Height where there is no ground, if the fall-back is the default height: metres.
  double default_z;
  // Friction where there is no ground.
  double default_mu;
  // Rolling resistance where there is no ground, as a factor.
  double default_rolling;
  // Gain where there is no ground, as a factor.
  double default_gain;
} hpan_facts;

// How a search goes; the image's own by `hpan_get_options`.
typedef struct hpan_options {
  // Half length of the near segment, in 2^-8 of the height step (`hpan_steps` converts metres); 0 or more.
  int64_t near_steps;
  // Length of each far segment, in 2^-8 of the height step; 0 or more.
  int64_t far_steps;
  // One of `hpan_fallback`.
  uint32_t fallback;
} hpan_options;

// What is known of a material.
typedef struct hpan_material {
  // Friction.
  double mu;
  // Rolling resistance, as a factor.
  double rolling;
  // Gain, as a factor.
  double gain;
  // Cone index in PSI; zero if not stated.
  double cone_index;
  // Class bits for masks.
  uint32_t class_mask;
  // Label for sensors.
  uint32_t label;
  // Which of coincident surfaces stayed: the highest.
  int32_t priority;
  // Surface type: 0 dry pavement, 1 wet, 2 grass, 3 dirt, 4 gravel, 5 rumble strip, 16 ice, 17 snow, 18 clay, 19
  // sand, or another number of the user's.
  uint16_t surface;
  // 1 for an obstacle, else 0.
  uint8_t obstacle;
} hpan_material;

// A position on the query grid of one image: integers, from the zero of the source's frame.
typedef struct hpan_point {
  // East, in 2^-8 of the plan step; INT64_MIN in all three is the position of no place.
  int64_t x;
  // North, in 2^-8 of the plan step.
  int64_t y;
  // Up, in 2^-8 of the height step.
  int64_t z;
} hpan_point;

// The ground at one place, in integers: `hpan_z_f64` and its kin make metres of it.
typedef struct hpan_hit {
  // Height in 2^-8 of the height step, from the zero of the source's frame.
  int64_t z;
  // The upward normal in lattice units, east, north and up; up is above zero.
  int64_t normal[3];
  // Where the surface lies in the image: for comparisons, its meaning may change.
  uint32_t place[3];
  // Number of the material; 65535 where there is no ground.
  uint16_t material;
  // Number of the source; 65535 where there is no ground.
  uint16_t source;
  // One of `hpan_leaf`.
  uint8_t leaf;
  // One of `hpan_reach`.
  uint8_t reach;
} hpan_hit;

// A status and a hit that is always filled: by the ground, or by the fall-back.
typedef struct hpan_answer {
  // The ground, or the fall-back.
  struct hpan_hit hit;
  // One of `hpan_status`.
  uint8_t status;
} hpan_answer;

// The ground at one place in metres, as vehicle solvers take it.
typedef struct hpan_ground {
  // Height in metres.
  double z;
  // Metres of height a metre east.
  double dzdx;
  // Metres of height a metre north.
  double dzdy;
  // Friction.
  double mu;
  // Rolling resistance, as a factor.
  double rolling;
  // Gain, as a factor.
  double gain;
} hpan_ground;

// A step of a search, for `hpan_explain`.
typedef struct hpan_trace {
  // One of `hpan_trace_kind`; it says which of the others count, which are zero else.
  uint32_t kind;
  // `HPAN_TRACE_NODE`: log2 of an entry's side in plan steps.
  uint32_t log2;
  // `HPAN_TRACE_WORDS`: bundles and patches that may cover the place.
  uint32_t words;
  // `HPAN_TRACE_WORDS`, `HPAN_TRACE_LEAF`, `HPAN_TRACE_LONG`: 64-byte lines.
  uint32_t lines;
  // `HPAN_TRACE_LEAF`, `HPAN_TRACE_TEST`, `HPAN_TRACE_LONG`: which leaf, in units of its size from the start.
  uint64_t record;
  // `HPAN_TRACE_TEST`: the triangle.
  uint32_t part;
  // `HPAN_TRACE_TEST`: 1 if the triangle covers the place.
  uint32_t covered;
  // `HPAN_TRACE_CANDIDATE`: the surface.
  struct hpan_hit hit;
} hpan_trace;

// How many heights lie over a place.
typedef struct hpan_layers_found {
  // One of `hpan_status`: `HPAN_FOUND` if there is at least one.
  uint8_t status;
  // How many were written, highest first.
  size_t written;
  // How many there are; more than `written` if there was too little room.
  size_t total;
} hpan_layers_found;

// A ray in metres.
typedef struct hpan_ray {
  // Where it starts.
  double origin[3];
  // Where it goes; of any length.
  double direction[3];
  // How far: above zero, at most 2,000.
  double length;
} hpan_ray;

// What a ray sees; all zero is everything that the image holds, without a limit.
typedef struct hpan_ray_options {
  // Bits of `hpan_kind`; zero: whatever the image holds. What is named and not held is answered
  // `HPAN_RAY_NOT_STORED`.
  uint32_t kinds;
  // Materials that have one of these bits in their mask; zero: every material.
  uint32_t classes;
  // `HPAN_RAY_FRONT_ONLY`, `HPAN_RAY_AFTER`.
  uint32_t flags;
  // Most triangles and cells of height fields that are tested; zero: no limit.
  uint32_t limit;
  // With `HPAN_RAY_AFTER`: only what lies behind this part of the way counts. `t` of a hit gives the next one.
  double after;
} hpan_ray_options;

// What a ray met, in metres.
typedef struct hpan_ray_answer {
  // The part of the way up to it; without a hit, the part that was searched: one if all was.
  double t;
  // The place there.
  double at[3];
  // The unit normal of the face's front; up without a hit.
  double normal[3];
  // Where the surface lies in the image: for comparisons, its meaning may change.
  uint32_t place[3];
  // Number of the material; 65535 without a hit.
  uint16_t material;
  // Number of the source; 65535 without a hit.
  uint16_t source;
  // One of `hpan_ray_status`.
  uint8_t status;
  // One of `hpan_kind`.
  uint8_t kind;
  // One of `hpan_leaf`.
  uint8_t leaf;
  // 1 if it was met from behind.
  uint8_t back;
  // 1 if the ray starts on it.
  uint8_t at_start;
} hpan_ray_answer;

// The ground at a place, and the room above it.
typedef struct hpan_clearance_found {
  // The ground, as `hpan_closest` finds it.
  struct hpan_answer ground;
  // The first surface above it.
  struct hpan_ray_answer above;
  // The free height in metres; not a number without ground, or where nothing is above it.
  double free;
} hpan_clearance_found;

// A tyre, and how it looks for ground.
typedef struct hpan_tyre {
  // Radius without load, in metres.
  double radius;
  // Width, in metres.
  double width;
  // How far above its centre ground is looked for, in metres. Both zero: half a radius, and a radius and 2 m.
  double reach_above;
  // How far below its centre.
  double reach_below;
  // 16, 64 or 256: the volume of the cylinder by so many columns. Zero: by points, or by strips.
  uint32_t columns;
  // The volume by triangles, so many at most; with `columns` zero. Zero: by points. `HPAN_STRIPS` suits most tyres.
  uint32_t strips;
} hpan_tyre;

// A place of a wheel that looks for ground.
typedef struct hpan_contact_point {
  // Where, from the wheel's centre, without its spin, in the axes of the body: in metres.
  double at[3];
  // How much it counts: zero or more.
  double weight;
} hpan_contact_point;

// Where a wheel or a chassis is, and how it moves.
typedef struct hpan_body {
  // The centre in the world, in metres.
  double centre[3];
  // Rows of the matrix that takes places of the body to the world's.
  double ori[3][3];
  // Down in the world, of any length; of wheels alone.
  double down[3];
  // Velocity in the world, in metres a second.
  double velocity[3];
  // How far ahead, in seconds: at most one.
  double dt;
  // `HPAN_DOWN_VALID`, `HPAN_VELOCITY_VALID`, `HPAN_EXTRAPOLATE`.
  uint32_t flags;
  // One of `hpan_axes`.
  uint32_t axes;
} hpan_body;

// What a wheel stands on, in the axes of the question, metres.
typedef struct hpan_contact_found {
  // Height of the ground: of points the weighted mean; of a cylinder that of level ground with the same volume below
  // it.
  double height;
  // Weighted mean of the unit normals.
  double normal[3];
  // Unit normal of the plane that fits the samples best; it goes through the patch centre.
  double plane[3];
  // Weighted mean of the places on the ground.
  double patch_centre[3];
  // How deep the tyre reaches below the ground in the plane of the wheel; below zero: how far it is above.
  double penetration;
  // From the centre to the ground along the wheel's own down.
  double loaded_radius;
  // Volume below the ground, in cubic metres, of strips that of level ground; zero of points.
  double volume;
  // Weighted mean of the friction.
  double mu;
  // Weighted mean of the rolling resistance.
  double rolling;
  // Weighted mean of the gain.
  double gain;
  // Part of the weight that found ground.
  double coverage;
  // Part of that which is of height fields.
  double hd_share;
  // Stated error of the image's heights; of columns also what one column changes as it crosses the highest step
  // below the tread, of strips how far they are from the round tread.
  double error;
  // What it cost.
  struct hpan_cost cost;
  // Where the heaviest sample of the surface type lies in the image: for comparisons.
  uint32_t place[3];
  // The surface type of most weight; of equal ones the lowest.
  uint16_t surface;
  // Number of the material of the heaviest sample of that type; 65535 without ground.
  uint16_t material;
  // Number of its source.
  uint16_t source;
  // One of `hpan_contact_status`; all else is zero unless it is `HPAN_CONTACT_FOUND`.
  uint8_t status;
  // 1 if the tyre touches the ground, so that there is a patch.
  uint8_t patch_valid;
  // 1 if the plane was fitted; else it is the normal.
  uint8_t plane_fitted;
  // 1 if all of it is of height fields.
  uint8_t is_hd;
  // Zero.
  uint16_t reserved;
} hpan_contact_found;

// Points of a chassis that share an offset and a rotation.
typedef struct hpan_chassis_group {
  // Added to each point after the rotation, in the axes of the body: in metres.
  double offset[3];
  // Rows of the rotation.
  double ori[3][3];
  // Its number.
  uint32_t id;
  // Zero.
  uint32_t reserved;
} hpan_chassis_group;

// A point of a chassis.
typedef struct hpan_chassis_point {
  // Where, in the axes of the body: in metres.
  double at[3];
  // The number of its group; zero needs none, and is the chassis itself.
  uint32_t group;
  // Zero.
  uint32_t reserved;
} hpan_chassis_point;

// The ground below a point of a chassis, in the axes of the question, metres.
typedef struct hpan_chassis_found {
  // The point in the world.
  double point[3];
  // Height of the ground nearest to it, above or below.
  double height;
  // From the point along the chassis' own down to the plane of that ground; below zero: the point is in the ground.
  double local_height;
  // Unit normal of the ground.
  double normal[3];
  // Friction.
  double mu;
  // Rolling resistance.
  double rolling;
  // Gain.
  double gain;
  // What it cost.
  struct hpan_cost cost;
  // Surface type.
  uint16_t surface;
  // Number of the material; 65535 without ground.
  uint16_t material;
  // Number of the source.
  uint16_t source;
  // One of `hpan_contact_status`.
  uint8_t status;
  // 1 if the ground is of a height field.
  uint8_t is_hd;
  // 1 if there is a local height: not where the ground is as steep as the chassis' down.
  uint8_t local_valid;
  // Zero.
  uint8_t reserved[7];
} hpan_chassis_found;

// A wheel of a whole car.
typedef struct hpan_ts_wheel {
  // Where it is.
  struct hpan_body body;
  // Its tyre; radius and width of zero are 0.3 m and 0.25 m.
  struct hpan_tyre tyre;
  // Its points.
  struct hpan_contact_point points[10];
  // How many of them count; zero: the centre.
  uint32_t point_count;
  // Zero.
  uint32_t reserved;
} hpan_ts_wheel;

// A whole car: four wheels, and its chassis.
typedef struct hpan_ts_query {
  // Front left, front right, rear left, rear right.
  struct hpan_ts_wheel wheels[4];
  // The chassis.
  struct hpan_body chassis;
  // Groups of its points.
  struct hpan_chassis_group groups[8];
  // Its points.
  struct hpan_chassis_point points[25];
  // How many groups count.
  uint32_t group_count;
  // How many points count.
  uint32_t point_count;
} hpan_ts_query;

// What a whole car stands on. Values of what has no valid result stay those of the last that was.
typedef struct hpan_ts_result {
  // Of each wheel, held unless `wheel_status` is `HPAN_CONTACT_FOUND`; `patch_centre` also unless `patch_valid`.
  struct hpan_contact_found wheels[4];
  // Of each point of the chassis, held unless `point_status` is `HPAN_CONTACT_FOUND`.
  struct hpan_chassis_found points[25];
  // One of `hpan_contact_status` for each wheel.
  uint8_t wheel_status[4];
  // One of `hpan_contact_status` for each point of the chassis.
  uint8_t point_status[25];
  // Zero.
  uint8_t reserved[3];
  // How many results of this query were not valid.
  uint32_t errors;
  // Zero.
  uint32_t reserved2;
} hpan_ts_result;

// A trace of the terrain sensor.
typedef struct hpan_sensor_trace {
  // How far it ends from the centre, in metres.
  double length;
  // How far against its direction it starts from the centre, in metres.
  double offset;
  // 1 if it is cast, 0 if not.
  uint32_t enabled;
  // Zero.
  uint32_t reserved;
} hpan_sensor_trace;

// The terrain sensor: vehicle, front left, front right, rear left, rear right, in this order everywhere. ISO 8855.
typedef struct hpan_sensor {
  // The traces.
  struct hpan_sensor_trace traces[5];
  // From the vehicle's centre to its front, in metres.
  double vehicle_distance;
  // Radii of the tyres, in metres.
  double tyre_distance[4];
  // Centres of the tyres in the vehicle: forward, left, up, in metres.
  double wheels[4][3];
  // `HPAN_CONSTANT` or `HPAN_EXTERNAL`.
  uint32_t vehicle_setting;
  // `HPAN_CONSTANT` or `HPAN_EXTERNAL`.
  uint32_t tyre_setting;
} hpan_sensor;

// What a step of the sensor brings along.
typedef struct hpan_sensor_input {
  // The vehicle's centre in the world.
  double centre[3];
  // Rows of the matrix that takes places of the vehicle to the world's.
  double ori[3][3];
  // From the vehicle's centre to its front.
  double vehicle_distance;
  // Radii of the tyres.
  double tyre_distance[4];
  // Centres of the tyres in the world; else those of the sensor.
  double wheels[4][3];
  // `HPAN_VEHICLE_DISTANCE`, `HPAN_TYRE_DISTANCE`, `HPAN_WHEELS`.
  uint32_t flags;
  // Zero.
  uint32_t reserved;
} hpan_sensor_input;

// What the sensor saw; all zero unless `sensor` is `HPAN_SENSOR_FINE`.
typedef struct hpan_sensor_found {
  // Where each trace met something; of a miss its end, of a disabled one its centre.
  double hit_location[5][3];
  // Where each trace starts.
  double start[5][3];
  // Where each trace ends.
  double end[5][3];
  // Unit normals of what was met; up without a hit.
  double normal[5][3];
  // From each centre to the location; zero of a disabled trace.
  double distance[5];
  // From the vehicle's front to what is ahead of it: below zero within the vehicle.
  double vehicle_adjusted;
  // From each tyre's tread to what is below it: below zero inside.
  double tyre_adjusted[4];
  // What all of them cost.
  struct hpan_cost cost;
  // Numbers of materials; 65535 without a hit.
  uint16_t material[5];
  // 1 for each trace that met something.
  uint8_t hit[5];
  // One of `hpan_ray_status` for each, or `HPAN_TRACE_DISABLED`.
  uint8_t status[5];
  // One of `hpan_sensor_status`.
  uint8_t sensor;
  // Zero.
  uint8_t reserved[3];
} hpan_sensor_found;

// A function of the user's, shaped as VehicleSim's `terrain_func_t` with doubles: it returns nonzero where it has
// ground.
typedef int (*hpan_surface_function_f64)(double in_x,
                                         double in_y,
                                         double in_z,
                                         double *out_z,
                                         double *out_dzdx,
                                         double *out_dzdy,
                                         double *out_mu,
                                         double *out_rr,
                                         void *userData);

// `hpan_surface_function_f64` with floats.
typedef int (*hpan_surface_function_f32)(float in_x,
                                         float in_y,
                                         float in_z,
                                         float *out_z,
                                         float *out_dzdx,
                                         float *out_dzdy,
                                         float *out_mu,
                                         float *out_rr,
                                         void *userData);

// A surface of a stack: an image, if `view` is not null, else the first function that is not null.
typedef struct hpan_surface {
  // An open view, or null. It stays open until the stack is closed.
  const struct hpan_view *view;
  // A function, or null. In metres; what it does not write is zero.
  hpan_surface_function_f64 function_f64;
  // A function in single precision, or null.
  hpan_surface_function_f32 function_f32;
  // What the function gets back.
  void *userData;
} hpan_surface;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that the library has; a program that finds another than `HPAN_ABI_VERSION` was
// compiled with the header of another library. Threads: any number at a time.
uint32_t hpan_abi_version(void);

// A number of `hpan_error` in words, in English; of any other number, that there is no such error. Never null, never
// freed.
//
// Threads: any number at a time.
const char *hpan_error_text(int32_t error);

// Bytes of memory that a view needs. Threads: any number at a time.
size_t hpan_view_size(void);

// What the address of that memory is a multiple of. Threads: any number at a time.
size_t hpan_view_align(void);

// Opens an image after checking its head: constant time, whatever the image's size; nothing is copied.
//
// `memory` of `size` bytes becomes the view, whose address is written to `view`; null if it fails. `bytes` start at a
// multiple of 128 and may be longer than the image. Content is not looked at: a flipped bit there may give a wrong
// answer. Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_IMAGE_ADDRESS`, `_IMAGE_SHORT`, `_NOT_AN_IMAGE`,
// `_BLANK`, `_TOO_NEW`, `_TOO_OLD`, `_HEAD_DAMAGED`, `_HEAD_INVALID`. Threads: one for each memory.
hpan_error hpan_open(void *memory, size_t size, const void *bytes, size_t length, struct hpan_view **view);

// `hpan_open`, and proves all of the image: checksums, structure, reserved bytes, stated bounds. It takes time by its
// size.
//
// `where` gets the kind of the section, or the number of the tile, that an error of the content speaks of; it may be
// null. Errors: those of `hpan_open`, and `HPAN_ERROR_SECTION_DAMAGED`, `_SECTION_INVALID`, `_PADDING`,
// `_TILE_DAMAGED`, `_TILE_INVALID`, `_BOUND_EXCEEDED`. Threads: one for each memory.
hpan_error hpan_open_verified(void *memory,
                              size_t size,
                              const void *bytes,
                              size_t length,
                              struct hpan_view **view,
                              uint32_t *where);

// Ends a view; its memory, its image and its bitmap are the caller's again.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one, while nobody else uses the view or a verifier of it.
hpan_error hpan_close(struct hpan_view *view);

// Lets queries on tiles whose bit is set answer `HPAN_DAMAGED`: bit i % 8 of byte i / 8 for tile i; those beyond its
// end are sound.
//
// The bitmap is looked at by each query until the view is closed or has another; `length` 0 takes it away. Cursors
// start at the root each time while there is one. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_COUNT`. Threads:
// one, while nobody else uses the view.
hpan_error hpan_set_damage(struct hpan_view *view, const uint8_t *bitmap, size_t length);

// What the image says of itself: numbers, lattice, bounds of cost and error, defaults.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
hpan_error hpan_get_facts(const struct hpan_view *view, struct hpan_facts *facts);

// SHA-256 of the content, 32 bytes: equal for equal ground.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: any number at a time.
hpan_error hpan_get_identity(const struct hpan_view *view, uint8_t *identity);

// Least and greatest coordinates of the ground in metres: three numbers each, east, north, up.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
hpan_error hpan_get_bounds(const struct hpan_view *view, double *low, double *high);

// The windows and the fall-back that the image proposes, to be changed and given to `hpan_closest_with`.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
hpan_error hpan_get_options(const struct hpan_view *view, struct hpan_options *options);

// A material by its number, 0 to `materials` - 1 of `hpan_facts`.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_INDEX`. Threads: any number at a time.
hpan_error hpan_get_material(const struct hpan_view *view, uint32_t index, struct hpan_material *material);

// The name of a material, UTF-8, with a zero behind it, into `name` of `length` bytes.
//
// `needed` gets the bytes that it takes, the zero too; it may be null, and so may `name` if `length` is 0. A name that
// is too long is not written. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_INDEX`, `_ROOM`, `_COUNT`. Threads:
// any number at a time.
hpan_error hpan_get_material_name(const struct hpan_view *view, uint32_t index, char *name, size_t length, size_t *needed);

// The number of the first material of a name, of `length` bytes without a zero behind them.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_INDEX` if there is none of that name.
// Threads: any number at a time.
hpan_error hpan_find_material(const struct hpan_view *view, const char *name, size_t length, uint32_t *index);

// The name of a source, file and object, as `hpan_get_material_name`; 0 to `sources` - 1 of `hpan_facts`.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_INDEX`, `_ROOM`, `_COUNT`. Threads: any number at a time.
hpan_error hpan_get_source_name(const struct hpan_view *view, uint32_t index, char *name, size_t length, size_t *needed);

// A position in metres on the image's query grid, rounded once, half to even: for the functions that end in `_at`.
//
// Any numbers may be given; of what is not finite or too far the point is of no place, which queries answer as they
// answer NaN. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, and `HPAN_ERROR_POSITION` for such a
// point. Threads: any number at a time.
hpan_error hpan_point_f64(const struct hpan_view *view, double x, double y, double z, struct hpan_point *point);

// `hpan_point_f64` of single-precision metres, widened exactly. Errors and threads: as `hpan_point_f64`.
hpan_error hpan_point_f32(const struct hpan_view *view, float x, float y, float z, struct hpan_point *point);

// `hpan_point_f64` of metres in 2^-24. Errors and threads: as `hpan_point_f64`.
hpan_error hpan_point_fixed(const struct hpan_view *view, int64_t x, int64_t y, int64_t z, struct hpan_point *point);

// A height in metres as 2^-8 of the height step, rounded half to even: for `hpan_options` and `hpan_segment_at`.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_POSITION` if it is not finite or too large, and
// then zero is written. Threads: any number at a time.
hpan_error hpan_steps(const struct hpan_view *view, double metres, int64_t *steps);

// Height in metres, rounded to nearest, ties to even.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
hpan_error hpan_z_f64(const struct hpan_view *view, const struct hpan_hit *hit, double *z);

// Height in 2^-24 m, rounded down where the image's heights are finer. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_z_fixed(const struct hpan_view *view, const struct hpan_hit *hit, int64_t *z);

// dz/dx and dz/dy into two numbers, without unit. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_slope_f64(const struct hpan_view *view, const struct hpan_hit *hit, double *slope);

// `hpan_slope_f64` in single precision. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_slope_f32(const struct hpan_view *view, const struct hpan_hit *hit, float *slope);

// The upward unit normal into three numbers: east, north, up. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_normal_f64(const struct hpan_view *view, const struct hpan_hit *hit, double *normal);

// `hpan_normal_f64` in single precision. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_normal_f32(const struct hpan_view *view, const struct hpan_hit *hit, float *normal);

// Friction, rolling resistance and gain into three numbers: of the answer's material, or the defaults where there is
// no ground.
//
// Errors and threads: as `hpan_z_f64`.
hpan_error hpan_surface_f64(const struct hpan_view *view, const struct hpan_answer *answer, double *surface);

// `hpan_surface_f64` in single precision. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_surface_f32(const struct hpan_view *view, const struct hpan_answer *answer, float *surface);

// All of an answer in metres: height, slope, friction, rolling resistance, gain. Errors and threads: as `hpan_z_f64`.
hpan_error hpan_get_ground(const struct hpan_view *view, const struct hpan_answer *answer, struct hpan_ground *ground);

// The ground nearest to a point, straight above or below it: near window first, then far below, then far above.
//
// Metres: x east, y north, z up. Any numbers may be given: what is not finite, or beyond the image, is answered
// `HPAN_NOT_IN_IMAGE`, and the hit is filled by the fall-back. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`,
// `_ALIGNMENT`. Threads: any number at a time.
hpan_error hpan_closest(const struct hpan_view *view, double x, double y, double z, struct hpan_answer *answer);

// `hpan_closest` of single-precision metres, widened exactly. Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_f32(const struct hpan_view *view, float x, float y, float z, struct hpan_answer *answer);

// `hpan_closest` of metres in 2^-24, for cores without doubles. Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_fixed(const struct hpan_view *view, int64_t x, int64_t y, int64_t z, struct hpan_answer *answer);

// `hpan_closest` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_at(const struct hpan_view *view, const struct hpan_point *point, struct hpan_answer *answer);

// `hpan_closest` with windows and fall-back of the caller's.
//
// Errors: as `hpan_closest`, and `HPAN_ERROR_OPTION` for a negative window or an unknown fall-back. Threads: any
// number at a time.
hpan_error hpan_closest_with(const struct hpan_view *view,
                             double x,
                             double y,
                             double z,
                             const struct hpan_options *options,
                             struct hpan_answer *answer);

// `hpan_closest_with` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_with`.
hpan_error hpan_closest_with_at(const struct hpan_view *view,
                                const struct hpan_point *point,
                                const struct hpan_options *options,
                                struct hpan_answer *answer);

// `hpan_closest` and what it cost. Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_costed(const struct hpan_view *view,
                               double x,
                               double y,
                               double z,
                               struct hpan_answer *answer,
                               struct hpan_cost *cost);

// `hpan_closest_costed` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_costed_at(const struct hpan_view *view, const struct hpan_point *point, struct hpan_answer *answer, struct hpan_cost *cost);

// `hpan_closest`, telling every step to `see`, which gets `user` back and must not keep `trace`.
//
// Errors: as `hpan_closest`, and `HPAN_ERROR_NULL` without a function. Threads: any number at a time.
hpan_error hpan_explain(const struct hpan_view *view,
                        double x,
                        double y,
                        double z,
                        void (*see)(struct hpan_trace *trace, void *user),
                        void *user,
                        struct hpan_answer *answer);

// The first ground going down from a point, within the image's far window. Units, errors and threads: as
// `hpan_closest`.
hpan_error hpan_below(const struct hpan_view *view, double x, double y, double z, struct hpan_answer *answer);

// `hpan_below` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
hpan_error hpan_below_at(const struct hpan_view *view, const struct hpan_point *point, struct hpan_answer *answer);

// The first ground going down from a point, at most `length` metres below it; none if that is negative or NaN.
//
// Units, errors and threads: as `hpan_closest`.
hpan_error hpan_segment(const struct hpan_view *view, double x, double y, double z, double length, struct hpan_answer *answer);

// `hpan_segment` of a point of `hpan_point_f64` or its kin and a length in 2^-8 of the height step (`hpan_steps`).
//
// Errors and threads: as `hpan_closest`.
hpan_error hpan_segment_at(const struct hpan_view *view, const struct hpan_point *point, int64_t length, struct hpan_answer *answer);

// All ground heights over a place, x and y in metres, highest first, into `hits` of `room` elements.
//
// If that is too little it holds the highest, and `found` says how many there are. `hits` may be null if `room` is 0.
// Errors: as `hpan_closest`, and `HPAN_ERROR_COUNT`. Threads: any number at a time.
hpan_error hpan_layers(const struct hpan_view *view,
                       double x,
                       double y,
                       struct hpan_hit *hits,
                       size_t room,
                       struct hpan_layers_found *found);

// `hpan_layers` of a point of `hpan_point_f64` or its kin, whose height does not matter. Errors and threads: as
// `hpan_layers`.
hpan_error hpan_layers_at(const struct hpan_view *view,
                          const struct hpan_point *point,
                          struct hpan_hit *hits,
                          size_t room,
                          struct hpan_layers_found *found);

// `hpan_closest` for many points, x, y, z of each in metres: the same answers, faster, for their cache misses overlap.
//
// `points` has 3 x `count` numbers and `answers` room for `count`; they must not overlap, and may be null if `count`
// is 0. Errors: as `hpan_closest`, and `HPAN_ERROR_COUNT` for 2^31 or more. Threads: any number at a time.
hpan_error hpan_closest_batch(const struct hpan_view *view, const double *points, size_t count, struct hpan_answer *answers);

// `hpan_closest_batch` of single-precision metres. Errors and threads: as `hpan_closest_batch`.
hpan_error hpan_closest_batch_f32(const struct hpan_view *view, const float *points, size_t count, struct hpan_answer *answers);

// `hpan_closest_batch` of points of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_batch`.
hpan_error hpan_closest_batch_at(const struct hpan_view *view, const struct hpan_point *points, size_t count, struct hpan_answer *answers);

// The first surface that a ray meets, in any direction: ground from above and below, ceilings and obstacles.
//
// Any numbers may be given: a ray without length, with a number that is not finite, or longer than 2 km has its own
// status. Rays through edges and corners never pass between triangles. `options` may be null: everything that the
// image holds. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_OPTION` for unknown bits. Threads: any
// number at a time.
hpan_error hpan_raycast(const struct hpan_view *view, const struct hpan_ray *ray, const struct hpan_ray_options *options, struct hpan_ray_answer *answer);

// `hpan_raycast` for many rays; `rays` and `answers` must not overlap, and may be null if `count` is 0.
//
// Errors: as `hpan_raycast`, and `HPAN_ERROR_COUNT` for 2^31 or more. Threads: any number at a time.
hpan_error hpan_rays(const struct hpan_view *view,
                     const struct hpan_ray *rays,
                     size_t count,
                     const struct hpan_ray_options *options,
                     struct hpan_ray_answer *answers);

// The ground nearest to a point, as `hpan_closest` finds it, and the room above it. Errors and threads: as
// `hpan_closest`.
hpan_error hpan_clearance(const struct hpan_view *view, double x, double y, double z, struct hpan_clearance_found *clearance);

// `hpan_closest` of ground whose material has one of these class bits; zero asks for none in particular.
//
// Errors and threads: as `hpan_closest`.
hpan_error hpan_closest_of(const struct hpan_view *view, double x, double y, double z, uint32_t classes, struct hpan_answer *answer);

// What a wheel stands on: weighted points, at most 64, or the volume of its cylinder; without points, the centre.
//
// Any numbers may be given: what cannot be asked has a status of `hpan_contact_status`. `points` may be null if
// `count` is 0. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_OPTION` for unknown flags,
// axes, columns or strips. Threads: any number at a time.
hpan_error hpan_contact(const struct hpan_view *view,
                        const struct hpan_tyre *tyre,
                        const struct hpan_contact_point *points,
                        size_t count,
                        const struct hpan_body *body,
                        struct hpan_contact_found *contact);

// The ground nearest to each point of a chassis, of `count` points, into as many `found`; groups may be none.
//
// A point lies at `centre + ori * (offset + group's ori * at)`. One with a status of its own stops no other.
// `HPAN_DOWN_VALID` has no use. Errors: as `hpan_contact`. Threads: any number at a time.
hpan_error hpan_chassis(const struct hpan_view *view,
                        const struct hpan_body *body,
                        const struct hpan_chassis_group *groups,
                        size_t group_count,
                        const struct hpan_chassis_point *points,
                        size_t count,
                        struct hpan_chassis_found *found);

// What a whole car stands on, in one call. `result` is kept from call to call, zero at first: values without a valid
// result are held.
//
// More points than there is room for are a status of the wheel, `HPAN_CONTACT_TOO_MANY_POINTS`; of the chassis
// `HPAN_ERROR_COUNT`. Errors: as `hpan_contact`. Threads: any number at a time, each with its own result.
hpan_error hpan_ts_ask(const struct hpan_view *view, const struct hpan_ts_query *query, struct hpan_ts_result *result);

// A sensor with the values that `docs/sensor.md` of the kernel states. Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`.
// Threads: any number.
hpan_error hpan_sensor_defaults(struct hpan_sensor *sensor);

// One step of the terrain sensor. A step that is none has a status in `found`.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_OPTION` for unknown flags, settings or switches.
// Threads: any number at a time.
hpan_error hpan_sensor_step(const struct hpan_view *view,
                            const struct hpan_sensor *sensor,
                            const struct hpan_sensor_input *input,
                            struct hpan_sensor_found *found);

// The most that a ray of so many metres costs on this image, in any direction and at any place.
//
// `kinds` as in `hpan_ray_options`: that of the ground alone, or zero, or others, which have the same bound. All zero
// if the image states nothing, or no ray has that length. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`,
// `_ALIGNMENT`; `_OPTION` for unknown kinds. Threads: any number at a time.
hpan_error hpan_ray_bound(const struct hpan_view *view, double length, uint32_t kinds, struct hpan_cost *bound);

// The most that `hpan_contact` costs with this tyre and so many points, at any place and however the wheel stands.
//
// All zero if the image states nothing, as of strips, or there is no such tyre. Errors: `HPAN_ERROR_NULL`, `_HANDLE`,
// `_CLOSED`, `_ALIGNMENT`; `_COUNT` for more than 64 points, `_OPTION` for unknown columns. Threads: any number at a
// time.
hpan_error hpan_contact_bound(const struct hpan_view *view, const struct hpan_tyre *tyre, size_t count, struct hpan_cost *bound);

// Bytes of memory that a cursor needs. Threads: any number at a time.
size_t hpan_cursor_size(void);

// What the address of that memory is a multiple of. Threads: any number at a time.
size_t hpan_cursor_align(void);

// Makes a cursor of `memory` of `size` bytes; its address is written to `cursor`, null if it fails. One for each
// wheel.
//
// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`. Threads: one for each memory.
hpan_error hpan_cursor_start(void *memory, size_t size, struct hpan_cursor **cursor);

// Ends a cursor; its memory is the caller's again. A cursor may outlive the views that it was used with.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each cursor.
hpan_error hpan_cursor_close(struct hpan_cursor *cursor);

// `hpan_closest` for points that lie close to each other: the same answers, faster.
//
// Units and errors: as `hpan_closest`. Threads: any number at a time for a view, one for a cursor.
hpan_error hpan_closest_cursor(const struct hpan_view *view,
                               struct hpan_cursor *cursor,
                               double x,
                               double y,
                               double z,
                               struct hpan_answer *answer);

// `hpan_closest_cursor` of single-precision metres. Errors and threads: as `hpan_closest_cursor`.
hpan_error hpan_closest_cursor_f32(const struct hpan_view *view,
                                   struct hpan_cursor *cursor,
                                   float x,
                                   float y,
                                   float z,
                                   struct hpan_answer *answer);

// `hpan_closest_cursor` of metres in 2^-24. Errors and threads: as `hpan_closest_cursor`.
hpan_error hpan_closest_cursor_fixed(const struct hpan_view *view,
                                     struct hpan_cursor *cursor,
                                     int64_t x,
                                     int64_t y,
                                     int64_t z,
                                     struct hpan_answer *answer);

// `hpan_closest_cursor` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_cursor`.
hpan_error hpan_closest_cursor_at(const struct hpan_view *view,
                                  struct hpan_cursor *cursor,
                                  const struct hpan_point *point,
                                  struct hpan_answer *answer);

// Bytes of memory that a verifier needs. Threads: any number at a time.
size_t hpan_verifier_size(void);

// What the address of that memory is a multiple of. Threads: any number at a time.
size_t hpan_verifier_align(void);

// Makes a verifier of `memory` of `size` bytes; its address is written to `verifier`, null if it fails.
//
// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_HANDLE`, `_CLOSED`. Threads: one for each memory.
hpan_error hpan_verifier_start(void *memory, size_t size, const struct hpan_view *view, struct hpan_verifier **verifier);

// Ends a verifier; its memory is the caller's again.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each verifier.
hpan_error hpan_verifier_close(struct hpan_verifier *verifier);

// Checks about `max_bytes` more; the first step takes all sections but the tiles, whatever its limit.
//
// `done` gets 1 when everything was looked at, else 0. Damaged tiles are marked in `bitmap` of `length` bytes, a bit
// for each tile, and no bit is cleared; the first error comes at the end. With `length` 0, where `bitmap` may be null,
// the first damaged tile ends it. What is wrong outside the tiles comes at once, with `done` 0, and again at the end:
// go on to look at the tiles. `where` gets the kind of the section, or the number of the tile, that an error speaks
// of; it may be null. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_HEAD_DAMAGED`,
// `_HEAD_INVALID`, `_SECTION_DAMAGED`, `_SECTION_INVALID`, `_PADDING`, `_TILE_DAMAGED`, `_TILE_INVALID`,
// `_BOUND_EXCEEDED`. Threads: one at a time for each verifier, and none that asks a view with this bitmap.
hpan_error hpan_verifier_step(struct hpan_verifier *verifier,
                              size_t max_bytes,
                              uint8_t *bitmap,
                              size_t length,
                              uint8_t *done,
                              uint32_t *where);

// The sections whose bytes do not match their checksums, known after the first step: bit k for kind k, bit 0 for the
// head, bit 31 for all kinds from 31 on.
//
// Kinds: 1 materials, 2 names, 3 sources, 4 directory, 5 pages, 6 table of tiles, 7 tiles, 8 provenance; others are
// not understood. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: one at a time for each
// verifier.
hpan_error hpan_verifier_damaged_sections(const struct hpan_verifier *verifier, uint32_t *sections);

// Whether answers can be relied on, those that say `HPAN_DAMAGED` apart: 1 or 0; 0 before the first step.
//
// It is 1, too, where every tile is damaged and so is every answer: the bitmap says how many are.
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each verifier.
hpan_error hpan_verifier_usable(const struct hpan_verifier *verifier, uint8_t *usable);

// Bytes of memory that a stack needs. Threads: any number at a time.
size_t hpan_stack_size(void);

// What the address of that memory is a multiple of. Threads: any number at a time.
size_t hpan_stack_align(void);

// Makes a stack of 1 to `HPAN_STACK_MOST` surfaces, which are copied; its address is written to `stack`, null if it
// fails.
//
// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_COUNT`; `_HANDLE` or `_CLOSED` of a view; `_INDEX` if a surface
// is neither a view nor a function. Threads: one for each memory.
hpan_error hpan_stack_start(void *memory,
                            size_t size,
                            const struct hpan_surface *surfaces,
                            size_t count,
                            struct hpan_stack **stack);

// Ends a stack; its memory, and the views that it had, are the caller's again.
//
// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one, while nobody else uses the stack.
hpan_error hpan_stack_close(struct hpan_stack *stack);

// VehicleSim's terrain callback with doubles: the nearest ground straight above or below, in metres. `userData` is an
// open view or stack.
//
// Returns 1 where there is ground, else 0. All outputs are written either way: without ground the height of the
// fall-back, no slope, and the image's default friction and rolling resistance; if `userData` is neither, all zero. An
// output that is null is left out. Threads: any number at a time.
int hpan_vs_terrain_func_f64(double in_x,
                             double in_y,
                             double in_z,
                             double *out_z,
                             double *out_dzdx,
                             double *out_dzdy,
                             double *out_mu,
                             double *out_rr,
                             void *userData);

// `hpan_vs_terrain_func_f64` with floats: positions are widened exactly, outputs rounded once. Threads: any number at
// a time.
int hpan_vs_terrain_func_f32(float in_x,
                             float in_y,
                             float in_z,
                             float *out_z,
                             float *out_dzdx,
                             float *out_dzdy,
                             float *out_mu,
                             float *out_rr,
                             void *userData);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HARDPAN_H */
