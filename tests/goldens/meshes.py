#!/usr/bin/env python3
"""Records triangles, extents and heights of meshes as trimesh 5.2 reads them.

    meshes.py DATA           writes meshes.csv beside this file
    meshes.py FILE NUMBER    writes so many places of one file to stdout
"""
import os, sys

import numpy as np
import trimesh

FILES = [
    "ply/Wuson.ply", "ply/cube.ply", "ply/cube_binary.ply", "ply/platonic_shelf_ascii.ply",
    "stl/3DSMaxExport.STL", "stl/Spider_binary.stl", "stl/unitree_terrain.STL", "gltf/nav_test.glb",
    "gltf/BoxTextured.gltf",
]


def triangles(path):
    mesh = trimesh.load(path, process=False, force="mesh")
    corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.faces)]
    # glTF has y up
    return corners[..., [0, 2, 1]] * [1, -1, 1] if path.endswith((".glb", ".gltf")) else corners


def heights(t, places):
    """The highest triangle that has each place well within it; NaN near edges, on steep ones, and where there is none."""
    a, b, c = t[:, 0], t[:, 1], t[:, 2]
    cross = lambda p, q, r: (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
    area = cross(a, b, c)
    found = []
    for x, y in places:
        p = np.array([x, y])
        near = (t[..., 0].min(1) <= x) & (t[..., 0].max(1) >= x) & (t[..., 1].min(1) <= y) & (t[..., 1].max(1) >= y)
        near &= area != 0
        u, v, w = cross(b[near], c[near], p), cross(c[near], a[near], p), cross(a[near], b[near], p)
        all = np.stack([u, v, w]) / area[near]
        z = (all * np.stack([a[near][:, 2], b[near][:, 2], c[near][:, 2]])).sum(0)
        inside, doubtful = all.min(0) > 0.02, (all.min(0) > -0.02) & (all.min(0) <= 0.02)
        best = z[inside].max(initial=-np.inf)
        # an edge that may be higher, or a slope on which a quarter of a millimetre counts
        if not inside.any() or (z[doubtful] > best - 0.1).any():
            found.append(np.nan)
            continue
        k = np.flatnonzero(near)[np.flatnonzero(inside)[z[inside].argmax()]]
        n = np.cross(b[k] - a[k], c[k] - a[k])
        found.append(best if abs(n[2]) > 0.5 * np.linalg.norm(n) else np.nan)
    return np.array(found)


def places(t, count):
    low, high = t[..., :2].min((0, 1)), t[..., :2].max((0, 1))
    rng = np.random.default_rng(55)
    kept = []
    while len(kept) < count:
        p = low + (high - low) * rng.random((count, 2))
        kept += [(*q, z) for q, z in zip(p, heights(t, p)) if not np.isnan(z)]
    return kept[:count]


if len(sys.argv) == 3:
    t = triangles(sys.argv[1])
    print("x,y,z")
    for row in places(t, int(sys.argv[2])):
        print(",".join(repr(float(v)) for v in row))
else:
    with open(os.path.join(os.path.dirname(__file__), "meshes.csv"), "w") as out:
        for name in FILES:
            t = triangles(os.path.join(sys.argv[1], name))
            ends = [*t.min((0, 1)), *t.max((0, 1))]
            out.write(",".join([name, str(len(t)), *(repr(float(v)) for v in ends)]) + "\n")
            for row in places(t, 40):
                out.write("," + ",".join(repr(float(v)) for v in row) + "\n")
