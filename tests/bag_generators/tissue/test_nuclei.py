"""The scale by the size of nuclei."""

import math

import cv2
import numpy as np
import pytest

from bag_generators.tissue import nuclei
from bag_generators.tissue.nuclei import estimate_scale
from bag_generators.tissue.samples import list_samples

SAMPLES = {sample.id: sample for sample in list_samples()}


def resized(name: str, factor: float) -> np.ndarray:
    pixels = SAMPLES[name].load().pixels
    size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC)


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.0, 1.5, 2.0])
def test_nuclei_tell_the_scale_of_real_tissue_shrunk_and_enlarged(factor):
    found = estimate_scale(resized("real-stroma", factor))
    assert found.low < 0.5 / factor < found.high
    assert found.microns_per_pixel == pytest.approx(0.5 / factor, rel=0.3)


@pytest.mark.parametrize("name", ["real-stroma", "restained-section", "phantom-lym"])
def test_a_picture_twice_as_large_has_pixels_half_as_large(name):
    once, twice = estimate_scale(resized(name, 1)), estimate_scale(resized(name, 2))
    assert once.microns_per_pixel / twice.microns_per_pixel == pytest.approx(2, rel=0.2)


def test_the_strength_of_the_stain_hardly_matters():
    pixels = resized("real-stroma", 1)
    faint = (255 * (pixels / 255.0) ** 0.6).astype(np.uint8)
    ratio = estimate_scale(faint).microns_per_pixel / estimate_scale(pixels).microns_per_pixel
    assert abs(math.log(ratio)) < 0.15


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 300, 3), (64, 64, 3), (900, 1200, 3), (40, 20_000, 3)])
@pytest.mark.parametrize("value", [0, 255])
def test_where_there_are_no_nuclei_nothing_is_said(shape, value):
    assert estimate_scale(np.full(shape, value, np.uint8)) is None


@pytest.mark.parametrize("shape", [(64, 64, 3), (300, 20, 3), (700, 900, 3)])
def test_whatever_a_picture_shows_the_numbers_are_finite(shape):
    found = estimate_scale(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8))
    assert found is None or 0 < found.low <= found.microns_per_pixel <= found.high < math.inf


def test_of_a_large_picture_a_bounded_part_is_read():
    large = np.broadcast_to(np.uint8(200), (2000, 9000, 3))
    assert 0 < sum(window[..., 0].size for window in nuclei._windows(large)) <= nuclei._MOST_PIXELS
