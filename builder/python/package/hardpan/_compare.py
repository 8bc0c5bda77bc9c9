"""An image beside the answers of another tool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import rows
from ._image import Image


class Comparison(NamedTuple):
    """How far an image lies from the points of another tool. Lengths are metres; a difference is the image's z less the tool's."""

    points: int
    """Points given."""
    compared: int
    """Points where both have ground."""
    only_image: np.ndarray
    """Numbers of points whose z is NaN, over which the image has ground: int64."""
    only_points: np.ndarray
    """Numbers of points at which the image has no ground: int64."""
    no_number: np.ndarray
    """Numbers of points with x or y that is not finite, or an infinite z, which are not asked: int64."""
    difference: np.ndarray
    """Of each point, NaN where either has no ground: float64, (n,)."""
    largest: float
    """Largest difference without its sign; NaN if nothing was compared, as all below."""
    mean: float
    """Mean difference."""
    mean_abs: float
    """Mean difference without sign."""
    rms: float
    """Root of the mean square."""
    percentiles: dict[float, float]
    """What 50, 90, 99 and 99.9 % of the differences without sign do not exceed: each is the difference of a point."""
    worst: np.ndarray
    """Numbers of the points that differ most, most first: int64."""
    mu_largest: float | None
    """Largest difference of friction without its sign; None if the points have no mu."""
    mu_worst: np.ndarray
    """Numbers of the points whose friction differs most, most first: int64."""

    def __str__(self) -> str:
        parts = ", ".join(f"{p:g} % {v:.6f}" for p, v in self.percentiles.items())
        text = (f"{self.compared:,} of {self.points:,} points compared; {len(self.only_points):,} without ground in the image, "
                f"{len(self.only_image):,} only there\nz: largest {self.largest:.6f} m, mean {self.mean:+.6f} m, {parts}")
        return text if self.mu_largest is None else f"{text}\nmu: largest {self.mu_largest:g}"


def compare(image: Image, points: Any, *, worst: int = 10) -> Comparison:
    """Compares the ground of an image with points of another tool.

    points: x, y, z in metres, and mu if there is a fourth column: float64, (n, 3) or (n, 4). A z of NaN means that the other tool has
    no ground there. The image is asked for the ground nearest to each point; where z is NaN, for any layer.
    worst: how many of the worst places are named.

    Raises TypeError and ValueError for arrays that are not so.
    """
    if not isinstance(image, Image):
        raise TypeError(f"compare takes an Image first, not {type(image).__name__}")
    points = rows("points", points, (3, 4))
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    answers = image.closest(x, y, z)
    asked = np.isfinite(x) & np.isfinite(y) & ~np.isinf(z)
    both = answers.found & asked
    difference = np.where(both, answers.z - z, np.nan)
    none = np.flatnonzero(np.isnan(z) & asked)
    over = image.layers(x[none], y[none], 0).count > 0
    size = np.abs(difference[both])
    some = size.size > 0
    ascending = np.sort(size)
    percentiles = {p / 10: float(ascending[(p * size.size + 999) // 1000 - 1]) if some else float("nan") for p in (500, 900, 990, 999)}

    def most(values: np.ndarray) -> np.ndarray:
        order = np.argsort(-np.abs(values), kind="stable")  # NaN comes last
        return order[: min(max(worst, 0), np.count_nonzero(~np.isnan(values)))]

    mu_largest, mu_worst = None, np.empty(0, dtype=np.int64)
    if points.shape[1] == 4:
        mu = np.where(both, answers.mu - points[:, 3], np.nan)
        mu_worst = most(mu)
        mu_largest = float(np.abs(mu[mu_worst[0]])) if len(mu_worst) else float("nan")
    return Comparison(
        points=len(points),
        compared=int(size.size),
        only_image=none[over],
        only_points=np.flatnonzero(~both & asked & ~np.isnan(z)),
        no_number=np.flatnonzero(~asked),
        difference=difference,
        largest=float(size.max()) if some else float("nan"),
        mean=float(difference[both].mean()) if some else float("nan"),
        mean_abs=float(size.mean()) if some else float("nan"),
        rms=float(np.sqrt((size * size).mean())) if some else float("nan"),
        percentiles=percentiles,
        worst=most(difference),
        mu_largest=mu_largest,
        mu_worst=mu_worst,
    )
