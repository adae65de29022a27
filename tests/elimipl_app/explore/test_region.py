"""A drawn region: its shares of attention and area, and how well a map finds it."""

import numpy as np
import pytest

from bag_generators import GENERATORS, TissueImage, generate
from bag_generators.tissue import phantom
from elimipl_app.explore.maps import mask_of, polygons_of, region_numbers

TILE = TissueImage.from_array(phantom.draw("NORM", seed=3).pixels)
BOX = {"box": [{"x": [10, 122], "y": [0, 224]}], "lasso": [{"x": [0, 50, 0], "y": [0, 0, 50]}]}


def test_boxes_and_shapes_become_polygons_and_a_mask_of_the_field_of_view():
    box, shape = polygons_of(BOX)
    assert box.tolist() == [[10, 0], [122, 0], [122, 224], [10, 224]]
    assert shape.shape == (3, 2)
    assert polygons_of({"box": [], "lasso": [{"x": [1, 2], "y": [1, 2]}]}) == []
    mask = mask_of(polygons_of({"box": [{"x": [110, 130], "y": [205, 215]}]}), (224, 224), 100, 200)
    rows, columns = np.nonzero(mask)
    assert (columns.min(), rows.min()) == (10, 5)
    assert abs(int(mask.sum()) - 200) <= 31  # the edge of a box is one pixel wide
    assert not mask_of(polygons_of({"box": [{"x": [1e9, 2e9], "y": [0, 1]}]}), (224, 224), 0, 0).any()


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_even_attention_lies_where_the_area_is(generator):
    bag = generate(generator, TILE)
    attention = np.full(len(bag), 1 / len(bag))
    everything = region_numbers(bag, attention, attention, np.ones((224, 224), bool))
    assert (everything.attention, everything.area) == pytest.approx((1, 1))
    assert everything.auroc is None
    nothing = region_numbers(bag, attention, attention, np.zeros((224, 224), bool))
    assert (nothing.attention, nothing.area, nothing.patches) == (0, 0, 0)


def test_a_region_around_the_strongest_patch_is_found():
    bag = generate("sift", TILE)
    scores = np.arange(len(bag), dtype=float)
    numbers = region_numbers(bag, scores / scores.sum(), scores, bag.regions.mask(len(bag) - 1))
    assert numbers.auroc == 1
    assert numbers.patches == 1
    assert numbers.attention > numbers.area
