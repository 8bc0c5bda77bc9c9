#!/usr/bin/env python3
"""Bars of the Python package: tests/benches/python.py [--points N] [--times N]

Needs the package (pip install ./builder/python), the peer (pip install trimesh embreex), and the same question in Rust
(cargo build --release -p hardpan --example points; its place in HARDPAN_POINTS, or target/release/examples/points).
Each time is the processor's, a median of so many, taken in turns, in one thread; answers are compared before.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import hardpan

ROOT = pathlib.Path(__file__).parents[2]
POINTS = os.environ.get("HARDPAN_POINTS", ROOT / "target/release/examples/points")
WHEEL_MB, IMPORT_MS, RUST, PEER = 6, 20, 1.2, 10


def noise(x, y, table):
    """Smooth noise with features of size one."""
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = (t * t * (3 - 2 * t) for t in (x - i, y - j))
    rows = [table[i, j + b] * (1 - u) + table[i + 1, j + b] * u for b in (0, 1)]
    return rows[0] * (1 - v) + rows[1] * v


def hills(columns=800, rows=625, size=2000.0):
    """A million triangles of hills, by the formula of the other benchmarks but for the dice; rounded to f32 for the peer."""
    x, y = np.meshgrid(np.linspace(0, size, columns + 1), np.linspace(0, size, rows + 1))
    table = np.random.default_rng(77).uniform(-1, 1, (1300, 1300))
    z = 20 * np.sin(x / 310) * np.cos(y / 270)
    for height, side in ((5, 60), (1, 12), (0.05, 1.7)):
        z += height * noise(x / side, y / side, table)
    vertices = np.stack([x - size / 2, y - size / 2, z], -1).reshape(-1, 3).astype(np.float32).astype(np.float64)
    at = np.arange(x.size).reshape(x.shape)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]
    return vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def timed(ask):
    """Seconds of processor time."""
    began = time.process_time()
    ask()
    return time.process_time() - began


def import_ms(times):
    """What `import hardpan` takes once numpy is there."""
    code = "import numpy, time; t = time.process_time(); import hardpan; print(time.process_time() - t)"
    run = lambda: float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    return 1000 * statistics.median(run() for _ in range(times))


def wheel_mb():
    """Size of the wheel that was built last, if it is there."""
    folders = [ROOT / "target", *ROOT.glob("target/*/")]
    wheels = [wheel for folder in folders for wheel in folder.glob("wheels/hardpan-*.whl")]
    return max(wheels, key=lambda w: w.stat().st_mtime).stat().st_size / 1e6 if wheels else None


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--points", type=int, default=1_000_000)
    args.add_argument("--times", type=int, default=7)
    args = args.parse_args()
    vertices, faces = hills()
    image = hardpan.build(vertices, faces).image
    random = np.random.default_rng(1)
    points = random.uniform([-999, -999, -30], [999, 999, 30], (args.points, 3))
    x, y, z = np.ascontiguousarray(points.T)
    import trimesh
    from trimesh.ray.ray_pyembree import RayMeshIntersector

    mesh = trimesh.Trimesh(vertices, faces, process=False)
    ray = RayMeshIntersector(mesh)
    tops, down = np.column_stack([x, y, np.full(len(x), 100.0)]), np.broadcast_to([0.0, 0.0, -1.0], (len(x), 3))

    def peer():
        where, which, _ = ray.intersects_location(tops, down, multiple_hits=False)
        heights = np.full(len(x), np.nan)
        heights[which] = where[:, 2]
        return heights

    with tempfile.TemporaryDirectory() as folder:
        image.save(pathlib.Path(folder) / "image")
        points.tofile(pathlib.Path(folder) / "points")

        def whole(times):
            """Seconds of processor time of all that the program does, with so many batches."""
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([POINTS, "image", "points", "answers", str(times)], cwd=folder, check=True, capture_output=True)
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

        def rust():
            return (whole(11) - whole(1)) / 10

        whole(1)
        floats = [(f"f{i}", "<f8") for i in range(9)]
        answers = np.fromfile(pathlib.Path(folder) / "answers", dtype=[*floats, ("material", "<u2"), ("source", "<u2")])
        ground = image.closest(x, y, z)
        assert ground.z.tobytes() == answers["f0"].tobytes() and ground.found.all(), "Python and Rust differ"
        apart = np.abs(peer() - ground.z)
        assert np.count_nonzero(apart > 0.001) < len(x) / 10_000, f"trimesh differs: {np.nanmax(apart)} m"
        times = {"python": [], "strided": [], "rust": [], "peer": []}
        for _ in range(args.times):
            times["python"].append(timed(lambda: image.closest(x, y, z)))
            times["rust"].append(rust())
            times["strided"].append(timed(lambda: image.closest(*points.T)))
        for _ in range(3):
            times["peer"].append(timed(peer))
    took = {name: statistics.median(values) for name, values in times.items()}
    rows = [
        ("closest, a call from numpy", took["python"], "s", None, None),
        ("the same from columns of one table", took["strided"], "s", None, None),
        ("closest_batch in Rust", took["rust"], "s", None, None),
        ("trimesh with embreex, downward", took["peer"], "s", None, None),
        ("numpy against Rust, times its time", took["python"] / took["rust"], "x", took["python"] / took["rust"] <= RUST, RUST),
        ("trimesh against numpy, times its time", took["peer"] / took["python"], "x", took["peer"] / took["python"] >= PEER, PEER),
        ("import beyond numpy's", (ms := import_ms(15)), "ms", ms <= IMPORT_MS, IMPORT_MS),
    ]
    if (mb := wheel_mb()) is not None:
        rows.append(("wheel", mb, "MB", mb <= WHEEL_MB, WHEEL_MB))
    print(f"{args.points:,} random points on {len(faces):,} triangles; of trimesh's heights 99.9 % lie within "
          f"{np.nanpercentile(apart, 99.9) * 1e3:.3f} mm, {np.isnan(apart).sum()} are missing")
    for name, value, unit, held, bar in rows:
        verdict = "" if bar is None else f"bar {bar} {unit}: {'held' if held else 'MISSED'}"
        print(f"{name:38} {value:8.3f} {unit:3} {verdict}")
    return any(held is False for _, _, _, held, _ in rows)


if __name__ == "__main__":
    sys.exit(main())
