"""Grounds whose true answers are known."""

import numpy as np
import pytest

import hardpan


def grid(columns, rows, height, side=1.0, low=(0.0, 0.0)):
    """Vertices and faces of a field of squares, each of two triangles."""
    x, y = np.meshgrid(low[0] + side * np.arange(columns + 1), low[1] + side * np.arange(rows + 1))
    vertices = np.stack([x, y, height(x, y)], axis=-1).reshape(-1, 3)
    at = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]
    faces = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=-2).reshape(-1, 3)
    return vertices, faces


def joined(*meshes):
    """Meshes as one, and of each face the number of its mesh."""
    first = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    vertices = np.concatenate([vertices for vertices, _ in meshes])
    faces = np.concatenate([faces + n for (_, faces), n in zip(meshes, first)])
    return vertices, faces, np.repeat(np.arange(len(meshes)), [len(faces) for _, faces in meshes])


@pytest.fixture(scope="session")
def slope():
    """16 x 16 m: z is x/4 - y/8, and all places that are asked lie on the lattice, so every height is exact."""
    vertices, faces = grid(16, 16, lambda x, y: x / 4 - y / 8)
    settings = {"default_mu": 0.125, "default_rr": 3.0, "default_gain": 5.0, "bounds": True}
    return hardpan.build(vertices, faces, [{"name": "Asphalt", "mu": 0.75, "rr": 1.5, "gain": 2.0}], **settings).image


@pytest.fixture(scope="session")
def deck():
    """A floor of 16 x 16 m at 0, and over its west half a deck at 5."""
    vertices, faces, of_face = joined(
        grid(16, 16, lambda x, y: 0 * x), grid(8, 16, lambda x, y: 5 + 0 * x)
    )
    materials = [{"name": "Floor", "mu": 0.5}, {"name": "Deck", "mu": 0.25, "surface_type": 1}]
    return hardpan.build(vertices, faces, materials, face_materials=of_face).image


@pytest.fixture(scope="session")
def rough():
    """200 x 200 m of rough hills of two materials, with a bridge of a third over them and a strip left out."""
    vertices, faces = grid(200, 200, lambda x, y: 3 * np.sin(x / 17) * np.cos(y / 13) + np.sin(x * 7 + y * 3) / 8)
    keep = (faces % 201).min(axis=1) != 77
    bridge = grid(20, 4, lambda x, y: 9 + x / 50, side=8.0, low=(20.3, 90.7))
    vertices, faces, of_face = joined((vertices, faces[keep]), bridge)
    hills = int(keep.sum())
    of_face = np.where(np.arange(len(faces)) < hills, np.arange(len(faces)) // 977 % 2, 2)
    materials = [{"name": "Grass", "mu": 0.4, "rr": 5}, {"name": "Dirt", "mu": 0.55}, {"name": "Bridge", "mu": 0.9, "gain": 0.5}]
    return hardpan.build(vertices, faces, materials, face_materials=of_face).image
