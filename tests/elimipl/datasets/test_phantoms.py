"""Phantom bags, and the bag sets that ship."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from bag_generators import GENERATORS, InputError, TissueImage, generate
from bag_generators.tissue.phantom import instance_truth
from bag_generators.tissue.quality import Quality, kept_scale
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets import shipped
from elimipl.datasets.shipped import (
    BAGS_FOLDER,
    SEEDS_APART,
    bag_sets,
    build_phantoms,
    load_bag_set,
    phantom_quality,
    picture_qualities,
    redraw,
)


def test_phantom_bags_know_their_instances_and_other_numbers_are_refused():
    seen = []
    bags = build_phantoms("row", per_class=1, r=2, seed=3, progress=lambda done, total: seen.append((done, total)))
    assert bags.labels.tolist() == list(range(7))
    assert (bags.candidates.sum(axis=1) == 3).all()
    assert bags.candidates[np.arange(7), bags.labels].all()
    for i, name in enumerate(bags.names):
        phantom = redraw(name)
        assert phantom.kind == TISSUE7.names[bags.labels[i]]
        assert phantom.seed == 3 * SEEDS_APART + i
        bag = generate("row", TissueImage.from_array(phantom.pixels))
        np.testing.assert_array_equal(bags.bag(i), bag.features)
        truth = bags.instance_truth[bags.offsets[i] : bags.offsets[i + 1]]
        np.testing.assert_array_equal(truth, instance_truth(bag, phantom.truth))
        assert truth.any()
    assert seen[-1] == (7, 7)
    with pytest.raises(InputError, match="can't be drawn"):
        build_phantoms("row", per_class=0)


@pytest.mark.parametrize("name", ["TUM", "TUM phantom", "XYZ phantom 3", "TUM phantom -1", "../TUM phantom x"])
def test_only_names_of_phantoms_are_redrawn(name):
    with pytest.raises(InputError, match="not the name of a phantom"):
        redraw(name)


@pytest.mark.parametrize("generator", GENERATORS)
def test_shipped_phantoms_are_what_their_generator_makes(generator):
    bags = load_bag_set(f"phantoms-{generator}")
    assert len(bags) >= 200
    assert bags.instances.dtype == np.float32
    for i in (0, len(bags) - 1):
        made = generate(generator, TissueImage.from_array(redraw(bags.names[i]).pixels), **bags.params)
        # The bags ship in 16 bits, and another processor may draw a few pixels a level lighter or darker.
        np.testing.assert_allclose(bags.bag(i), made.features, rtol=1e-3, atol=1e-2 * np.abs(made.features).max())
        assert bags.params == dict(made.params)


@pytest.mark.parametrize("name", bag_sets())
def test_shipped_sets_are_what_they_say_they_are(name):
    described, bags = bag_sets()[name], load_bag_set(name)
    assert hashlib.sha256((BAGS_FOLDER / described.file).read_bytes()).hexdigest() == described.sha256
    assert (described.generator, described.bags, described.licence) == (bags.generator, len(bags), bags.licence)
    assert described.licence in ("MIT", "CC BY 4.0")
    assert sum(described.counts.values()) * described.copies == len(bags)
    assert min(described.counts.values()) >= 10
    assert bags.candidates[np.arange(len(bags)), bags.labels].all()
    if described.pictures:
        assert len(set(described.pictures)) == sum(described.counts.values())
        assert set(described.pictures) <= set(bags.names)
        for group in np.unique(bags.groups):
            assert (bags.candidates[bags.groups == group] == bags.candidates[bags.groups == group][0]).all()


def test_all_generators_ship_phantoms_and_tissue_whose_pictures_were_measured():
    assert set(bag_sets()) == {f"{kind}-{name}" for kind in ("phantoms", "tissue7") for name in GENERATORS}
    assert sum(path.stat().st_size for path in BAGS_FOLDER.iterdir()) < 9 * 2**20
    for name in bag_sets():
        bags = load_bag_set(name)
        originals = bags.subset(np.unique(bags.groups, return_index=True)[1])
        measured = picture_qualities(originals)
        assert len(measured) == len(originals)
        expected = set(Quality.__dataclass_fields__) - (set() if kept_scale(bags.generator) else {"field"})
        assert all(set(one) == expected for one in measured), name


def test_only_shipped_sets_are_loaded_and_a_damaged_list_is_named(tmp_path):
    with pytest.raises(InputError, match="no bag set"):
        load_bag_set("../bags")
    (tmp_path / "bags.json").write_text(json.dumps([1]))
    with pytest.raises(InputError, match=r"bags\.json"):
        bag_sets(tmp_path)


def test_kept_measures_are_those_of_the_pictures():
    bags = load_bag_set("phantoms-row").subset([0, 100])
    for kept, name in zip(picture_qualities(bags), bags.names, strict=True):
        drawn = phantom_quality(name)
        # Another processor may draw a few pixels a level lighter or darker.
        assert kept == {measure: pytest.approx(value, rel=0.02) for measure, value in drawn.items()}


def test_other_phantoms_are_drawn_again_and_nothing_is_known_of_other_bags():
    bags = build_phantoms("row", per_class=1, seed=7)
    assert picture_qualities(bags) == tuple(phantom_quality(name) for name in bags.names)
    assert picture_qualities(replace(bags, names=("a", "b", "c", "d", "e", "f", "g"))) == ()
    assert picture_qualities(replace(bags, source="somewhere")) == ()


def test_a_damaged_file_of_measures_costs_no_training(tmp_path, monkeypatch):
    bags = load_bag_set("tissue7-row").subset([0, 4])
    (tmp_path / "qualities.json").write_text("{")
    monkeypatch.setattr(shipped, "BAGS_FOLDER", tmp_path)
    shipped._kept_qualities.cache_clear()
    assert picture_qualities(bags) == ()
    shipped._kept_qualities.cache_clear()
