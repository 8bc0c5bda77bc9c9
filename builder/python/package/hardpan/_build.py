"""Images of arrays and of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _hardpan
from ._arrays import rows, shaped, told, whole
from ._image import Image


class Built(NamedTuple):
    """What came of a build."""

    image: Image
    report: dict[str, Any]
    """Counts and errors in metres, by the names that `hardpan build --report` has for them: `triangles_in`, `triangles`, `vertical`,
    `error`, `weld`, `stitch` and others; `mu_by_default`, materials whose friction nobody stated; `warnings`."""


def _json(value: Any) -> str:
    import json  # only builds need it

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        raise TypeError(f"settings: {value!r} is no number, text, list or mapping")

    try:
        return json.dumps(value, default=plain, allow_nan=False)
    except ValueError:
        raise ValueError("settings: NaN and infinite numbers are none that a setting can have") from None


# Other names of a material's properties, in this package and in speech, and their keys here.
_KEYS = {"friction": "mu", "rolling": "rr", "rolling_resistance": "rr", "class_mask": "classes"}


def _material(i: int, material: Any) -> dict[str, Any]:
    if isinstance(material, str):
        return {"name": material}
    if not (isinstance(material, Mapping) and isinstance(material.get("name"), str)):
        raise TypeError(f"materials[{i}]: {material!r}; give a name, or a mapping with name, mu, rr, gain, surface_type and so on")
    wrong = next((key for key in material if key in _KEYS), None)
    if wrong is not None:
        raise _hardpan.BuildError(f'materials[{i}] ("{material["name"]}"): "{wrong}" is not known here (did you mean "{_KEYS[wrong]}"?)')
    return dict(material)


def build(vertices: Any, faces: Any, materials: Iterable[str | Mapping[str, Any]] | None = None, *,
          face_materials: Any = None, **settings: Any) -> Built:
    """Builds an image of triangles.

    vertices: metres, z up: float64, (n, 3). faces: three indices of vertices each: integers, (m, 3).
    materials: names, or mappings with the keys of [[material]] in a settings file (name, mu, rr, gain, surface_type, ...); by
    default one without a name. face_materials: the index of each face in that list: integers, (m,); by default 0.
    settings: the keys of [build] in a settings file, as xy_log2=-10, weld={"plan": 1, "height": 4}, stitch=False, fallback="miss".

    Raises TypeError and ValueError for arrays that are not so, BuildError for what cannot become an image.
    """
    if isinstance(materials, (str, Mapping)):
        raise TypeError(f"materials: {materials!r}; give a list of names or mappings, as [{materials!r}]")
    vertices = rows("vertices", vertices, (3,))
    faces = shaped("faces", whole("faces", faces), (3,))
    given = [{"name": ""}] if materials is None else [_material(i, m) for i, m in enumerate(materials)]
    names = [m["name"] for m in given]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ValueError(f"materials: {twice!r} is there twice; give each once")
    if not given or len(given) > 65_535:
        raise ValueError(f"materials: there are {len(given)}; give 1 to 65,535")
    of_face: list[int] | None = None
    if face_materials is not None:
        numbers = whole("face_materials", face_materials)
        if numbers.shape != (len(faces),):
            raise ValueError(f"face_materials: {told(numbers)}; the shape must be ({len(faces)},), one of each face")
        of_face = numbers.tolist()
    rules = [_json(m) for m in given] if materials is not None else []
    held, report = _hardpan.build(vertices, faces, of_face, names, rules, _json({"build": settings}))
    return Built(Image(held), report)


def build_files(files: Iterable[str | os.PathLike[str]] = (), *,
                settings: str | os.PathLike[str] | Mapping[str, Any] | None = None,
                output: str | os.PathLike[str] | None = None, overwrite: bool = False, **frame: Any) -> Built:
    """Builds an image of files of meshes and heights, as `hardpan build` does.

    files: their paths; by default the sources of the settings. settings: a settings file (TOML, or JSON as .json), or the
    same as a mapping. frame: of all given files: up="y", unit="cm", scale, yaw_deg, translate=[x, y, z] in metres,
    or of heights cell, file_crs, window and other keys of a [[source]].
    output: where to save the image; overwrite as of `Image.save`.

    Raises OSError for files that cannot be read or written, BuildError for what cannot become an image.
    """
    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError(f"files: give a list of paths, as [{os.fspath(files)!r}]")
    paths = [os.fspath(file) for file in files]
    path, text = None, "{}"
    if isinstance(settings, Mapping):
        text = _json(settings)
    elif settings is not None:
        path = os.fspath(settings)
        try:
            with open(path, encoding="utf-8-sig") as file:
                text = file.read()
        except UnicodeDecodeError:
            raise ValueError(f"{path}: this is not UTF-8 text; save it as UTF-8") from None
    if frame and not paths:
        raise ValueError(f"{', '.join(frame)}: this is of the files that are given, and there are none; say it in the settings")
    held, report = _hardpan.build_files(paths, _json({"source": [{"file": "given", **frame}]}), text, path)
    image = Image(held)
    if output is not None:
        image.save(output, overwrite=overwrite)
    return Built(image, report)
