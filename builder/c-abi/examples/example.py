"""The terrain of the VS Terrain Library's sample in C, made from Python by ctypes: a flat square kilometre.

    python3 example.py libhpan_vsterrain.so

writes example.vsterrain, example.obj and example.mtl to the folder where it runs.
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_float, c_int, c_void_p


class Point(ctypes.Structure):
    _fields_ = [("x", c_double), ("y", c_double), ("z", c_double)]


Callback = ctypes.CFUNCTYPE(None, c_int, c_void_p)

# what each function gives back, and what it takes: without this ctypes would hand over other types
FUNCTIONS = {
    "vs_terrain_create": (c_void_p, [c_double]),
    "vs_terrain_destroy": (c_bool, [c_void_p]),
    "vs_terrain_add_triangle": (c_bool, [c_void_p, *[POINTER(Point)] * 3, c_float, c_float]),
    "vs_terrain_optimize": (c_bool, [c_void_p, c_double, Callback, c_void_p]),
    "vs_terrain_build": (c_bool, [c_void_p]),
    "vs_terrain_save": (c_bool, [c_void_p, c_char_p]),
    "vs_terrain_output_as_obj": (c_bool, [c_void_p, c_char_p, c_int, c_double, c_bool]),
    "vs_terrain_get_last_error": (c_char_p, [c_void_p]),
}


def load(path):
    library = ctypes.CDLL(path)
    for name, (gives, takes) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = gives, takes
    return library


def main(path):
    library = load(path)
    handle = library.vs_terrain_create(0)

    def call(name, *arguments):
        if not getattr(library, name)(handle, *arguments):
            raise RuntimeError(library.vs_terrain_get_last_error(handle).decode())

    a, b = Point(-500, -500, 0), Point(500, -500, 0)
    c, d = Point(-500, 500, 0), Point(500, 500, 0)
    try:
        call("vs_terrain_add_triangle", byref(a), byref(b), byref(c), 0.85, 1.0)
        call("vs_terrain_add_triangle", byref(c), byref(b), byref(d), 0.85, 1.0)
        call("vs_terrain_optimize", 0.001, Callback(lambda progress, _: print(f"\n{progress}")), None)
        call("vs_terrain_build")
        call("vs_terrain_save", b"example.vsterrain")
        call("vs_terrain_output_as_obj", b"example.obj", 0, 0.0, False)
    finally:
        library.vs_terrain_destroy(handle)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("which library? python3 example.py libhpan_vsterrain.so")
    main(sys.argv[1])
