"""Answers as columns."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ._hardpan import LEAF, RAY_STATUS, REACH, STATUS

NO_MATERIAL = 65535
"""Stands in `material` and `source` where there is no ground."""


def _outcome(name: str, meaning: str, members: list[tuple[str, int, str]]) -> Any:
    """The outcomes that the kernel names, as an `enum.IntEnum`."""
    outcome = enum.IntEnum(name, [(symbol, code) for symbol, code, _ in members], module=__name__)  # type: ignore[misc]
    outcome.__doc__ = "\n\n".join([meaning, *(f"{symbol}: {text}" for symbol, _, text in members)])
    return outcome


Status: Any = _outcome("Status", "What a query came to.", STATUS)
Reach: Any = _outcome("Reach", "Which stage of the search found the ground.", REACH)
Leaf: Any = _outcome("Leaf", "What holds the surface.", LEAF)
RayStatus: Any = _outcome("RayStatus", "What a ray came to.", RAY_STATUS)


class Kind(enum.IntEnum):
    """Kinds of surfaces."""

    GROUND = 0
    """What wheels stand on."""
    CEILING = 1
    """What looks down."""
    OBSTACLE = 2
    """What wheels do not stand on: walls, trees."""


class RayAnswers:
    """What each ray met, as arrays of the shape that was asked: S.

    Without a hit (`found` is False) `t` and `at` say how far the ray was searched: to its end, if it is clear.
    """

    __slots__ = ("at", "back", "kind", "leaf", "length", "material", "normal", "source", "status", "t")

    def __init__(self, shape: tuple[int, ...], length: np.ndarray, columns: tuple[np.ndarray, ...]) -> None:
        t, at, normal, material, source, status, kind, back, leaf = columns
        self.length = length.reshape(shape)
        """Lengths that were asked, metres: float64, S."""
        self.t = t.reshape(shape)
        """The part of the way: float64, S."""
        self.at = at.reshape((*shape, 3))
        """The place, metres: float64, S + (3,)."""
        self.normal = normal.reshape((*shape, 3))
        """The unit normal of the face's front: float64, S + (3,)."""
        self.material = material.reshape(shape)
        """Index into `Image.materials`, or `NO_MATERIAL`: uint16, S."""
        self.source = source.reshape(shape)
        """Index into `Image.sources`, or `NO_MATERIAL`: uint16, S."""
        self.status = status.reshape(shape)
        """Numbers of `RayStatus`: uint8, S."""
        self.kind = kind.reshape(shape)
        """Numbers of `Kind`: uint8, S."""
        self.back = back.reshape(shape)
        """Whether the surface was met from behind: bool, S."""
        self.leaf = leaf.reshape(shape)
        """Numbers of `Leaf`: a mesh or a height field: uint8, S."""

    @property
    def found(self) -> np.ndarray:
        """Whether there is a surface: bool, S."""
        return self.status == RayStatus.FOUND

    @property
    def distance(self) -> np.ndarray:
        """How far `at` is from the ray's start, metres: float64, S."""
        return self.t * self.length

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        found = int(np.count_nonzero(self.found))
        return f"<hardpan.RayAnswers of shape {self.t.shape}: {found} of {self.t.size} met a surface>"


class Table:
    """What of each material stands in answers, and last what stands there without ground."""

    def __init__(self, materials: list[dict[str, Any]], defaults: tuple[float, float, float]) -> None:
        def column(name: str, default: float) -> np.ndarray:
            return np.array([m[name] for m in materials] + [default])

        mu, rolling, gain = defaults
        self.mu, self.rolling, self.gain = column("mu", mu), column("rolling", rolling), column("gain", gain)
        self.surface, self.label = column("surface_type", 0).astype(np.uint16), column("label", 0).astype(np.uint32)
        self.cone_index = column("cone_index", 0.0)

    def take(self, column: np.ndarray, material: np.ndarray) -> np.ndarray:
        return column[np.minimum(material, len(column) - 1)]


class Answers:
    """The ground at each place, as arrays of the shape that was asked: S.

    Where there is no ground (`found` is False) `z` is the fall-back's height, the slope is level, and `mu`, `rolling` and `gain`
    are the image's defaults. So no value is ever NaN.
    """

    __slots__ = ("_table", "leaf", "material", "reach", "slope", "source", "status", "z")

    def __init__(self, shape: tuple[int, ...], columns: tuple[np.ndarray, ...], table: Table) -> None:
        z, slope, material, source, status, reach, leaf = columns
        self._table = table
        self.z = z.reshape(shape)
        """Height, metres: float64, S."""
        self.slope = slope.reshape((*shape, 2))
        """dz/dx and dz/dy: float64, S + (2,)."""
        self.material = material.reshape(shape)
        """Index into `Image.materials`, or `NO_MATERIAL`: uint16, S."""
        self.source = source.reshape(shape)
        """Index into `Image.sources`, or `NO_MATERIAL`: uint16, S."""
        self.status = status.reshape(shape)
        """Numbers of `Status`: uint8, S."""
        self.reach = reach.reshape(shape)
        """Numbers of `Reach`: uint8, S."""
        self.leaf = leaf.reshape(shape)
        """Numbers of `Leaf`: a mesh or a height field: uint8, S."""

    @property
    def found(self) -> np.ndarray:
        """Whether there is ground: bool, S."""
        return self.status == Status.FOUND

    @property
    def normal(self) -> np.ndarray:
        """The upward unit normal: float64, S + (3,)."""
        out = np.empty((*self.z.shape, 3))
        x, y = 0.0 - self.slope[..., 0], 0.0 - self.slope[..., 1]  # level is 0, never -0
        r = 1.0 / np.sqrt(x * x + y * y + 1.0)
        out[..., 0], out[..., 1], out[..., 2] = x * r, y * r, r
        return out

    @property
    def mu(self) -> np.ndarray:
        """Friction coefficient: float64, S."""
        return self._table.take(self._table.mu, self.material)

    @property
    def rolling(self) -> np.ndarray:
        """Rolling resistance, as a factor: float64, S."""
        return self._table.take(self._table.rolling, self.material)

    @property
    def gain(self) -> np.ndarray:
        """Gain, as a factor: float64, S."""
        return self._table.take(self._table.gain, self.material)

    @property
    def surface(self) -> np.ndarray:
        """Surface type, 0 without ground: uint16, S."""
        return self._table.take(self._table.surface, self.material)

    @property
    def cone_index(self) -> np.ndarray:
        """Cone index in PSI, 0 where none is stated: float64, S."""
        return self._table.take(self._table.cone_index, self.material)

    @property
    def label(self) -> np.ndarray:
        """Label of the material for sensors, 0 without ground: uint32, S."""
        return self._table.take(self._table.label, self.material)

    def __len__(self) -> int:
        return len(self.z)

    def __repr__(self) -> str:
        found = int(np.count_nonzero(self.found))
        return f"<hardpan.Answers of shape {self.z.shape}: ground at {found} of {self.z.size}>"


class Layers:
    """All ground over each place, highest first, as arrays of the shape that was asked, S, with room for so many layers: most.

    By default `most` is the greatest `count`, but 1 at least.

    Beyond `count` heights and slopes are NaN, materials `NO_MATERIAL`, and `leaf` is `Leaf.NONE`.
    """

    __slots__ = ("_table", "count", "hidden", "leaf", "material", "slope", "source", "status", "z")

    def __init__(self, shape: tuple[int, ...], most: int, columns: tuple[np.ndarray, ...], table: Table) -> None:
        z, slope, material, source, hidden, leaf, count, status = columns
        self._table = table
        self.z = z.reshape((*shape, most))
        """Heights, metres: float64, S + (most,)."""
        self.slope = slope.reshape((*shape, most, 2))
        """dz/dx and dz/dy: float64, S + (most, 2)."""
        self.material = material.reshape((*shape, most))
        """Index into `Image.materials`: uint16, S + (most,)."""
        self.source = source.reshape((*shape, most))
        """Index into `Image.sources`: uint16, S + (most,)."""
        self.hidden = hidden.reshape((*shape, most))
        """Whether ground of higher precedence hides it from all other queries: bool, S + (most,)."""
        self.leaf = leaf.reshape((*shape, most))
        """Numbers of `Leaf`: a mesh or a height field: uint8, S + (most,)."""
        self.count = count.reshape(shape)
        """How many layers there are, also those beyond `most`: uint32, S."""
        self.status = status.reshape(shape)
        """Numbers of `Status`: uint8, S."""

    @property
    def mu(self) -> np.ndarray:
        """Friction coefficient, the default beyond `count`: float64, S + (most,)."""
        return self._table.take(self._table.mu, self.material)

    def __len__(self) -> int:
        return len(self.count)

    def __repr__(self) -> str:
        most = int(self.count.max()) if self.count.size else 0
        return f"<hardpan.Layers of shape {self.count.shape}: at most {most} over a place>"
