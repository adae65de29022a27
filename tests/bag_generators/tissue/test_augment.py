"""Augmented copies: the same tile in another place, another stain, another turn."""

import numpy as np
import pytest

from bag_generators.tissue import phantom
from bag_generators.tissue.stain import augmented, restained, symmetry, zoomed

TILE = phantom.draw("NORM", seed=5).pixels


def test_the_eight_symmetries_are_eight_and_keep_every_pixel():
    copies = [symmetry(TILE, number) for number in range(8)]
    assert len({copy.tobytes() for copy in copies}) == 8
    np.testing.assert_array_equal(copies[0], TILE)
    for copy in copies:
        np.testing.assert_array_equal(np.sort(copy.reshape(-1, 3), axis=0), np.sort(TILE.reshape(-1, 3), axis=0))


def test_copies_depend_on_the_seed_alone():
    first, again, other = (augmented(TILE, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert first.shape == TILE.shape
    assert zoomed(TILE[:100], np.random.default_rng(0)).shape == (100, 224, 3)
    assert first.dtype == np.uint8


@pytest.mark.parametrize("seed", range(5))
def test_another_stain_moves_colours_but_not_structure(seed):
    copy = restained(TILE, np.random.default_rng(seed))
    assert np.abs(copy.astype(int) - TILE).mean() > 1
    grey = [picture.mean(axis=2).ravel() for picture in (copy, TILE)]
    assert np.corrcoef(*grey)[0, 1] > 0.95


@pytest.mark.parametrize("value", [0, 255])
def test_black_and_white_survive(value):
    flat = np.full((64, 64, 3), value, np.uint8)
    copy = augmented(flat, np.random.default_rng(0))
    assert copy.dtype == np.uint8
    assert np.ptp(copy.reshape(-1, 3), axis=0).max() == 0
