"""Composed tissue: sizes, shares and candidate sets as asked, and no patch on both sides of the split."""

import numpy as np
import pytest

from bag_generators.base.errors import InputError
from elimipl.datasets.compose import BACKGROUND, SET, WhatIf, composed_tissue
from elimipl.datasets.shipped import load_bag_set


@pytest.fixture(scope="module")
def tiles():
    return load_bag_set(SET)


@pytest.mark.parametrize(("size", "share", "r", "positives"), [(16, 0.25, 1, 4), (32, 0.5, 4, 16), (4, 0.05, 2, 1)])
def test_bags_are_as_they_were_asked_for(tiles, size, share, r, positives):
    for bags in composed_tissue(tiles, WhatIf(size, share, r)):
        assert set(bags.sizes) == {size}
        assert BACKGROUND not in bags.label_space.names
        assert (bags.instance_truth.reshape(len(bags), size).sum(axis=1) == positives).all()
        assert (bags.candidates.sum(axis=1) == 1 + r).all()
        assert bags.candidates[np.arange(len(bags)), bags.labels].all()
        assert set(bags.labels) == set(range(6))


def test_no_patch_and_no_picture_is_on_both_sides(tiles):
    training, held_out = composed_tissue(tiles, WhatIf())
    assert not set(training.groups) & set(held_out.groups)
    assert not set(map(bytes, training.instances)) & set(map(bytes, held_out.instances))


def test_positives_are_of_the_bags_own_tile_and_class(tiles):
    training, _ = composed_tissue(tiles, WhatIf())
    label_of = {bytes(row): int(label) for label, bag in zip(tiles.labels, tiles, strict=True) for row in bag.features}
    names = tiles.label_space.names
    for number in range(0, len(training), 37):
        rows = slice(training.offsets[number], training.offsets[number + 1])
        found = {names[label_of[bytes(row)]] for row in training.instances[rows][training.instance_truth[rows]]}
        assert found == {training.label_space.names[training.labels[number]]}


def test_more_positives_than_a_tile_has_get_a_sentence(tiles):
    with pytest.raises(InputError, match="A tile has 16 cells, fewer than 20"):
        composed_tissue(tiles, WhatIf(size=40, share=0.5))
