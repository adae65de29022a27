"""Row against its literal reference, and what its instances mean."""

import numpy as np
import pytest

from bag_generators import TissueImage, generate
from tests.bag_generators.references import colour_grid
from tests.bag_generators.references.pictures import KINDS, flat, picture


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_literal_reference(kind: str) -> None:
    image = picture(kind)
    assert generate("row", image).features == pytest.approx(colour_grid.row(image.pixels), abs=1e-4)


def test_a_bright_band_is_brighter_than_both_neighbours() -> None:
    pixels = np.full((224, 224, 3), 100, np.uint8)
    pixels[28 * 3 : 28 * 4] = (100, 100, 180)
    bag = generate("row", TissueImage.from_array(pixels))
    above = bag.feature_names.index("blue, difference to the row above")
    below = bag.feature_names.index("blue, difference to the row below")
    assert bag.features[3, [above, below]].min() > 70
    assert bag.features[4, above] < -70
    assert bag.features[2, below] < -70
    assert bag.features[:, 0] == pytest.approx(100)


def test_regions_are_bands_of_the_original_picture() -> None:
    regions = generate("row", picture("noise", height=160, width=320)).regions
    assert [regions.box(i) for i in range(8)] == [(0, 20 * i, 320, 20 * (i + 1)) for i in range(8)]


def test_flat_picture_has_its_colour_and_no_differences() -> None:
    features = generate("row", flat((10, 200, 255))).features
    assert (features == [10, 200, 255, 0, 0, 0, 0, 0, 0]).all()
