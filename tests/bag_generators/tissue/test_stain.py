"""Stain normalisation: what it must reach and leave alone, and pictures it can't make sense of; augmented copies."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from bag_generators import load
from bag_generators.tissue import phantom
from bag_generators.tissue.stain import STAINS, augmented, channel_name, normalise, restained, symmetry, zoomed
from tests.bag_generators.references.pictures import KINDS, flat, picture

TILE = phantom.draw("NORM", seed=5).pixels
METHODS = [name for name in STAINS if name != "none"]
STAINS_HERE = ((0.62, 0.68, 0.39), (0.12, 0.88, 0.46))  # haematoxylin and eosin of one laboratory
STAINS_THERE = ((0.72, 0.63, 0.49), (0.22, 0.88, 0.31))  # and of another


def stained(stains: tuple[tuple[float, ...], ...], strength: float = 1.0) -> np.ndarray:
    """A 224×224 picture of the same random tissue in the two stains given, with a strip of bare glass."""
    rng = np.random.default_rng(0)
    soft = cv2.GaussianBlur(rng.random((224, 224, 2)), (0, 0), 2)
    amounts = np.clip((soft - 0.5) * 12 + 0.6, 0, 2) * strength
    amounts[:, :40] = 0
    density = amounts @ np.array([np.array(v) / np.linalg.norm(v) for v in stains])
    return np.clip(np.rint(256 * np.exp(-density) - 1), 0, 255).astype(np.uint8)


def test_none_leaves_the_picture_alone() -> None:
    pixels = picture("tissue").pixels
    assert normalise(pixels, "none") is pixels


def test_tones_do_not_depend_on_the_hue() -> None:
    pixels = picture("tissue").pixels
    tinted = pixels.copy()
    tinted[..., 0] //= 2
    tinted[..., 2] = 255 - tinted[..., 2]
    np.testing.assert_array_equal(normalise(tinted, "tones"), normalise(pixels, "tones"))


@pytest.mark.parametrize("method", [name for name in METHODS if name != "tones"])  # which keeps the strength
def test_two_stainings_of_the_same_tissue_come_closer(method: str) -> None:
    pale, strong = stained(STAINS_HERE, strength=0.7), stained(STAINS_THERE, strength=1.2)
    tissue = np.s_[:, 40:]
    before = np.abs(pale[tissue].astype(float) - strong[tissue]).mean()
    one, other = (normalise(pixels, method)[tissue].astype(float) for pixels in (pale, strong))
    assert np.abs(one - other).mean() < 0.5 * before


@pytest.mark.parametrize("method", METHODS)
def test_bare_glass_stays_white(method: str) -> None:
    result = normalise(stained(STAINS_HERE), method)
    assert result[:, :36].min() >= 250


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("colour", [(255, 255, 255), (240, 238, 241), (0, 0, 0), (128, 128, 128), (90, 40, 160)])
def test_flat_pictures_stay_flat(method: str, colour: tuple[int, int, int]) -> None:
    result = normalise(flat(colour).pixels, method)
    assert (result == result[0, 0]).all()


@settings(max_examples=40, deadline=None)
@given(arrays(np.uint8, (16, 16, 3)), st.sampled_from(METHODS))
def test_any_pixels_give_a_picture_without_a_warning(pixels: np.ndarray, method: str) -> None:
    assert normalise(pixels, method).shape == pixels.shape


@pytest.mark.parametrize("method", METHODS)
def test_any_number_of_threads_gives_the_same_pixels(method: str) -> None:
    for kind in KINDS:
        pixels = picture(kind, height=600, width=500).pixels
        with threadpool_limits(1):
            one = normalise(pixels, method)
        with threadpool_limits(2):
            assert (normalise(pixels, method) == one).all()


@pytest.mark.parametrize("method", METHODS)
def test_real_slides_come_closer_to_each_other(method: str, shared_data: Path) -> None:
    def mean_colours(folder: str, chosen: str) -> np.ndarray:
        tiles = sorted(shared_data.glob(f"{folder}/*"))[:60:3]
        return np.mean([normalise(load(tile).pixels, chosen).mean(axis=(0, 1)) for tile in tiles], axis=0)

    ours, theirs = "lesion5/train/healthy", "tissue7/train/NORM"
    before = np.abs(mean_colours(ours, "none") - mean_colours(theirs, "none")).mean()
    assert np.abs(mean_colours(ours, method) - mean_colours(theirs, method)).mean() < before


def test_tones_have_no_hue_so_no_feature_is_called_after_one():
    colours = ("red", "blueness (Cb)", "redness (Cr)")
    assert not [name for name in colours if set(channel_name(name, "tones").split()) & {"red", "redness", "blueness"}]
    assert [channel_name(name, "none") for name in colours] == list(colours)


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
