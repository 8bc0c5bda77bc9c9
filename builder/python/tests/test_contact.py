"""Wheels and the terrain sensor on arrays of poses."""

import numpy as np
import pytest

import hardpan


def turned(degrees):
    """Rows of matrices that turn to the left."""
    a = np.radians(degrees)
    c, s, o = np.cos(a), np.sin(a), np.zeros_like(a)
    return np.stack([np.stack([c, -s, o], -1), np.stack([s, c, o], -1), np.stack([o, o, o + 1], -1)], -2)


def test_rf_66_a_hundred_thousand_wheels_in_one_call(slope):
    x = np.linspace(4, 12, 25_000)
    y = np.full_like(x, 8.0)
    hubs = np.stack([x, y, x / 4 - y / 8 + 0.28], -1)[:, None, :] + np.zeros((1, 4, 1))
    found = slope.contact(hubs, turned(np.zeros(4)), columns=16)
    assert found.height.shape == (25_000, 4) and found.normal.shape == (25_000, 4, 3)
    assert found.found.all() and found.patch_valid.all()
    normal = np.array([-0.25, 0.125, 1.0])
    assert np.allclose(found.normal, normal / np.linalg.norm(normal), atol=1e-9)
    # a plane: the penetration depends on the distance to it alone
    assert np.ptp(found.penetration) < 1e-6
    assert (found.mu == 0.75).all() and (found.rolling == 1.5).all() and (found.gain == 2.0).all()


def test_rf_66_strips_are_the_volume_by_triangles(slope):
    hubs = [[8.0, 8.0, 1.29], [6.0, 9.0, 0.66]]
    strips, columns = (slope.contact(hubs, strips=True), slope.contact(hubs, columns=256))
    assert strips.found.all() and np.abs(strips.penetration - columns.penetration).max() < 4e-4
    status = hardpan.ContactStatus
    assert slope.contact(hubs[0], strips=1).status == status.LIMIT_REACHED
    assert slope.contact([8.0, 1e5, 1.29], strips=True).status == status.NOT_IN_IMAGE
    for wrong in ({"strips": 1 << 16}, {"strips": True, "columns": 16}):
        with pytest.raises(ValueError):
            slope.contact(hubs, **wrong)


def test_mv_32_surface_cone_index_and_label_of_answers(slope):
    ground = slope.closest([1.0, 1e6], [2.0, 2.0], [3.0, 3.0])
    material = slope.materials[int(ground.material[0])]
    assert (ground.surface[0], ground.label[0]) == (material.surface_type, material.label)
    assert ground.cone_index[0] == (material.cone_index or 0)
    assert not ground.found[1] and (ground.surface[1], ground.label[1], ground.cone_index[1]) == (0, 0, 0)


def test_rf_09_points_are_weighted(slope):
    points = [[-0.1, 0, 0, 1], [0.1, 0, 0, 3]]
    found = slope.contact([8.0, 8.0, 1.3], points=points)
    middle = slope.closest(8.05, 8.0, 1.3).z
    assert abs(found.height - middle) < 1e-4
    one = slope.contact([8.0, 8.0, 1.3])
    assert one.height == slope.closest(8.0, 8.0, 1.3).z
    # rFactor's axes: left, up, back
    rf = slope.contact([8.0, 1.3, -8.0], axes="rfactor")
    assert rf.height == one.height and np.allclose(rf.patch_centre, [8.0, one.height, -8.0])


def test_what_cannot_be_asked_has_a_status(slope):
    status = hardpan.ContactStatus
    level = np.eye(3)
    oris = np.stack([level, level * [1, -1, 1], level * 1.1, level])
    found = slope.contact([[8, 8, 1.3], [8, 8, 1.3], [8, 8, 1.3], [np.nan, 8, 1.3]], oris)
    assert found.status.tolist() == [status.FOUND, status.MIRRORED, status.SKEWED, status.NOT_FINITE]
    assert slope.contact([8, 8, 1.3], radius=0.0).status == status.BAD_SIZE
    assert slope.contact([8, 8, 1.3], down=[0, 0, 0]).status == status.BAD_DOWN
    assert slope.contact([1e5, 8, 1.3]).status == status.NOT_IN_IMAGE
    assert slope.contact(np.empty((0, 3))).height.shape == (0,)
    for wrong in ({"columns": 17}, {"axes": "iso"}, {"points": [[1, 2, 3]]}, {"down": [1, 2]}):
        with pytest.raises(ValueError):
            slope.contact([8, 8, 1.3], **wrong)


def test_mw_09_mw_13_mw_14_the_sensor(deck):
    n = 10
    centre = np.stack([np.linspace(9, 12, n), np.full(n, 8.0), np.full(n, 0.35)], -1)
    radii = np.linspace(0.2, 0.4, 4 * n).reshape(n, 4)
    seen = deck.sensor(centre, tyre_distance=radii, vehicle_distance=np.arange(n))
    assert seen.hit[:, 1:].all() and not seen.hit[:, 0].any()
    assert np.allclose(seen.tyre_adjusted, 0.35 - radii, atol=1e-5)
    assert np.allclose(seen.vehicle_adjusted, 50 - np.arange(n))
    assert np.array_equal(seen.hit_location[:, 0], seen.end[:, 0])
    off = deck.sensor(centre[0], enabled=[False, True, True, True, False])
    assert off.status.tolist() == [hardpan.DISABLED, 0, 0, 0, hardpan.DISABLED]
    with pytest.raises(ValueError, match="step 3"):
        centre[3] = np.nan
        deck.sensor(centre)
    with pytest.raises(ValueError):
        deck.sensor([9, 8, 0.35], length=[1, 2])
