"""SIFT against its literal reference and against OpenCV, and what its numbers mean."""

import cv2
import numpy as np
import pytest

from bag_generators import TissueImage, generate
from bag_generators.generators.sift import POINTS
from tests.bag_generators.references import sift as literal
from tests.bag_generators.references.pictures import KINDS, flat, picture


def grey(image: TissueImage) -> np.ndarray:
    return cv2.cvtColor(image.pixels, cv2.COLOR_RGB2GRAY)


def opencv_descriptors(image: TissueImage) -> np.ndarray:
    """OpenCV's own descriptors at the same points, scaled to length 1: (25, 128)."""
    points = [cv2.KeyPoint(x, y, size=4 * 16 / 6, angle=0) for y in map(float, POINTS) for x in map(float, POINTS)]
    _, descriptors = cv2.SIFT_create().compute(grey(image), points)
    return descriptors / np.linalg.norm(descriptors, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_literal_reference(kind: str) -> None:
    image = picture(kind)
    assert generate("sift", image).features == pytest.approx(literal.sift(grey(image)), abs=1e-3)


def test_agrees_with_opencv_on_tissue() -> None:
    for seed in range(5):
        image = picture("tissue", seed)
        assert (generate("sift", image).features * opencv_descriptors(image)).sum(axis=1).min() > 0.999


def test_is_25_unit_vectors_of_128_float32() -> None:
    features = generate("sift", picture("tissue")).features
    assert np.linalg.norm(features, axis=1) == pytest.approx(1, abs=1e-5)
    assert features.min() >= 0


@pytest.mark.parametrize("grey_level", [0, 1, 77, 200, 243, 255])
def test_without_gradient_the_descriptor_is_zero_and_not_magnified_rounding(grey_level: int) -> None:
    assert (generate("sift", flat((grey_level, grey_level, grey_level))).features == 0).all()


def test_one_grey_level_in_one_pixel_is_enough_for_a_descriptor() -> None:
    pixels = np.full((224, 224, 3), 100, np.uint8)
    pixels[72, 72] = 101
    lengths = np.linalg.norm(generate("sift", TissueImage.from_array(pixels)).features, axis=1).reshape(5, 5)
    assert lengths[1, 1] == pytest.approx(1)
    assert lengths[4, 4] == 0


@pytest.mark.parametrize(
    ("direction", "dx", "dy"),
    [
        ("the right", 1, 0), ("the upper right", 1, -1), ("the top", 0, -1), ("the upper left", -1, -1),
        ("the left", -1, 0), ("the lower left", -1, 1), ("the bottom", 0, 1), ("the lower right", 1, 1),
    ],
)  # fmt: skip
def test_a_ramp_of_brightness_speaks_in_the_direction_it_is_named_for(direction: str, dx: int, dy: int) -> None:
    y, x = np.mgrid[:224, :224] - 112
    ramp = (128 + 0.5 * (dx * x + dy * y)).astype(np.uint8)
    bag = generate("sift", TissueImage.from_array(np.repeat(ramp[:, :, None], 3, axis=2)))
    middle = bag.features[12]
    named = [name.endswith(f"towards {direction}") for name in bag.feature_names]
    assert np.square(middle[named]).sum() > 0.99


def test_regions_are_the_cells_of_a_5_by_5_grid_around_the_key_points() -> None:
    regions = generate("sift", picture("noise", height=300, width=150)).regions
    assert regions.box(0) == (0, 0, 30, 60)
    assert regions.box(7) == (60, 60, 90, 120)
    for row, y in enumerate(POINTS):
        for column, x in enumerate(POINTS):
            assert regions.at(x * 150 / 224, y * 300 / 224) == 5 * row + column
