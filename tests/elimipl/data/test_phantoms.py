"""Phantom bags, and the bag sets that ship."""

import json
import shutil

import numpy as np
import pytest

from bag_generators import GENERATORS, InputError, TissueImage, generate
from bag_generators.tissue.phantom import instance_truth
from elimipl.data.phantoms import SEEDS_APART, build_phantoms, redraw
from elimipl.data.shipped import BAGS_FOLDER, bag_sets, load_bag_set
from elimipl.labels import TISSUE7


def test_phantom_bags_know_their_instances():
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


@pytest.mark.parametrize("name", ["TUM", "TUM phantom", "XYZ phantom 3", "TUM phantom -1", "../TUM phantom x"])
def test_only_names_of_phantoms_are_redrawn(name):
    with pytest.raises(InputError, match="not the name of a phantom"):
        redraw(name)


def test_a_number_that_can_not_be_drawn_is_refused():
    with pytest.raises(InputError, match="can't be drawn"):
        build_phantoms("row", per_class=0)


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
def test_shipped_sets_say_what_they_are(name):
    described, bags = bag_sets()[name], load_bag_set(name)
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


def test_all_generators_ship_phantoms_and_tissue_in_a_few_megabytes():
    assert set(bag_sets()) == {f"{kind}-{name}" for kind in ("phantoms", "tissue7") for name in GENERATORS}
    assert sum(path.stat().st_size for path in BAGS_FOLDER.iterdir()) < 9 * 2**20


def test_a_changed_or_missing_file_is_refused(tmp_path):
    for name in ("bags.json", "phantoms-row.safetensors"):
        shutil.copy(BAGS_FOLDER / name, tmp_path / name)
    path = tmp_path / "phantoms-row.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(InputError, match="not the one that was shipped"):
        load_bag_set("phantoms-row", tmp_path)
    with pytest.raises(InputError, match="is missing"):
        load_bag_set("phantoms-sbn", tmp_path)
    with pytest.raises(InputError, match="no bag set"):
        load_bag_set("../bags", tmp_path)
    (tmp_path / "bags.json").write_text(json.dumps([1]))
    with pytest.raises(InputError, match=r"bags\.json"):
        bag_sets(tmp_path)
