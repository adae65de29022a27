"""Row and SBN against their literal references, and what their instances mean."""

import numpy as np
import pytest

from bag_generators import TissueImage, generate
from tests.bag_generators.references import colour_grid
from tests.bag_generators.references.pictures import KINDS, flat, picture


@pytest.mark.parametrize("kind", KINDS)
def test_both_agree_with_the_literal_reference(kind: str) -> None:
    image = picture(kind)
    assert generate("row", image).features == pytest.approx(colour_grid.row(image.pixels), abs=1e-4)
    assert generate("sbn", image).features == pytest.approx(colour_grid.sbn(image.pixels), abs=1e-4)


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


@pytest.mark.parametrize(
    ("side", "y", "x"), [("left", 3, 1), ("right", 3, 5), ("upper", 1, 3), ("lower", 5, 3)], ids=lambda v: str(v)
)
def test_a_bright_neighbour_of_the_middle_blob_shows_on_its_side_only(side: str, y: int, x: int) -> None:
    pixels = np.full((224, 224, 3), 100, np.uint8)
    pixels[28 * y : 28 * (y + 2), 28 * x : 28 * (x + 2)] = (200, 100, 100)
    bag = generate("sbn", TissueImage.from_array(pixels))
    differences = dict(zip(bag.feature_names[3:], bag.features[4, 3:], strict=True))
    assert [name for name, value in differences.items() if value > 50] == [f"red, {side} neighbour minus centre"]


def test_regions_are_bands_and_overlapping_boxes_of_the_central_half() -> None:
    image = picture("noise", height=160, width=320)
    bands, regions = (generate(name, image).regions for name in ("row", "sbn"))
    assert [bands.box(i) for i in range(8)] == [(0, 20 * i, 320, 20 * (i + 1)) for i in range(8)]
    assert regions.box(0) == (80, 40, 160, 80)
    assert regions.box(1) == (120, 40, 200, 80)
    assert regions.box(8) == (160, 80, 240, 120)
    painted = np.isfinite(regions.paint(np.zeros(9)))
    assert painted.sum() == painted[40:120, 80:240].sum() == 80 * 160


def test_flat_picture_has_its_colour_and_no_differences() -> None:
    assert (generate("row", flat((10, 200, 255))).features == [10, 200, 255, 0, 0, 0, 0, 0, 0]).all()
    features = generate("sbn", flat((10, 200, 255))).features
    # Processors add in different orders, so a difference of equal blobs may be off in the last bit.
    np.testing.assert_allclose(features, np.tile([10, 200, 255, *[0] * 12], (9, 1)), rtol=0, atol=1e-12)
