"""Pixel measures of pictures behind bags: kept for the sets that ship, drawn again for phantoms."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bag_generators.tissue.quality import Quality, kept_scale
from elimipl.data import qualities
from elimipl.data.phantoms import build_phantoms, phantom_quality
from elimipl.data.qualities import picture_qualities
from elimipl.data.shipped import BAGS_FOLDER, bag_sets, load_bag_set


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """Puts another file in the place of the measures that ship."""

    def put(text: str) -> None:
        (tmp_path / "qualities.json").write_text(text)
        monkeypatch.setattr(qualities, "BAGS_FOLDER", tmp_path)
        qualities._shipped.cache_clear()

    yield put
    qualities._shipped.cache_clear()


@pytest.mark.parametrize("name", bag_sets())
def test_every_source_picture_of_the_shipped_sets_was_measured(name):
    bags = load_bag_set(name)
    originals = bags.subset(np.unique(bags.groups, return_index=True)[1])
    measured = picture_qualities(originals)
    assert len(measured) == len(originals)
    expected = set(Quality.__dataclass_fields__) - (set() if kept_scale(bags.generator) else {"field"})
    assert all(set(one) == expected for one in measured)


def test_kept_measures_are_those_of_the_pictures():
    bags = load_bag_set("phantoms-row").subset([0, 100])
    for kept, name in zip(picture_qualities(bags), bags.names, strict=True):
        drawn = phantom_quality(name)
        # Another processor may draw a few pixels a level lighter or darker.
        assert kept == {measure: pytest.approx(value, rel=0.02) for measure, value in drawn.items()}


def test_other_phantoms_are_drawn_again():
    bags = build_phantoms("row", per_class=1, seed=7)
    assert picture_qualities(bags) == tuple(phantom_quality(name) for name in bags.names)


def test_nothing_is_known_of_other_bags():
    bags = build_phantoms("row", per_class=1, seed=7)
    assert picture_qualities(replace(bags, names=("a", "b", "c", "d", "e", "f", "g"))) == ()
    assert picture_qualities(replace(bags, source="somewhere")) == ()


@pytest.mark.parametrize("change", [{"measures": ["tissue"]}, {"pictures": {"a": [1.0]}}, {"pictures": [1]}, {}])
def test_a_damaged_file_costs_no_training(damaged, change):
    whole = json.loads((BAGS_FOLDER / "qualities.json").read_text())
    damaged(json.dumps({**whole, **change}) if change else "{")
    assert picture_qualities(load_bag_set("tissue7-row").subset([0, 4])) == ()
