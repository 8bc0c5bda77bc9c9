"""Images, and the questions that are put to them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from . import _hardpan
from ._answers import Answers, Kind, Layers, RayAnswers, Reach, Status, Table
from ._arrays import columns, numbers, points, rows, together
from ._contact import Contacts, Readings, poses, spread

_MAGIC = b"HARDPAN\n"


class Cost(NamedTuple):
    """Counted work of one query."""

    nodes: int
    """Directory, page and nodes read."""
    leaves: int
    """Bundles and blocks of patches read."""
    tests: int
    """Triangles tested, and patches interpolated."""
    lines: int
    """64-byte lines of cells and leaves."""


class Material(NamedTuple):
    """What a wheel needs to know of a surface."""

    name: str
    mu: float
    """Friction coefficient."""
    rolling: float
    """Rolling resistance, as a factor."""
    gain: float
    surface_type: int
    """0 dry, 1 wet, 2 grass, 3 dirt, 4 gravel, 5 rumble strip, 16 ice, 17 snow, 18 clay, 19 sand; others are the user's."""
    cone_index: float
    """PSI; 0 if not stated."""
    class_mask: int
    label: int
    priority: int


class Crs(NamedTuple):
    """Where on earth an image lies; "" is unknown."""

    name: str
    """The plane: EPSG:CODE, or in words."""
    datum: str
    vertical: str
    """The system of heights."""
    code: int
    """EPSG code of the plane, or 0."""


class Explanation(NamedTuple):
    """One answer step by step; `print` shows it as text."""

    answer: Answers
    """The answer, of shape ()."""
    steps: list[tuple[Any, ...]]
    """In their order: ("node", side in m), ("cell", leaves named, lines), ("leaf", record, lines),
    ("test", record, triangle, covers the place), ("candidate", z in m, material's name, source's name, "mesh" or "field")."""
    cost: Cost
    """What this query cost."""
    bound: Cost
    """What no query on this image exceeds."""

    def __str__(self) -> str:
        texts: dict[str, Callable[..., str]] = {
            "node": lambda side: f"node       entries of {side:g} m",
            "cell": lambda words, lines: f"cell       {words} leaves may lie over the place, {lines} lines",
            "leaf": lambda record, lines: f"leaf       {record}, {lines} lines",
            "test": lambda record, part, covered: f"  test     {part}: {'covers the place' if covered else 'beside it'}",
            "candidate": lambda z, material, source, leaf: f"candidate  z {z:.6f}  {leaf}, {material} of {source}",
        }
        lines = [texts[kind](*values) for kind, *values in self.steps]
        status = Status(int(self.answer.status))
        found = f"z {float(self.answer.z):.6f}, {Reach(int(self.answer.reach)).name.lower()}"
        lines.append(f"answer     {found if status == Status.FOUND else status.name.lower()}")
        lines.append(f"cost       {tuple(self.cost)} nodes, leaves, tests, lines; at most {tuple(self.bound)}")
        return "\n".join(lines)


class Image:
    """A terrain image, open for queries. Made by `open`, `from_bytes` and `build`.

    A context manager: `with hardpan.open(path) as image`. After `close` every use raises ValueError.
    """

    __slots__ = ("_all", "_held", "_table")

    def __init__(self, held: _hardpan.Held) -> None:
        if not isinstance(held, _hardpan.Held):
            raise TypeError("an Image is made by hardpan.open(path), hardpan.from_bytes(data) or hardpan.build(...)")
        self._held = held
        self._all: dict[str, Any] = held.facts()
        self._table = Table(self._all["materials"], self._all["defaults"])

    def close(self) -> None:
        """Gives the memory back, as soon as queries that run have ended. A second call does nothing."""
        self._held.close()

    @property
    def closed(self) -> bool:
        """Whether the image was closed."""
        return self._held.closed

    def __enter__(self) -> Image:
        self._held.facts()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self._all['triangles']:,} triangles"
        return f"<hardpan.Image {self._all['identity'][:12]}: {state}>"

    def _facts(self, name: str) -> Any:
        if self._held.closed:
            self._held.tobytes()  # says so
        return self._all[name]

    # what the image says of itself

    @property
    def identity(self) -> str:
        """SHA-256 of the content, as 64 hexadecimal digits."""
        return self._facts("identity")

    @property
    def bounds(self) -> np.ndarray:
        """Least and greatest x, y, z of the ground, metres: float64, (2, 3)."""
        return np.array(self._facts("bounds"))

    @property
    def crs(self) -> Crs | None:
        """The plane on which it lies; None if it does not say it."""
        known = self._facts("crs")
        return None if known is None else Crs(*known)

    @property
    def materials(self) -> list[Material]:
        """The materials; `Answers.material` has their places in this list."""
        return [Material(**m) for m in self._facts("materials")]

    @property
    def sources(self) -> list[str]:
        """Names of files and objects; `Answers.source` has their places in this list."""
        return list(self._facts("sources"))

    @property
    def bound(self) -> Cost:
        """What no query on this image exceeds."""
        return Cost(*self._facts("bound"))

    def ray_bound(self, length: float, *, ground_only: bool = False) -> Cost | None:
        """What no ray of so many metres exceeds, in any direction at any place; ground_only: of rays that see ground alone.
        None if the image states nothing, or no ray has that length."""
        found = self._held.ray_bound(float(length), ground_only)
        return None if found is None else Cost(*found)

    def contact_bound(self, *, radius: float = 0.3, width: float = 0.25, columns: int = 0, points: int = 1,
                      reach: tuple[float, float] | None = None) -> Cost | None:
        """What no `contact` of such a tyre exceeds, by its columns or by so many points. None if the image states nothing,
        or there is no such tyre. Raises ValueError for unknown columns."""
        reach = None if reach is None else (float(reach[0]), float(reach[1]))
        found = self._held.contact_bound((float(radius), float(width)), int(columns), int(points), reach)
        return None if found is None else Cost(*found)

    @property
    def max_layers(self) -> int:
        """As many layers as lie over any place at most."""
        return self._facts("max_layers")

    @property
    def windows(self) -> tuple[float, float]:
        """How far `closest` looks, metres: near, either way; and far, below first."""
        return self._facts("near"), self._facts("far")

    @property
    def fallback(self) -> str:
        """Whose height answers where there is no ground: bounds-min-z, default, miss or edge-extend."""
        return self._facts("fallback")

    @property
    def error(self) -> tuple[float, float]:
        """Error against the source, metres: in plan, and in height."""
        return tuple(self._facts("error"))

    @property
    def triangles(self) -> int:
        """Triangles of the ground."""
        return self._facts("triangles")

    @property
    def nbytes(self) -> int:
        """Length of the image in bytes."""
        return self._facts("bytes")

    # queries

    def closest(self, x: Any, y: Any = None, z: Any = None, *, near: float | None = None, far: float | None = None,
                fallback: str | None = None) -> Answers:
        """The ground nearest to each point, straight above or below it.

        x, y, z: metres, numbers or arrays of shapes that numpy broadcasts together. Or x alone: points of shape (n, 3).
        NaN, infinite and far positions are answered with `Status.NOT_IN_IMAGE`.
        near, far, fallback: instead of the image's `windows`, in metres, and `fallback`; this asks point by point.

        Raises TypeError for what are no numbers, ValueError for shapes that do not fit and for a closed image.
        """
        shape, (x, y, z) = points(x, y, z)
        return Answers(shape, self._held.closest(x, y, z, near, far, fallback), self._table)

    def below(self, x: Any, y: Any = None, z: Any = None) -> Answers:
        """The first ground going down from each point, within the far window. Arguments and errors as of `closest`."""
        shape, (x, y, z) = points(x, y, z)
        return Answers(shape, self._held.below(x, y, z), self._table)

    def segment(self, x: Any, y: Any = None, z: Any = None, length: Any = None) -> Answers:
        """The first ground going down from each point, at most `length` metres below it.

        Points may be one array: segment(points, length=2.0). No ground is found with a length that is negative or NaN.
        Other arguments and errors as of `closest`.
        """
        if length is None:
            raise TypeError("give length, in metres: a number, or one for each point")
        shape, (x, y, z) = points(x, y, z)
        parts = {name: v.reshape(shape) for name, v in (("x", x), ("y", y), ("z", z))}
        shape, (x, y, z, length) = together(**parts, length=length)
        return Answers(shape, self._held.segment(x, y, z, length), self._table)

    def layers(self, x: Any, y: Any = None, most: int | None = None) -> Layers:
        """All ground over each place, highest first.

        x, y: metres, as of `closest`. Or x alone: points of shape (n, 2) or (n, 3); their z does not matter.
        most: room for so many layers of each place; by default for the greatest `count`, but 1 at least.
        """
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0):
            raise ValueError(f"most is {most!r}; give a whole number of 0 or more")
        shape, (x, y, *_) = together(x=x, y=y) if y is not None else columns("points", x, (2, 3))
        width, found = self._held.layers(x, y, None if most is None else int(most))
        return Layers(shape, width, found, self._table)

    def raycast(self, origin: Any, direction: Any, length: Any, *, kinds: Iterable[Kind] = (), classes: int = 0,
                front_only: bool = False, after: float | None = None) -> RayAnswers:
        """The first surface from each origin in its direction: ground from above and below, ceilings and obstacles.

        origin, direction: metres, of shape S + (3,), which numpy broadcasts together; directions may have any length.
        length: metres, a number or of shape S; at most 2,000.
        kinds: what rays see, by default whatever the image holds. What it does not hold is answered with `RayStatus.NOT_STORED`.
        classes: rays see materials that have one of these bits in their class mask; 0: every material.
        front_only: surfaces are seen from their front alone. after: only what lies behind this part of the way.

        Raises TypeError for what are no numbers, ValueError for shapes that do not fit and for a closed image.
        """
        origin, direction, length = (numbers(name, value) for name, value in
                                     (("origin", origin), ("direction", direction), ("length", length)))
        for name, value in (("origin", origin), ("direction", direction)):
            if value.ndim == 0 or value.shape[-1] != 3:
                raise ValueError(f"{name} has shape {value.shape}; the last number must be 3: x, y and z")
        try:
            shape = np.broadcast_shapes(origin.shape[:-1], direction.shape[:-1], length.shape)
        except ValueError:
            given = f"origin {origin.shape}, direction {direction.shape}, length {length.shape}"
            raise ValueError(f"shapes do not fit each other: {given}") from None
        origin, direction = (np.ascontiguousarray(np.broadcast_to(v, (*shape, 3))).reshape(-1) for v in (origin, direction))
        length = np.ascontiguousarray(np.broadcast_to(length, shape)).reshape(-1)
        mask = 0
        for kind in kinds:
            mask |= 1 << int(Kind(kind))
        if not 0 <= int(classes) < 1 << 32:
            raise ValueError(f"classes is {classes}; give a mask of 32 bits")
        after = None if after is None else float(after)
        found = self._held.raycast(origin, direction, length, mask, int(classes), bool(front_only), after)
        return RayAnswers(shape, length, found)

    def clearance(self, x: Any, y: Any = None, z: Any = None) -> np.ndarray:
        """The free height above the ground nearest to each point, up to the next surface of any kind: metres, NaN without one.

        Arguments and errors as of `closest`.
        """
        shape, (x, y, z) = points(x, y, z)
        return self._held.clearance(x, y, z).reshape(shape)

    def place(self, longitude: Any, latitude: Any) -> tuple[np.ndarray, np.ndarray]:
        """x and y, metres, of longitudes and latitudes in degrees of the image's datum.

        The two broadcast. Raises ValueError if the image does not know where on earth it lies, or for shapes that do not fit.
        """
        shape, (first, second) = together(longitude=longitude, latitude=latitude)
        x, y = self._held.earth(first, second, False)
        return x.reshape(shape), y.reshape(shape)

    def lonlat(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Longitude and latitude, degrees of the image's datum, of x and y in metres: the inverse of `place`."""
        shape, (first, second) = together(x=x, y=y)
        longitude, latitude = self._held.earth(first, second, True)
        return longitude.reshape(shape), latitude.reshape(shape)

    def contact(self, centre: Any, ori: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1)), *, radius: float = 0.3, width: float = 0.25,
                columns: int = 0, strips: int | bool = 0, points: Any = (), down: Any = None, reach: tuple[float, float] | None = None,
                axes: str = "iso8855") -> Contacts:
        """What wheels stand on: one height, one normal, one patch each.

        centre: metres, of shape S + (3,). ori: rows of matrices that take places of the wheel to the world's, S + (3, 3).
        columns: 16, 64 or 256 for the volume of the cylinder. strips: True for the volume by triangles, or the most of them.
        Without either: by points, each x, y, z and weight, by default the centre.
        down: in the world, S + (3,); by default in the plane of each wheel. reach: metres above and below the centre.
        axes: of world and wheels: iso8855, enu, ned, y_up, rfactor, iso_y_right.

        What cannot be asked has a `ContactStatus` of its own. Raises TypeError for what are no numbers, ValueError for shapes
        that do not fit, unknown columns or axes, and a closed image.
        """
        shape, centre, ori = poses(centre, ori)
        down = np.empty(0) if down is None else spread("down", down, (*shape, 3))
        samples = rows("points", points, (4,)).reshape(-1) if len(points) else np.empty(0)
        reach = None if reach is None else (float(reach[0]), float(reach[1]))
        size = (float(radius), float(width))
        method = (int(columns), 16384 if strips is True else int(strips))
        return Contacts(shape, self._held.contact(centre, ori, down, size, method, samples, reach, axes))

    def sensor(self, centre: Any, ori: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1)), *, length: Any = (50, 2, 2, 2, 2),
               offset: Any = (0, 0.5, 0.5, 0.5, 0.5), enabled: Any = (True,) * 5, vehicle_distance: Any = 2.3,
               tyre_distance: Any = 0.3, wheels: Any = ((1.35, 0.8, 0), (1.35, -0.8, 0), (-1.35, 0.8, 0), (-1.35, -0.8, 0)),
               ) -> Readings:
        """The terrain sensor at each pose of a vehicle: a trace ahead, and one down from each wheel; order as `TRACES`.

        centre, ori: as of `contact`, ISO 8855. length, offset, enabled: of the five traces. wheels: places in the vehicle, (4, 3).
        vehicle_distance, tyre_distance: what is subtracted, metres: numbers, or arrays of shape S and S + (4,).

        Raises TypeError for what are no numbers, ValueError for shapes that do not fit, for a step that is none, and for a
        closed image.
        """
        shape, centre, ori = poses(centre, ori)
        switches = np.asarray(enabled, dtype=bool).astype(np.float64)
        columns = [spread(name, v, (5,)) for name, v in (("length", length), ("offset", offset), ("enabled", switches))]
        traces = np.ascontiguousarray(np.stack(columns, axis=-1)).reshape(-1)
        vehicle = spread("vehicle_distance", vehicle_distance, shape)
        tyres = spread("tyre_distance", tyre_distance, (*shape, 4))
        return Readings(shape, self._held.sensor(centre, ori, traces, spread("wheels", wheels, (4, 3)), vehicle, tyres))

    def cursor(self, count: int) -> Cursor:
        """A cursor for so many wheels: the answers of `closest`, faster where each wheel moves little from call to call."""
        return Cursor(self, count)

    def explain(self, x: Any, y: Any = None, z: Any = None) -> Explanation:
        """How `closest` finds its answer at one point, and what that costs: x, y and z in metres, or all three in one array."""
        if y is None and z is None:
            x, y, z = _three(x)
        p = [numbers(name, value) for name, value in (("x", x), ("y", y), ("z", z))]
        if any(value.shape != () for value in p):
            raise ValueError("explain asks one point; give three numbers")
        told = self._held.explain([float(value) for value in p])
        answer = self.closest(*p)
        return Explanation(answer, told["steps"], Cost(*told["cost"]), self.bound)

    # bytes

    def tobytes(self) -> bytes:
        """The image's bytes."""
        return self._held.tobytes()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the image to a file: whole, or not at all. An image that is there is replaced.

        Any other file is replaced only with overwrite=True; else FileExistsError. What the disk refuses is an OSError.
        """
        path = os.fsdecode(path)
        if not overwrite and os.path.exists(path):
            with io.open(path, "rb") as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    raise FileExistsError(f"{path} is no terrain image; name another file, or say overwrite=True")
        self._held.save(path)


def _three(point: Any) -> np.ndarray:
    """The coordinates of one point."""
    array = numbers("x", point)
    if array.size != 3:
        raise ValueError(f"explain asks one point, and this has shape {array.shape}; give three numbers")
    return array.reshape(3)


class Cursor:
    """What so many wheels remember from one call to the next; made by `Image.cursor`. One thread at a time uses it."""

    __slots__ = ("_image", "_wheels", "count")

    def __init__(self, image: Image, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise ValueError(f"a cursor for {count!r} wheels; give a whole number of 1 or more")
        self._image = image
        self._wheels = _hardpan.Wheels(image._held, int(count))
        self.count = int(count)
        """How many wheels."""

    def closest(self, x: Any, y: Any = None, z: Any = None) -> Answers:
        """The ground nearest to each wheel: x, y, z are metres, of shape (count,); or points of shape (count, 3).

        Else as `Image.closest`.
        """
        shape, (x, y, z) = points(x, y, z)
        if shape != (self.count,):
            raise ValueError(f"x, y and z make shape {shape}; this cursor has {self.count} wheels: give ({self.count},)")
        return Answers(shape, self._wheels.closest(x, y, z), self._image._table)


def open(path: str | os.PathLike[str], *, verify: bool = True, map: bool = False) -> Image:  # noqa: A001
    """Opens an image file.

    verify: proves all checksums, the structure and the stated bounds first; without it only the head, in constant time.
    map: uses the file as memory instead of a copy, also one that is larger than memory. Nothing may write to it meanwhile:
    a mapped file that is cut short ends the process.

    Raises OSError if the file cannot be read, ImageError if it is no sound image.
    """
    return Image(_hardpan.Held.open(os.fspath(path), bool(verify), bool(map)))


def from_bytes(data: bytes, *, verify: bool = True) -> Image:
    """An image of a copy of bytes. Raises ImageError if they are none."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_bytes takes bytes, not {type(data).__name__}")
    return Image(_hardpan.Held.of(bytes(data), bool(verify)))
