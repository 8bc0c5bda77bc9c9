"""What is wrong is said: what was given, and what is wanted."""

import numpy as np
import pytest

import hardpan

SWAPPED = np.dtype(np.float64).newbyteorder()


@pytest.mark.parametrize("x", [
    np.zeros(3, SWAPPED), np.zeros(3, complex), np.zeros(3, bool), np.array(["a"]), np.zeros(3, object), None, "1", b"1",
    np.zeros(3, "datetime64[s]"), [[1.0], [1.0, 2.0]], np.zeros(2, [("a", "f8")]), {}, np.zeros(3, np.dtype(np.int32).newbyteorder()),
])  # fmt: skip
def test_what_are_no_numbers(slope, x):
    for ask in (
        lambda: slope.closest(x, 0, 0),
        lambda: slope.below(0, x, 0),
        lambda: slope.segment(0, 0, 0, x),
        lambda: slope.layers(x, 0),
        lambda: slope.cursor(3).closest(0, 0, x),
        lambda: slope.explain(x, 0, 0),
        lambda: hardpan.build(x, [[0, 1, 2]]),
        lambda: hardpan.build(np.eye(3), x),
        lambda: hardpan.compare(slope, x),
    ):
        with pytest.raises(TypeError, match="give|no array"):
            ask()


def test_an_error_names_what_was_given_and_what_is_wanted(slope):
    with pytest.raises(TypeError, match=r"x: '>f8' .* of shape \(3,\) has another byte order; give x.astype"):
        slope.closest(np.zeros(3, ">f8"), 0, 0)
    with pytest.raises(ValueError, match=r"x \(3,\), y \(4,\), z \(\)"):
        slope.closest(np.zeros(3), np.zeros(4), 0)
    for ask in (slope.closest, slope.below, slope.cursor(3).closest):
        with pytest.raises(ValueError, match=r"points: .* of shape \(4, 2\); the shape must be \(n, 3\)$"):
            ask(np.zeros((4, 2)))
        with pytest.raises(TypeError, match=r"give x, y and z, or all points in one array of shape \(n, 3\)"):
            ask(np.zeros(3), np.zeros(3))
    with pytest.raises(TypeError, match="give length, in metres"):
        slope.segment(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"points: .*the shape must be \(n, 2\) or \(n, 3\)"):
        slope.layers(np.zeros(3))
    # turned only where that fits: three points of x and y are no two points of x, y and z
    with pytest.raises(ValueError, match=r"vertices: .* of shape \(3, 2\); the shape must be \(n, 3\)$"):
        hardpan.build(np.zeros((3, 2)), [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"vertices: .* of shape \(3, 4\); the shape must be \(n, 3\); give vertices.T"):
        hardpan.build(np.zeros((3, 4)), [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"faces: .* of shape \(3,\); the shape must be \(n, 3\)"):
        hardpan.build(np.eye(3), [0, 1, 2])
    with pytest.raises(TypeError, match="faces: '<f8'"):
        hardpan.build(np.eye(3), [[0.0, 1, 2]])
    with pytest.raises(ValueError, match=r"points: .* must be \(n, 3\) or \(n, 4\)"):
        hardpan.compare(slope, np.zeros((5, 2)))
    with pytest.raises(TypeError, match="takes an Image first, not str"):
        hardpan.compare("slope.hpan", np.zeros((5, 3)))
    with pytest.raises(TypeError, match="made by hardpan.open"):
        hardpan.Image("slope.hpan")


def test_a_closed_image_says_so(deck, tmp_path):
    deck.save(tmp_path / "deck.hpan")
    with hardpan.open(tmp_path / "deck.hpan") as image:
        cursor = image.cursor(1)
        assert not image.closed
    assert image.closed and "closed" in repr(image)
    image.close()
    uses = [
        lambda: image.closest(1, 1, 1), lambda: image.below(1, 1, 1), lambda: image.segment(1, 1, 1, 1), lambda: image.layers(1, 1),
        lambda: cursor.closest([1], 1, 1), lambda: image.cursor(1), lambda: image.explain(1, 1, 1), lambda: image.bounds,
        lambda: image.materials, lambda: image.identity, lambda: image.tobytes(), lambda: image.save(tmp_path / "b.hpan"),
        lambda: hardpan.compare(image, np.zeros((1, 3))), image.__enter__,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ValueError, match="this image is closed; open it again"):
            use()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deck.hpan"]


def test_files_that_are_no_image(deck, tmp_path):
    whole = deck.tobytes()
    bad = {
        "empty": b"", "text": b"v 0 0 0\n", "zeros": bytes(5000), "ones": b"\xff" * 5000, "head": whole[:500], "short": whole[:-1],
        "tail": whole[: len(whole) // 2], "flipped": whole[:3000] + bytes([whole[3000] ^ 1]) + whole[3001:],
        "head flipped": whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
    }  # fmt: skip
    for name, data in bad.items():
        path = tmp_path / name
        path.write_bytes(data)
        for mapped in (False, True):
            with pytest.raises(hardpan.ImageError) as said:
                hardpan.open(path, map=mapped)
            assert name in str(said.value) and ": " in str(said.value)
        with pytest.raises(hardpan.ImageError):
            hardpan.from_bytes(data)
    assert issubclass(hardpan.ImageError, ValueError)
    with pytest.raises(FileNotFoundError, match="none.hpan"):
        hardpan.open(tmp_path / "none.hpan")
    with pytest.raises(IsADirectoryError):
        hardpan.open(tmp_path)
    with pytest.raises(OSError, match="NUL"):
        hardpan.open("a\0b")
    for path in (3, None, ["a"]):
        with pytest.raises(TypeError):
            hardpan.open(path)
    for data in ("text", None, np.zeros(4)):
        with pytest.raises(TypeError, match="takes bytes"):
            hardpan.from_bytes(data)


def test_damage_that_was_not_looked_for_ends_nothing(rough):
    random = np.random.default_rng(5)
    whole = np.frombuffer(rough.tobytes(), np.uint8)
    points = random.uniform(-10, 210, (3, 2000))
    for _ in range(200):
        damaged = whole.copy()
        at = random.integers(2048, len(whole), 50)
        damaged[at] = random.integers(0, 256, 50)
        image = hardpan.from_bytes(damaged.tobytes(), verify=False)
        assert np.isfinite(image.closest(*points).z).all()
        image.layers(*points[:2], most=3)
        image.explain(*points[:, 0])
