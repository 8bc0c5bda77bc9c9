//! The functions of VsTerrain.h, from programs in C and in Python.
