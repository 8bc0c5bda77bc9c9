"""What may be given as an array, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

WANTED = "give numbers as float64, float32 or integers, in the byte order of this machine"


def told(array: np.ndarray) -> str:
    """An array in a message: its type, byte order and shape."""
    return f"{array.dtype.str!r} ({array.dtype}) of shape {array.shape}"


def _unmasked(name: str, value: Any) -> None:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: masked arrays are not taken; give {name}.compressed() or {name}.filled(VALUE)")


def numbers(name: str, value: Any) -> np.ndarray:
    """A value as an aligned array of float64. What would lose digits, is masked, or has another byte order, is refused."""
    _unmasked(name, value)
    try:
        array = np.asarray(value)
    except ValueError as e:  # a ragged list
        raise TypeError(f"{name}: this is no array of numbers ({e}); {WANTED}") from None
    if array.dtype.kind in "iu" and array.dtype.isnative:
        return array.astype(np.float64)
    if array.dtype.kind == "f" and not array.dtype.isnative:
        raise TypeError(f"{name}: {told(array)} has another byte order; give {name}.astype(np.float64)")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise TypeError(f"{name}: {told(array)}; {WANTED}")
    return array.astype(np.float64, copy=not array.flags.aligned)


def whole(name: str, value: Any) -> np.ndarray:
    """A value as an aligned array of int64."""
    _unmasked(name, value)
    try:
        array = np.asarray(value)
    except ValueError as e:
        raise TypeError(f"{name}: this is no array of whole numbers ({e})") from None
    wanted = "give whole numbers, as int64, in the byte order of this machine"
    if array.dtype.kind not in "iu" or not array.dtype.isnative:
        raise TypeError(f"{name}: {told(array)}; {wanted}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name}: {array.max()} is no index")
    return np.require(array, np.int64, ["C", "A"])


def together(**values: Any) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Arrays of one shape, as numpy broadcasts them, each flat and without gaps; and that shape."""
    arrays = {name: numbers(name, value) for name, value in values.items()}
    shapes = [array.shape for array in arrays.values()]
    if any(shape != shapes[0] for shape in shapes):
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            given = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ValueError(f"shapes do not fit each other: {given}; give arrays of one shape, or single numbers") from None
    else:
        shape = shapes[0]
    flat = [np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1) for array in arrays.values()]
    return shape, flat


def points(x: Any, y: Any, z: Any) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """The places that a query asks: three numbers or arrays, or all in one array with a row of three for each."""
    if (y is None) != (z is None):
        raise TypeError("give x, y and z, or all points in one array of shape (n, 3)")
    return together(x=x, y=y, z=z) if y is not None else columns("points", x, (3,))


def columns(name: str, value: Any, counts: tuple[int, ...]) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """The shape that the answers of rows have, and the columns of the rows."""
    table = rows(name, value, counts)
    return (len(table),), [np.ascontiguousarray(column) for column in table.T]


def rows(name: str, value: Any, columns: tuple[int, ...]) -> np.ndarray:
    """An array of rows with so many columns."""
    return shaped(name, numbers(name, value), columns)


def shaped(name: str, array: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """An array, if it has rows of so many columns; without gaps."""
    if array.ndim != 2 or array.shape[1] not in columns:
        wanted = " or ".join(f"(n, {k})" for k in columns)
        turned = array.ndim == 2 and array.shape[0] in columns and array.shape[0] < array.shape[1]
        hint = f"; give {name}.T" if turned else ""
        raise ValueError(f"{name}: {told(array)}; the shape must be {wanted}{hint}")
    return np.ascontiguousarray(array)
