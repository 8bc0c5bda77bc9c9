"""Builds, and what is said of them."""

import multiprocessing
import pathlib

import numpy as np
import pytest
from conftest import grid

import hardpan

OBJ = """mtllib two.mtl
v 0 0 0\nv 800 0 100\nv 800 800 100\nv 0 800 0
usemtl Road\nf 1 2 3\nusemtl Verge\nf 1 3 4
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "two.obj").write_text(OBJ)
    (tmp_path / "two.mtl").write_text("newmtl Road\nnewmtl Verge\n")
    settings = '[[source]]\nfile = "two.obj"\nunit = "cm"\n[[material]]\nname = "Road"\nmu = 0.9\n[[material]]\npattern = "V*"\nmu = 0.3\n'
    (tmp_path / "two.toml").write_text(settings)
    return tmp_path


def test_a_report_counts_what_became_of_the_triangles():
    vertices, faces = grid(4, 4, lambda x, y: 0 * x)
    vertices = np.concatenate([vertices, [[0, 0, 9], [1, 0, 9], [1, 0, 12]]])
    faces = np.concatenate([faces, faces[:3], [[25, 26, 27], [0, 0, 1]]])
    built = hardpan.build(vertices, faces)
    counts = {name: built.report[name] for name in ("triangles_in", "triangles", "vertical", "collapsed", "duplicates")}
    assert counts == {"triangles_in": 37, "triangles": 32, "vertical": 1, "collapsed": 1, "duplicates": 3}
    assert built.report["image_bytes"] == built.image.nbytes and built.report["stitch"]["open_edges"] == 16
    assert built.image.triangles == 32 and [m.name for m in built.image.materials] == [""]


def test_the_same_triangles_in_any_order_are_one_image():
    vertices, faces = grid(9, 7, lambda x, y: np.sin(x) + np.cos(y))
    names, of_face = ["a", "b"], np.arange(len(faces)) % 2
    order = np.random.default_rng(6).permutation(len(faces))
    one = hardpan.build(vertices, faces, names, face_materials=of_face).image
    two = hardpan.build(vertices, faces[order].astype(np.uint16), names, face_materials=of_face[order]).image
    turned = hardpan.build(np.asfortranarray(vertices), np.asfortranarray(faces), names[::-1], face_materials=1 - of_face).image
    assert one.identity == two.identity == turned.identity
    assert one.identity != hardpan.build(vertices, faces, names).image.identity


def build_and_tell(told):
    told.send(hardpan.build(*grid(40, 40, lambda x, y: np.sin(x))).image.identity)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_has_built_may_fork_and_build_again():
    own = hardpan.build(*grid(40, 40, lambda x, y: np.sin(x))).image.identity
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=build_and_tell, args=(there,))
    child.start()
    told = here.recv() if here.poll(60) else None
    child.kill()
    child.join()
    assert told == own


def test_settings_are_those_of_a_settings_file():
    vertices, faces = grid(2, 2, lambda x, y: x / 2)
    image = hardpan.build(vertices, faces, fallback="default", default_z=-7.5, near=np.float64(2.0), stitch=False, xy_log2=np.int64(-8)).image
    assert image.fallback == "default" and image.windows[0] == 2.0 and float(image.closest(9, 9, 9).z) == -7.5
    for settings, said in [
        ({"xy_log": 3}, 'did you mean "xy_log2"'), ({"near": -1}, "windows"), ({"fallback": "none"}, "bounds-min-z"),
        ({"xy_log2": 5}, "steps go from"), ({"stitch": "yes"}, "stitch|false|plan"),
    ]:  # fmt: skip
        with pytest.raises(hardpan.BuildError, match=said):
            hardpan.build(vertices, faces, **settings)
    with pytest.raises(ValueError, match="NaN and infinite"):
        hardpan.build(vertices, faces, near=float("nan"))
    with pytest.raises(TypeError, match="is no number"):
        hardpan.build(vertices, faces, near=object())


def test_faces_and_materials_that_do_not_fit():
    vertices, faces = grid(2, 2, lambda x, y: x / 2)
    for wrong, said in [(9, "face 1 names vertex 9; numbers go from 0 to 8"), (-1, "face 1 names vertex -1"), (2**40, str(2**40))]:
        with pytest.raises(hardpan.BuildError, match=said):
            hardpan.build(vertices, [[0, 1, 4], [0, wrong, 4]])
    with pytest.raises(ValueError, match="no index"):
        hardpan.build(vertices, np.array([[0, 1, 2**63]], np.uint64))
    with pytest.raises(hardpan.BuildError, match="face 0 has material 2; numbers go from 0 to 1"):
        hardpan.build(vertices, faces, ["a", "b"], face_materials=[2] * len(faces))
    with pytest.raises(ValueError, match=r"face_materials: .*\(3,\); the shape must be \(8,\)"):
        hardpan.build(vertices, faces, ["a", "b"], face_materials=[0, 1, 0])
    with pytest.raises(ValueError, match="'a' is there twice"):
        hardpan.build(vertices, faces, ["a", "a"])
    with pytest.raises(TypeError, match=r"materials\[1\]: 3; give a name"):
        hardpan.build(vertices, faces, ["a", 3])
    with pytest.raises(hardpan.BuildError, match=r'^materials\[1\] \("b"\): mu is -1'):
        hardpan.build(vertices, faces, ["a", {"name": "b", "mu": -1}])
    with pytest.raises(hardpan.BuildError, match="^vertex 1 is not a number"):
        hardpan.build([[0, 0, 0], [0, np.nan, 0], [1, 1, 1]], [[0, 1, 2]])
    for faces in (np.zeros((0, 3), int), [[0, 0, 0]]):
        with pytest.raises(hardpan.BuildError, match="no ground"):
            hardpan.build(vertices, faces)


@pytest.mark.parametrize("wrong, right", [
    ("mue", "mu"), ("surface", "surface_type"), ("friction", "mu"), ("rolling", "rr"), ("class_mask", "classes"), ("gian", "gain"),
])  # fmt: skip
def test_a_wrong_key_of_a_material_is_named_with_the_right_one(wrong, right):
    vertices, faces = grid(2, 2, lambda x, y: x / 2)
    materials = ["Grass", {"name": "Road", "mu": 0.9, wrong: 1}]
    with pytest.raises(hardpan.BuildError) as said:
        hardpan.build(vertices, faces, materials, face_materials=np.zeros(8, int))
    assert str(said.value).startswith(f'materials[1] ("Road"): "{wrong}" is not known here (did you mean "{right}"?)')


def far_raster():
    """A slope of 30 % at coordinates of a national grid, with posts a quarter of a metre apart."""
    vertices, faces = grid(79, 79, lambda x, y: 100 + 0.3 * (y - 5_278_000), 0.25, (433_000, 5_278_000))
    return vertices, faces


def test_arrays_of_single_precision_far_from_zero_are_warned_of():
    vertices, faces = far_raster()
    assert hardpan.build(vertices, faces).report["warnings"] == []
    report = hardpan.build(vertices.astype(np.float32), faces).report
    (warning,) = report["warnings"]
    assert warning.startswith("arrays: ") and warning.endswith(" [precision]")
    assert "steps of 0.5 m" in warning and f"{report['collapsed'] + report['vertical']:,} of 12,482 triangles" in warning
    # near zero the same loses nothing
    near = vertices - [433_000, 5_278_000, 0]
    assert hardpan.build(near.astype(np.float32), faces).report["warnings"] == []


def test_a_file_is_warned_of_as_its_arrays_are(tmp_path):
    vertices, faces = far_raster()
    path = tmp_path / "far.obj"
    single = vertices.astype(np.float32)
    lines = [f"v {x} {y} {z}" for x, y, z in single.tolist()] + [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")
    of_arrays = hardpan.build(single, faces).report["warnings"]
    of_file = hardpan.build_files([path], up="z", unit="m").report["warnings"]
    assert [w.removeprefix(str(path)) for w in of_file] == [w.removeprefix("arrays") for w in of_arrays]
    assert hardpan.build_files([path], settings={"allow": ["precision"]}).report["warnings"] == []


def test_files_become_one_image(files):
    built = hardpan.build_files([files / "two.obj"], unit="cm", settings={"material": [{"name": "Road", "mu": 0.9}, {"name": "", "mu": 0.3}]},
                                output=files / "two.hpan")
    by_settings = hardpan.build_files(settings=files / "two.toml")
    assert built.image.identity == by_settings.image.identity
    with hardpan.open(files / "two.hpan") as image:
        assert image.identity == built.image.identity
        ground = image.closest([6, 2], [2, 6], 0)
        assert ground.z.tolist() == [0.75, 0.25] and ground.mu.tolist() == [0.9, 0.3]
    assert built.report["triangles"] == 2 and built.report["mu_by_default"] == []
    assert hardpan.build_files([str(files / "two.obj")], unit="cm").report["mu_by_default"] == ["Road", "Verge"]


def test_files_that_make_no_image(files):
    with pytest.raises(FileNotFoundError, match="none.obj"):
        hardpan.build_files([files / "none.obj"])
    with pytest.raises(TypeError, match=r"give a list of paths, as \['two.obj'\]"):
        hardpan.build_files("two.obj")
    with pytest.raises(hardpan.BuildError, match="no files"):
        hardpan.build_files()
    with pytest.raises(ValueError, match="unit: this is of the files"):
        hardpan.build_files(settings=files / "two.toml", unit="cm")
    with pytest.raises(hardpan.BuildError, match="a unit is one of m, km"):
        hardpan.build_files([files / "two.obj"], unit="ell")
    (files / "bad.toml").write_text('[[material]]\nname = "Roads"\n')
    with pytest.raises(hardpan.BuildError, match=r'bad.toml: line 2: material "Roads" is not in the scene \(did you mean "Road"'):
        hardpan.build_files([files / "two.obj"], settings=files / "bad.toml")
    (files / "bad.obj").write_text("v 0 0 0\nf 1 2 3\n")
    with pytest.raises(hardpan.BuildError, match="bad.obj"):
        hardpan.build_files([files / "bad.obj"])
    with pytest.raises(hardpan.BuildError, match="hardpan build --raster"):
        hardpan.build_files([files / "two.obj"], settings={"raster": {"cell": 1}})


def test_only_images_are_replaced(files, deck):
    mesh = files / "two.obj"
    with pytest.raises(FileExistsError, match="is no terrain image"):
        deck.save(mesh)
    assert mesh.read_text() == OBJ
    place = files / "deck.hpan"
    deck.save(place)
    deck.save(str(place))
    deck.save(mesh, overwrite=True)
    assert mesh.read_bytes() == place.read_bytes() == deck.tobytes()
    with pytest.raises(FileNotFoundError):
        deck.save(files / "no" / "folder.hpan")
    assert not [p for p in pathlib.Path(files).iterdir() if p.suffix == ".part"]


def test_by_16_heights_know_where_on_earth_they_lie(tmp_path):
    head = "ncols 9\nnrows 9\nxllcorner 648995\nyllcorner 5317995\ncellsize 10\n"
    (tmp_path / "a.asc").write_text(head + "\n".join(" ".join(str(c + 2 * r) for c in range(9)) for r in range(9)))
    image = hardpan.build_files([tmp_path / "a.asc"], file_crs="EPSG:32632").image
    assert image.crs == hardpan.Crs("EPSG:32632", "WGS 84", "", 32632)
    assert image.closest(649_000, 5_318_080, 0).z == 0
    # pyproj, EPSG:4326 to EPSG:32632
    x, y = image.place([11.0], [48.0])
    assert np.allclose([x, y], [[649_187.9], [5_318_236.1]], rtol=0, atol=100)
    longitude, latitude = image.lonlat(*image.place([[11.0, 10.5]], 48.0))
    assert np.allclose(longitude, [[11.0, 10.5]], rtol=0, atol=1e-9) and np.allclose(latitude, 48.0, rtol=0, atol=1e-9)
    vertices, faces = grid(4, 4, lambda x, y: 0 * x)
    flat = hardpan.build(vertices, faces).image
    assert flat.crs is None
    with pytest.raises(ValueError, match="where on earth"):
        flat.place(11, 48)
