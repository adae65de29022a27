"""Bags and the rule of trust behind the models of real tissue, on made-up cells."""

from pathlib import Path

import numpy as np
import pytest

from elimipl.candidates.labels import COLON
from scripts.colon.bags import by_class, whole_bags
from scripts.colon.left_out import MOST_WRONG, Rows, fit_rule, kept
from scripts.colon.readings import Readings
from scripts.colon.sources import Picture

SIDE = 8


def readings(*labels: str) -> Readings:
    """Pictures of kather8 whose cells hold the number of their picture."""
    pictures = [
        Picture(Path(f"{i}.png"), "kather8", label, f"s{i}", held_back=False, fold=0) for i, label in enumerate(labels)
    ]
    return Readings(pictures, [np.full((SIDE * SIDE, 1), i) for i in range(len(labels))], [(SIDE, SIDE)] * len(labels))


def test_whole_bags_are_even_over_the_labels_and_parts_of_one_picture():
    bags = whole_bags(readings("TUMOR", "TUMOR", "STROMA"), 6, np.random.default_rng(0))
    assert [bag.name.split("/")[1] for bag in bags] == ["STROMA"] * 6 + ["TUMOR"] * 6
    assert all(len(np.unique(bag.cells)) == 1 and len(bag.cells) >= (5 * SIDE // 8) ** 2 for bag in bags)
    assert {COLON.names[i] for i in np.flatnonzero(bags[0].meant)} == {"stroma", "muscle"}


def test_composed_bags_hold_cells_of_one_carrier_among_tissue_that_carries_nothing():
    known = readings("TUMOR", "STROMA", "LYMPHO", "MUCOSA", "DEBRIS")
    for bag in by_class(known, 40, np.random.default_rng(0)):
        numbers = {int(value) for value in np.unique(bag.cells)}
        carriers = numbers & {0, 3}
        assert len(carriers) == 1
        assert numbers - carriers <= {1, 2}
        assert bag.meant.sum() == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_limit_holds_on_every_set_of_pictures(seed):
    rng = np.random.default_rng(seed)

    def drawn(shift: float) -> Rows:
        signs = rng.normal(size=(400, 7))
        return Rows(signs, signs[:, 0] + rng.normal(size=400) > shift)

    sets = {"easy": drawn(-2.0), "hard": drawn(1.0)}
    rule = fit_rule(sets)
    for rows in sets.values():
        assert kept(rule, rows).trusted_wrong <= MOST_WRONG
    assert kept(rule, sets["easy"]).trusted > 0
