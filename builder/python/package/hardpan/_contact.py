"""What wheels stand on, and the terrain sensor, as arrays."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ._answers import RayStatus
from ._arrays import numbers
from ._hardpan import CONTACT_STATUS

ContactStatus: Any = enum.IntEnum(
    "ContactStatus", {symbol: code for symbol, code, _ in CONTACT_STATUS}
)
ContactStatus.__doc__ = "What a wheel came to."

TRACES = ("vehicle", "front_left", "front_right", "rear_left", "rear_right")
"""The order of all arrays of a sensor."""

DISABLED = 255
"""The status of a trace that is not cast."""


def poses(centre: Any, ori: Any) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The shape S of poses, their centres and the rows of their matrices, flat."""
    centre, ori = numbers("centre", centre), numbers("ori", ori)
    if centre.ndim == 0 or centre.shape[-1] != 3:
        raise ValueError(f"centre has shape {centre.shape}; the last number must be 3: x, y and z")
    if ori.shape[-2:] != (3, 3):
        raise ValueError(f"ori has shape {ori.shape}; the last two numbers must be 3: rows of a matrix")
    try:
        shape = np.broadcast_shapes(centre.shape[:-1], ori.shape[:-2])
    except ValueError:
        raise ValueError(f"shapes do not fit each other: centre {centre.shape}, ori {ori.shape}") from None
    return shape, spread("centre", centre, (*shape, 3)), spread("ori", ori, (*shape, 3, 3))


def spread(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this shape, as numpy broadcasts it, flat and without gaps."""
    value = numbers(name, value)
    try:
        return np.ascontiguousarray(np.broadcast_to(value, shape)).reshape(-1)
    except ValueError:
        raise ValueError(f"{name} has shape {value.shape}, which does not fit {shape}") from None


class Contacts:
    """What each wheel stands on, as arrays of the shape that was asked: S. Metres, in the axes of the question.

    Without ground (`found` is False) all numbers are zero, and normals point up.
    """

    __slots__ = (
        "coverage", "error", "gain", "hd_share", "height", "loaded_radius", "material", "mu", "normal", "patch_centre",
        "patch_valid", "penetration", "plane", "plane_fitted", "rolling", "source", "status", "surface", "volume",
    )

    def __init__(self, shape: tuple[int, ...], found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        values, names, flags = _sized(shape, found, (19, 3, 3))
        self.height = values[..., 0]
        """Height of the ground: float64, S."""
        self.normal = values[..., 1:4]
        """Mean of the unit normals: float64, S + (3,)."""
        self.plane = values[..., 4:7]
        """Unit normal of the plane that fits best: float64, S + (3,)."""
        self.patch_centre = values[..., 7:10]
        """Where the patch is: float64, S + (3,)."""
        self.penetration, self.loaded_radius, self.volume = (values[..., k] for k in (10, 11, 12))
        self.mu, self.rolling, self.gain = (values[..., k] for k in (13, 14, 15))
        self.coverage, self.hd_share, self.error = (values[..., k] for k in (16, 17, 18))
        self.surface, self.material, self.source = (names[..., k] for k in range(3))
        self.status = flags[..., 0]
        """Numbers of `ContactStatus`: uint8, S."""
        self.patch_valid, self.plane_fitted = (flags[..., k] != 0 for k in (1, 2))

    @property
    def found(self) -> np.ndarray:
        """Whether there is ground: bool, S."""
        return self.status == ContactStatus.FOUND

    def __repr__(self) -> str:
        return f"<hardpan.Contacts of shape {self.height.shape}: {int(np.count_nonzero(self.found))} with ground>"


class Readings:
    """What the sensor saw in each step, as arrays; S is the shape of the steps, and traces are in the order of `TRACES`."""

    __slots__ = (
        "distance", "end", "hit", "hit_location", "material", "normal", "start", "status", "tyre_adjusted", "vehicle_adjusted",
    )

    def __init__(self, shape: tuple[int, ...], found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        values, self.material, flags = _sized(shape, found, (70, 5, 10))
        places = values[..., :60].reshape((*shape, 4, 5, 3))
        self.hit_location, self.start, self.end, self.normal = (places[..., k, :, :] for k in range(4))
        self.distance = values[..., 60:65]
        """From each centre to the location: float64, S + (5,)."""
        self.vehicle_adjusted = values[..., 65]
        """From the vehicle's front to what is ahead: float64, S."""
        self.tyre_adjusted = values[..., 66:70]
        """From each tyre's tread to what is below it: float64, S + (4,)."""
        self.hit = flags[..., :5] != 0
        """Whether each trace met something: bool, S + (5,)."""
        self.status = flags[..., 5:]
        """Numbers of `RayStatus`, or `DISABLED`: uint8, S + (5,)."""

    def __repr__(self) -> str:
        met = int(np.count_nonzero(self.status == RayStatus.FOUND))
        return f"<hardpan.Readings of shape {self.vehicle_adjusted.shape}: {met} of {self.hit.size} traces met something>"


def _sized(shape: tuple[int, ...], arrays: Any, widths: tuple[int, ...]) -> Any:
    """Arrays with their rows: of no rows the width is not known."""
    return (array.reshape((*shape, width)) for array, width in zip(arrays, widths))
