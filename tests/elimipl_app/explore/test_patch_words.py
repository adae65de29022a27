"""Tissue words are said of tissue in focus only."""

import cv2
import numpy as np
import pytest

from bag_generators.tissue.quality import has_detail
from bag_generators.tissue.samples import list_samples

REAL = [sample for sample in list_samples() if sample.kind == "real"]


def windows(pixels: np.ndarray, side: int = 28) -> list[np.ndarray]:
    starts = [range(0, length - side, 2 * side) for length in pixels.shape[:2]]
    return [pixels[y : y + side, x : x + side] for y in starts[0] for x in starts[1]]


@pytest.mark.parametrize("sample", REAL, ids=lambda sample: sample.id)
def test_real_tissue_has_words_and_the_same_blurred_has_none(sample):
    pixels = sample.load().pixels
    assert np.mean([has_detail(one) for one in windows(pixels)]) > 0.95
    assert not any(has_detail(one) for one in windows(cv2.GaussianBlur(pixels, (0, 0), 4)))


@pytest.mark.parametrize("colour", [(70, 40, 120), (245, 245, 245), (0, 0, 0)])
def test_a_flat_square_has_none(colour):
    assert not has_detail(np.full((28, 28, 3), colour, dtype=np.uint8))
