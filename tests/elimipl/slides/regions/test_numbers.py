"""The numbers of a region, against areas and shares that can be counted by hand."""

import numpy as np
import pytest
import shapely.affinity

from elimipl.candidates.labels import TISSUE7
from elimipl.slides.regions.numbers import coverage, measure_region
from tests.elimipl_app.slide.small_map import small_map


@pytest.fixture
def grid():
    """4 × 5 tiles of 100 px: the two left columns are class 0, the others 6; one tile was left out."""
    classes = np.full((4, 5), 6)
    classes[:, :2] = 0
    classes[0, 0] = -1
    return small_map(classes, 100, 500, 400, np.where(classes == 6, 3.0, 1.0))


def test_parts_of_tiles_count_by_what_of_them_is_inside(grid):
    part = coverage(shapely.box(60, 0, 250, 100), grid)
    assert part.shape == (16, 20)
    assert part[0].tolist() == pytest.approx([0, 0, 0.6, 1, 1, 1, 1, 1, 1, 1] + 10 * [0])
    assert part[4:].max() == 0


@pytest.mark.parametrize("corner", [(0, 0), (130, 70), (333, 211)])
def test_the_parts_add_up_to_the_area(grid, corner):
    drawn = shapely.Polygon([(0, 0), (90, 20), (120, 140), (10, 80)])
    shape = shapely.affinity.translate(drawn, *corner)
    assert coverage(shape, grid).sum() * 25**2 == pytest.approx(shape.area)


def test_area_shares_and_attention_are_those_counted_by_hand(grid):
    numbers = measure_region(shapely.box(100, 100, 300, 200), 0.5, grid)  # one cell of class 0 and one of class 6
    assert numbers.area_mm2 == pytest.approx(0.1 * 0.05)
    assert numbers.class_shares == pytest.approx({TISSUE7.names[0]: 0.5, TISSUE7.names[6]: 0.5})
    assert numbers.attention_share == pytest.approx(4 / (7 * 1 + 12 * 3))
    assert numbers.mapped == pytest.approx(1)


def test_what_was_left_out_counts_for_nothing(grid):
    numbers = measure_region(shapely.box(0, 0, 100, 200), 0.5, grid)
    assert numbers.mapped == pytest.approx(0.5)
    assert numbers.class_shares == {TISSUE7.names[0]: 1.0}


def test_auroc_is_that_of_cells_inside_against_outside(grid):
    tumour = measure_region(shapely.box(200, 0, 500, 400), 0.5, grid)
    assert (next(iter(tumour.class_shares)), tumour.auroc_attention, tumour.auroc_class) == (TISSUE7.names[6], 1.0, 1.0)
    column = measure_region(shapely.box(200, 0, 300, 400), 0.5, grid)  # 4 of 12 cells with equal scores
    assert column.auroc_class == pytest.approx((7 + 8 / 2) / 15)
    assert measure_region(shapely.box(0, 0, 200, 400), 0.5, grid).auroc_attention == 0


@pytest.mark.parametrize("box", [(0, 0, 100, 100), (0, 0, 500, 400)])
def test_where_nothing_or_everything_is_inside_there_is_no_auroc(grid, box):
    assert measure_region(shapely.box(*box), 0.5, grid).auroc_attention is None


def test_without_scale_or_map_the_rest_is_still_said(grid):
    assert measure_region(shapely.box(100, 100, 300, 200), None, grid).area_mm2 is None
    bare = measure_region(shapely.box(0, 0, 1000, 1000), 1.0, None)
    assert (bare.area_mm2, bare.class_shares, bare.attention_share) == (1.0, {}, None)
