"""An image beside another tool, of whose points the differences are known."""

import numpy as np

import hardpan


def test_differences_are_told(slope):
    x, y = (v.reshape(-1) for v in np.meshgrid(np.arange(16) + 0.5, np.arange(16) + 0.25))
    off = np.zeros(256)
    off[[7, 100, 33]] = 0.5, -0.25, 0.125
    mu = np.full(256, 0.75)
    mu[[5, 9]] = 0.5, 1.75
    true = x / 4 - y / 8
    found = hardpan.compare(slope, np.stack([x, y, true - off, mu], axis=1))
    assert (found.points, found.compared) == (256, 256)
    assert np.array_equal(found.difference, off)
    assert found.largest == 0.5 and found.mean == 0.375 / 256 and found.mean_abs == 0.875 / 256
    assert found.rms == np.sqrt((0.25 + 0.0625 + 0.015625) / 256)
    assert found.percentiles == {50.0: 0, 90.0: 0, 99.0: 0.125, 99.9: 0.5}  # the 128th, 231st, 254th and 256th
    assert list(found.worst[:3]) == [7, 100, 33] and len(found.worst) == 10
    assert found.mu_largest == 1.0 and list(found.mu_worst[:2]) == [9, 5]
    assert "256 of 256 points compared" in str(found) and "mu: largest 1" in str(found)
    assert hardpan.compare(slope, np.stack([x, y, true], axis=1)).mu_largest is None


def test_places_without_ground_are_not_compared(slope):
    points = np.array([[1, 1, 0.0], [2, 2, np.nan], [99, 2, 1.0], [99, 3, np.nan], [4, 4, 0.5]])
    found = hardpan.compare(slope, points, worst=1)
    assert found.compared == 2 and list(found.only_image) == [1] and list(found.only_points) == [2]
    assert list(found.worst) == [0] and found.largest == 0.125
    assert np.isnan(found.difference[[1, 2, 3]]).all()
    odd = np.array([[1, 1, 0.0], [np.nan, 2, 1.0], [1, np.inf, np.nan], [1, 1, -np.inf]])
    found = hardpan.compare(slope, odd)
    assert found.compared == 1 and list(found.no_number) == [1, 2, 3]
    assert len(found.only_points) == 0 and len(found.only_image) == 0
    none = hardpan.compare(slope, np.empty((0, 3)))
    assert none.compared == 0 and np.isnan([none.largest, none.mean, none.rms]).all() and len(none.worst) == 0
    assert "0 of 0 points" in str(none)
