"""What is the ground here? Queries on terrain images, from numpy.

>>> import hardpan
>>> with hardpan.open("track.hpan") as track:          # doctest: +SKIP
...     ground = track.closest(x, y, z)                 # arrays of metres: x east, y north, z up
...     ground.z, ground.mu, ground.normal

| to | call |
| --- | --- |
| open an image | `open`, `from_bytes` |
| ask | `Image.closest`, `Image.below`, `Image.segment`, `Image.layers`, `Image.cursor` |
| look in any direction | `Image.raycast`, `Image.clearance` |
| know what wheels stand on | `Image.contact`, `Image.sensor` |
| ask in degrees | `Image.place`, `Image.lonlat` |
| know why | `Image.explain` |
| build an image | `build`, `build_files` |
| compare with another tool | `compare` |

All lengths are metres, slopes metres a metre. Queries let other threads run, and any number of threads may ask one image.
"""

from ._answers import NO_MATERIAL, Answers, Kind, Layers, Leaf, RayAnswers, RayStatus, Reach, Status
from ._build import Built, build, build_files
from ._compare import Comparison, compare
from ._contact import DISABLED, TRACES, Contacts, ContactStatus, Readings
from ._hardpan import BuildError, ImageError, __version__
from ._image import Cost, Crs, Cursor, Explanation, Image, Material, from_bytes, open

__all__ = [
    "DISABLED",
    "NO_MATERIAL",
    "TRACES",
    "Answers",
    "BuildError",
    "Built",
    "Comparison",
    "ContactStatus",
    "Contacts",
    "Cost",
    "Crs",
    "Cursor",
    "Explanation",
    "Image",
    "ImageError",
    "Kind",
    "Layers",
    "Leaf",
    "Material",
    "RayAnswers",
    "RayStatus",
    "Reach",
    "Readings",
    "Status",
    "build",
    "build_files",
    "compare",
    "from_bytes",
    "open",
]
