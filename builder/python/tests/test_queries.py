"""Answers against true heights, and against Rust."""

import os
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import grid, joined

import hardpan
from hardpan import NO_MATERIAL, Leaf, Reach, Status


def inside(n, seed=1):
    """Points of the slope's lattice, with heights about it."""
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 16 * 64 + 1, (2, n)) / 64
    return x, y, random.uniform(-3, 8, n)


def test_heights_slopes_and_normals_of_a_plane(slope):
    x, y, z = inside(10_000)
    ground = slope.closest(x, y, z)
    assert ground.found.all() and len(ground) == 10_000
    assert np.array_equal(ground.z, x / 4 - y / 8)
    assert np.array_equal(ground.slope, np.broadcast_to([0.25, -0.125], (10_000, 2)))
    normal = np.array([-0.25, 0.125, 1.0]) / np.sqrt(1 + 0.25**2 + 0.125**2)
    assert np.allclose(ground.normal, normal, rtol=0, atol=1e-15)
    assert np.array_equal(ground.mu, np.full(10_000, 0.75))
    assert (ground.rolling[0], ground.gain[0], ground.material[0], ground.source[0]) == (1.5, 2.0, 0, 0)
    far = np.abs(z - ground.z) > slope.windows[0]
    assert np.array_equal(ground.reach == Reach.NEAR, ~far) and far.any()


def test_by_18_a_million_points_in_one_call_equal_rust_to_the_bit(rough, tmp_path):
    program = os.environ.get("HARDPAN_POINTS")
    if not program:
        pytest.skip("HARDPAN_POINTS names no program: cargo build --release -p hardpan --example points")
    random = np.random.default_rng(18)
    points = random.uniform([-20, -20, -10], [220, 220, 20], (1_000_000, 3))
    points[:1000, 0] = 77.0 + random.integers(-2, 3, 1000)  # on edges
    points[::10_007, 2] = np.nan
    points[::10_009, 0] = np.inf
    rough.save(tmp_path / "rough.hpan")
    points.tofile(tmp_path / "points")
    subprocess.run([program, "rough.hpan", "points", "answers"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    floats = [(name, "<f8", shape) for name, shape in
              (("z", ()), ("slope", 2), ("normal", 3), ("mu", ()), ("rolling", ()), ("gain", ()))]
    rust = np.fromfile(tmp_path / "answers", dtype=[*floats, ("material", "<u2"), ("source", "<u2")])
    ground = rough.closest(points[:, 0], points[:, 1], points[:, 2])
    assert len(rust) == len(ground) == 1_000_000
    for name in rust.dtype.names:
        assert getattr(ground, name).tobytes() == rust[name].tobytes(), name
    # of all kinds there are some
    assert set(np.unique(ground.material)) == {0, 1, 2, NO_MATERIAL}
    assert set(np.unique(ground.status)) == {Status.FOUND, Status.NO_GROUND, Status.NOT_IN_IMAGE}
    with hardpan.open(tmp_path / "rough.hpan", map=True) as mapped:
        assert mapped.closest(points[:, 0], points[:, 1], points[:, 2]).z.tobytes() == ground.z.tobytes()


def test_shapes_are_broadcast_and_kinds_of_numbers_are_one(slope):
    x, y, z = (v[:24].round() for v in inside(24))
    flat = slope.closest(x, y, z)
    table = np.stack([x, y, z], axis=1)  # its columns have gaps
    for ask in [
        (table[:, 0], table[:, 1], table[:, 2]),
        (x.astype(np.float32), y.astype(np.float16), z.astype(np.int8)),
        (list(x), tuple(y), z.astype(np.uint64) if (z >= 0).all() else z.astype(np.int64)),
    ]:
        assert np.array_equal(slope.closest(*ask).z, flat.z)
    square = slope.closest(x.reshape(4, 6).T, y.reshape(4, 6).T, z.reshape(4, 6).T)
    assert square.z.shape == (6, 4) and square.normal.shape == (6, 4, 3) and square.slope.shape == (6, 4, 2)
    assert np.array_equal(square.z, flat.z.reshape(4, 6).T)
    crossed = slope.closest(x[:, None], y[None, :], 0)
    assert np.array_equal(crossed.z, x[:, None] / 4 - y[None, :] / 8)
    one = slope.closest(4, 8.0, 0)
    assert one.z.shape == () and float(one.z) == 0.0 and one.normal.shape == (3,)
    none = slope.closest([], [], [])
    assert len(none) == 0 and none.normal.shape == (0, 3) and none.mu.shape == (0,)


@pytest.mark.parametrize("place", [(np.nan, 1, 1), (1, np.nan, 1), (1, 1, np.nan), (np.inf, 1, 1), (1, 1, -np.inf), (1e300, 1, 1)])
def test_nan_and_far_places_are_not_in_the_image(slope, place):
    for ground in (slope.closest(*place), slope.below(*place), slope.segment(*place, 1.0)):
        assert ground.status == Status.NOT_IN_IMAGE and not ground.found
        assert ground.material == ground.source == NO_MATERIAL and ground.reach == Reach.FALLBACK
        assert ground.z == -2.0  # the least height of the ground
        assert (ground.mu, ground.rolling, ground.gain) == (0.125, 3.0, 5.0)
        assert np.array_equal(ground.normal, [0, 0, 1])


def test_layers_of_places_that_are_none(slope):
    layers = slope.layers([np.nan, np.inf, 1e300, 1], [1, 1, 1, 1])
    assert list(layers.count) == [0, 0, 0, 1] and list(layers.status) == [2, 2, 2, 0]


def test_points_in_one_array_are_those_of_three(rough):
    points = np.random.default_rng(9).uniform([-5, -5, -3], [205, 205, 12], (5000, 3))
    x, y, z = points.T
    cursors = rough.cursor(5000), rough.cursor(5000)
    for one, three in [
        (rough.closest(points), rough.closest(x, y, z)),
        (rough.closest(points, near=1.0, far=3.0), rough.closest(x, y, z, near=1.0, far=3.0)),
        (rough.below(points.astype(np.float32)), rough.below(*points.astype(np.float32).T)),
        (rough.segment(points, length=2.0), rough.segment(x, y, z, 2.0)),
        (rough.segment(points, length=x), rough.segment(x, y, z, x)),
        (rough.layers(points), rough.layers(x, y)),
        (rough.layers(points[:, :2]), rough.layers(x, y)),
        (cursors[0].closest(points), cursors[1].closest(x, y, z)),
    ]:
        assert len(one) == 5000
        for name in ("z", "slope", "material", "source", "status"):
            assert getattr(one, name).tobytes() == getattr(three, name).tobytes()
    assert str(rough.explain(points[0])) == str(rough.explain(*points[0]))
    assert rough.closest(np.zeros((0, 3))).z.shape == (0,)


def test_arrays_of_layers_have_room_for_those_that_are_there(deck):
    assert deck.layers([2.0, 12.0], 3.0).z.tolist() == [[5, 0], [0, pytest.approx(np.nan, nan_ok=True)]]
    assert deck.layers([12.0, 13.0], 3.0).z.tolist() == [[0], [0]]
    assert deck.layers([99.0, 99.0], 3.0).z.shape == (2, 1)  # none, and room for one
    assert deck.layers([], []).z.shape == (0, 1)
    assert deck.layers([2.0], 3.0, most=4).z.shape == (1, 4)


def test_room_for_layers_is_not_that_of_the_bound():
    """A stack of 64 sheets in a corner: 40,000 places beside it take no room for them."""
    sheets = [grid(1, 1, lambda x, y, k=k: k + 0 * x, 1.0, (0, 0)) for k in range(64)]
    vertices, faces, _ = joined(grid(40, 40, lambda x, y: 0 * x - 1, 5.0), *sheets)
    image = hardpan.build(vertices, faces).image
    assert image.max_layers >= 65
    places = np.random.default_rng(2).uniform(10, 190, (40_000, 2))
    assert image.layers(places).z.nbytes == 40_000 * 8
    assert image.layers(0.25, 0.5).count == 65 and image.layers(0.25, 0.5).z.shape == (65,)


def test_below_and_segment_and_windows(deck):
    z = [-1.0, 1.0, 2.0, 3.0, 4.0, 6.0]
    assert list(deck.closest(2, 2, z).z) == [0, 0, 0, 5, 5, 5]
    assert list(deck.below(2, 2, z).z) == [0, 0, 0, 0, 0, 5]
    assert list(deck.below(2, 2, z).found) == [False] + 5 * [True]
    found = deck.segment(2, 2, 6.0, [0.5, 1.0, 1.5, -1.0, np.nan]).found
    assert list(found) == [False, True, True, False, False]
    # near and far of the caller's
    assert list(deck.closest(2, 2, z, near=0.0).z) == [0, 0, 0, 0, 0, 5]
    assert list(deck.closest(2, 2, z, near=0.5, far=1.0).found) == [True, True, False, False, True, True]
    assert deck.closest(20, 2, 4, fallback="edge-extend").z == 0.0
    assert deck.closest(-1, 2, 4, fallback="edge-extend").z == 5.0
    with pytest.raises(ValueError, match="fallback is 'none'|fallback is \"none\""):
        deck.closest(1, 1, 1, fallback="none")
    with pytest.raises(ValueError, match="near is -1"):
        deck.closest(1, 1, 1, near=-1)
    with pytest.raises(ValueError, match="far is NaN"):
        deck.closest(1, 1, 1, far=float("nan"))


def test_layers_are_highest_first(deck):
    layers = deck.layers([2.0, 12.0, 99.0], 3.0)
    assert list(layers.count) == [2, 1, 0] and len(layers) == 3
    assert np.array_equal(layers.z[0, :2], [5, 0]) and layers.z[1, 0] == 0
    assert np.isnan(layers.z[1, 1:]).all() and np.isnan(layers.z[2]).all() and np.isnan(layers.slope[2]).all()
    assert list(layers.material[0, :2]) == [0, 1] and (layers.material[2] == NO_MATERIAL).all()
    assert list(layers.mu[0, :2]) == [0.25, 0.5]
    short = deck.layers([[2.0, 12.0]], 3.0, most=1)
    assert short.z.shape == (1, 2, 1) and short.count.tolist() == [[2, 1]] and short.z.tolist() == [[[5], [0]]]
    assert deck.layers(2, 3, 0).count == 2
    for most in (2**45, 2**62):
        with pytest.raises(MemoryError, match="fit no memory"):
            deck.layers(2, 3, most)
    for most in (-1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="most is"):
            deck.layers(2, 3, most)


def test_a_cursor_answers_as_the_image(rough):
    t = np.linspace(0, 1, 2000)
    wheels = np.array([[0.8, 1.4, 0], [-0.8, 1.4, 0], [0.8, -1.4, 0], [-0.8, -1.4, 0]])
    cursor = rough.cursor(4)
    for x, y in zip(10 + 180 * t, 100 + 60 * np.sin(6 * t)):
        hubs = wheels + [x, y, 4.0]
        ground, plain = cursor.closest(*hubs.T), rough.closest(*hubs.T)
        for name in ("z", "slope", "material", "source", "status", "reach", "leaf"):
            assert getattr(ground, name).tobytes() == getattr(plain, name).tobytes()
    with pytest.raises(ValueError, match=r"shape \(3,\); this cursor has 4 wheels"):
        cursor.closest(*hubs[:3].T)
    for count in (0, -1, 2.0, True, 2**60):
        with pytest.raises(ValueError, match="cursor"):
            rough.cursor(count)


def test_an_image_tells_what_it_is(deck):
    assert deck.bounds.tolist() == [[0, 0, 0], [16, 16, 5]]
    assert [(m.name, m.mu, m.surface_type) for m in deck.materials] == [("Deck", 0.25, 1), ("Floor", 0.5, 0)]
    assert deck.sources == ["arrays"] and deck.triangles == 768
    assert deck.max_layers >= 2 and deck.fallback == "bounds-min-z" and deck.windows == (4.0, 5000.0)
    assert len(deck.identity) == 64 and deck.nbytes == len(deck.tobytes())
    assert deck.tobytes()[32:64].hex() == deck.identity
    assert 0 < deck.error[0] < 1e-3 and 0 < deck.error[1] < 1e-4
    assert "768 triangles" in repr(deck)


def test_explain_tells_the_steps_of_the_answer(deck):
    told = deck.explain(2.25, 3.5, 4.0)
    assert told.answer.z == 5.0
    heights = {step[1] for step in told.steps if step[0] == "candidate"}
    assert heights == {0.0, 5.0}
    assert {step[0] for step in told.steps} == {"node", "cell", "leaf", "test", "candidate"}
    tests = [step for step in told.steps if step[0] == "test"]
    assert len(tests) == told.cost.tests and any(covered for *_, covered in tests)
    assert all(cost <= most for cost, most in zip(told.cost, told.bound))
    assert "answer     z 5.000000, near" in str(told)
    assert "not_in_image" in str(deck.explain(99, 0, 0))
    with pytest.raises(ValueError, match="one point"):
        deck.explain([1, 2], 0, 0)


def test_rf_65_answers_say_what_holds_the_ground(tmp_path):
    # heights at 0.0, 10.0, 20.0 m ... of 5 m, and over some of them a road at 50 m
    head = "ncols 11\nnrows 11\nxllcenter 0\nyllcenter 0\ncellsize 10\n"
    (tmp_path / "a.asc").write_text(head + "\n".join(" ".join(["5"] * 11) for _ in range(11)))
    (tmp_path / "road.obj").write_text("v 40 40 50\nv 60 40 50\nv 60 60 50\nv 40 60 50\nf 1 2 3 4\n")
    image = hardpan.build_files([tmp_path / "a.asc", tmp_path / "road.obj"]).image
    x, y, z = [50, 50, 20, 900], [50, 50, 50, 50], [50, 5, 5, 5]
    wanted = [Leaf.MESH, Leaf.FIELD, Leaf.FIELD, Leaf.NONE]
    assert [leaf.name for leaf in Leaf] == ["MESH", "FIELD", "NONE"]
    ground = image.closest(x, y, z)
    assert ground.z[:3].tolist() == [50, 5, 5] and ground.leaf.tolist() == wanted
    for answers in (image.cursor(4).closest(x, y, z), image.segment(x, y, z, 1.0), image.closest(x, y, z, near=1.0)):
        assert answers.leaf.tolist() == wanted
    assert image.closest(50, 50, 50).leaf == Leaf.MESH and image.closest(50, 50, 5).leaf == Leaf.FIELD
    layers = image.layers([50, 20], 50)
    assert layers.leaf.tolist() == [[Leaf.MESH, Leaf.FIELD], [Leaf.FIELD, Leaf.NONE]]
    rays = image.raycast([[50, 50, 60], [20, 50, 60], [20, 50, 60]], [[0, 0, -1], [0, 0, -1], [0, 0, 1]], 90)
    assert rays.leaf.tolist() == [Leaf.MESH, Leaf.FIELD, Leaf.NONE]
    told = image.explain(50, 50, 5)
    assert {(step[1], step[4]) for step in told.steps if step[0] == "candidate"} == {(50.0, "mesh"), (5.0, "field")}


def test_queries_let_other_threads_run(rough):
    points = np.random.default_rng(3).uniform(0, 200, (3, 3_000_000))
    results = []
    times, turns = [], []

    def ask():
        times.append(time.perf_counter())
        results.append(rough.closest(*points))
        times.append(time.perf_counter())

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        turns.append(time.perf_counter())
    thread.join()
    # in the middle of the call: before and after it other threads run in any case
    quarter = (times[1] - times[0]) / 4
    during = [t for t in turns if times[0] + quarter < t < times[1] - quarter]
    assert len(during) > 100 and len(results[0]) == 3_000_000


def test_closing_waits_for_nobody_and_spoils_nothing(rough):
    points = np.random.default_rng(4).uniform(0, 200, (3, 300_000))
    wanted = rough.closest(*points).z
    for _ in range(5):
        image, results = hardpan.from_bytes(rough.tobytes(), verify=False), []

        def ask(image=image, results=results):
            try:
                results.append(image.closest(*points).z)
            except ValueError as e:
                results.append(str(e))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        [thread.start() for thread in threads]
        image.close()
        [thread.join() for thread in threads]
        assert len(results) == 3
        assert all("closed" in r if isinstance(r, str) else np.array_equal(r, wanted) for r in results)


def test_rays_meet_a_plane_where_it_is(slope):
    random = np.random.default_rng(7)
    origin = np.stack([*random.uniform(4, 12, (2, 5000)), random.uniform(6, 9, 5000)], axis=1)
    direction = np.stack([*random.uniform(-1, 1, (2, 5000)), np.full(5000, -3.0)], axis=1)
    hit = slope.raycast(origin, direction, 15.0)
    assert hit.found.all() and len(hit) == 5000 and not hit.back.any()
    assert np.allclose(hit.at[:, 2], hit.at[:, 0] / 4 - hit.at[:, 1] / 8, rtol=0, atol=1e-5)
    unit = direction / np.linalg.norm(direction, axis=1)[:, None]
    assert np.allclose(hit.at, origin + unit * hit.distance[:, None], rtol=0, atol=1e-5)
    normal = np.array([-0.25, 0.125, 1.0]) / np.sqrt(1 + 0.25**2 + 0.125**2)
    assert np.allclose(hit.normal, normal, rtol=0, atol=1e-12)
    assert set(hit.material) == {0} and set(hit.kind) == {hardpan.Kind.GROUND}
    # the same rays turned round end on it, and start on it
    back = slope.raycast(hit.at - [0, 0, 2], [0, 0, 1], 5)
    assert back.found.all() and back.back.all() and np.allclose(back.distance, 2, rtol=0, atol=1e-5)
    assert not slope.raycast(origin, direction, 15.0, after=0.999).found.any()
    assert not slope.raycast(hit.at - [0, 0, 2], [0, 0, 1], 5, front_only=True).found.any()


def test_rays_that_are_none_and_shapes(slope):
    status = hardpan.RayStatus
    told = slope.raycast([8.0, 8.0, 9.0], [[0, 0, 0], [0, 0, 1], [np.nan, 0, 0], [0, 0, 1], [0, 0, 1]], [1, 5, 5, 2001, 0])
    assert list(told.status) == [status.NO_LENGTH, status.CLEAR, status.NOT_FINITE, status.TOO_LONG, status.NO_LENGTH]
    assert slope.raycast([8, 8, 9], [0, 0, -1], 20).t.shape == ()
    assert slope.raycast([8, 8, 9], [1, 0, -1], 20, kinds=[hardpan.Kind.OBSTACLE]).status == status.NOT_STORED
    assert np.isnan(slope.clearance([8.0], [8.0], [1.0])).all()
    with pytest.raises(ValueError, match="origin has shape"):
        slope.raycast([8, 8], [0, 0, 1], 1)
    with pytest.raises(ValueError, match="do not fit"):
        slope.raycast(np.zeros((2, 3)), np.zeros((3, 3)), 1)


def test_rays_let_other_threads_run(slope):
    """A million rays in one call, while another thread counts."""
    random = np.random.default_rng(8)
    origin = np.stack([*random.uniform(0, 16, (2, 1_000_000)), np.full(1_000_000, 6.0)], axis=1)
    ran = []
    other = threading.Thread(target=lambda: ran.extend(range(1000)))
    other.start()
    hit = slope.raycast(origin, [0.5, 0.25, -1.0], 20.0)
    other.join()
    assert len(ran) == 1000 and hit.found.sum() > 400_000


def test_outcomes_are_those_of_the_kernel():
    assert [(s.name, int(s)) for s in Status][:3] == [("FOUND", 0), ("NO_GROUND", 1), ("NOT_IN_IMAGE", 2)]
    assert [(r.name, int(r)) for r in Reach] == [("NEAR", 0), ("FAR_BELOW", 1), ("FAR_ABOVE", 2), ("FALLBACK", 3), ("HIDDEN", 4)]
    assert "NO_GROUND: The image covers this place" in Status.__doc__


def test_answers_have_the_columns_of_the_command(slope):
    ground = slope.closest([1.0, 2.0], [1.0, 2.0], [3.0, 3.0])
    for symbol, unit, parts in hardpan._hardpan.COLUMNS:
        shape = (2, parts) if parts else (2,)
        assert getattr(ground, symbol).shape == shape, symbol
        assert (unit == "m") == (symbol == "z")


def test_cg_22_rays_and_contacts_cost_no_more_than_is_stated(slope):
    short, long = slope.ray_bound(1), slope.ray_bound(100)
    assert short.tests > 0 and all(a <= b for a, b in zip(short, long))
    assert slope.ray_bound(150) == tuple(2 * n for n in long)
    assert all(a <= b for a, b in zip(slope.ray_bound(5, ground_only=True), slope.ray_bound(5)))
    assert slope.ray_bound(0) is None and slope.ray_bound(2001) is None
    one, two = (slope.contact_bound(points=n) for n in (1, 2))
    assert one.tests > 0 and two == tuple(2 * n for n in one)
    assert slope.contact_bound(columns=64) == tuple(64 * n for n in slope.bound)
    with pytest.raises(ValueError):
        slope.contact_bound(columns=17)
