"""Regions as a browser sends them."""

import math

import numpy as np
import pytest
import shapely

from bag_generators import InputError
from elimipl.slides.regions.region import MOST_CORNERS, MOST_REGIONS, KeptRegions, Region, drawn_ring, refuse_if_tangled

REGION = Region(1, "Region 1", shapely.box(0, 0, 10, 10))
SQUARE = [[10, 10], [30, 10], [30, 30], [10, 30]]


def test_a_ring_becomes_its_area():
    area = drawn_ring(SQUARE, 100, 100)
    assert area.area == 400
    assert sorted(Region(1, "a", area).rings[0]) == sorted([float(x), float(y)] for x, y in SQUARE)


def test_what_lies_beside_the_slide_is_cut_off():
    assert drawn_ring(SQUARE, 20, 100).area == 200


def test_a_ring_that_crosses_itself_encloses_both_loops():
    area = drawn_ring([[0, 0], [10, 10], [10, 0], [0, 10]], 100, 100)
    assert area.is_valid
    assert area.area == pytest.approx(50)
    assert len(Region(1, "a", area).rings) == 2


@pytest.mark.parametrize(
    "sent",
    [
        None, 7, "ring", {}, [], [[0, 0], [1, 1]], [[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 0], "x"],
        [[0, 0], [math.nan, 0], [0, 5]], [[0, 0], [math.inf, 0], [0, 5]], [[0, 0], [1e300, 0], [0, 1e300]],
        [[200, 200], [300, 200], [300, 300]], [[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0]] * (MOST_CORNERS + 1),
    ],
)  # fmt: skip
def test_anything_else_gets_a_sentence(sent):
    with pytest.raises(InputError):
        drawn_ring(sent, 100, 100)


def tangle(corners, seed=1):
    """A ring through places at random, whose lines cross about corners² / 7 times."""
    return np.random.default_rng(seed).uniform(0, 100, (corners, 2)).tolist()


def test_a_tangle_that_would_take_minutes_to_repair_gets_a_sentence():
    assert drawn_ring(tangle(40), 100, 100).is_valid
    with pytest.raises(InputError, match="cross each other more than 500 times"):
        drawn_ring(tangle(1000), 100, 100)


def test_many_small_tangles_are_one_large():
    refuse_if_tangled([shapely.Polygon(tangle(40))])
    refuse_if_tangled([shapely.Polygon(SQUARE)] * 1000)
    with pytest.raises(InputError, match="cross"):
        refuse_if_tangled(shapely.Polygon(tangle(40, seed)) for seed in range(20))


def test_a_new_name_is_made_fit_to_be_shown():
    region = Region(1, "Region 1", drawn_ring(SQUARE, 100, 100))
    assert region.renamed("  tumour\u202e ").name == "tumour�"
    assert region.renamed("  ").name == "Region 1"
    assert len(region.renamed("x" * 500).name) == 80


def test_everyone_has_their_own_and_may_forget_them():
    kept = KeptRegions()
    kept.keep("me", "slide", (REGION,))
    kept.keep("you", "slide", (REGION, REGION))
    assert kept.of("me", "slide") == (REGION,)
    assert kept.of("me", "other") == ()
    kept.forget("you")
    assert (kept.of("me", "slide"), kept.of("you", "slide")) == ((REGION,), ())


def test_what_is_too_much_is_refused_or_makes_room():
    kept = KeptRegions(most_kept=2)
    with pytest.raises(InputError, match="too many"):
        kept.keep("me", "a", (REGION,) * (MOST_REGIONS + 1))
    for slide in "abc":
        kept.keep("me", slide, (REGION,))
    assert [len(kept.of("me", slide)) for slide in "abc"] == [0, 1, 1]
