import numpy as np
import pytest

from bag_generators import InputError
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.compose import Composition, compose
from elimipl.datasets.dataset import BagDataset

SPACE = LabelSpace.of(("lesion", "healthy"))


def tiles(bags: int = 40) -> BagDataset:
    """Every instance says which tile and which class it is of: 100 + tile."""
    features = [np.full((16, 2), 100 + i, dtype=np.float32) for i in range(bags)]
    return BagDataset.from_bags(features, SPACE, labels=np.arange(bags) % 2, groups=np.arange(bags) // 2)


RESERVED = np.arange(30, dtype=np.float32).reshape(15, 2)


def test_composed_bags_keep_their_ranges_and_what_is_known_of_them() -> None:
    composed = compose(tiles(), RESERVED, Composition(plain=0))
    for i in range(len(composed)):
        truth = composed.instance_truth[composed.offsets[i] : composed.offsets[i + 1]]
        assert np.array_equal(truth, composed.bag(i)[:, 0] == 100 + i)
        assert 0 < truth.sum() <= 16
        assert set(composed.bag(i)[~truth][:, 0]) <= set(RESERVED[:, 0])
    composed = compose(tiles(300), RESERVED, Composition(plain=0, smallest=20, largest=30, least=0.1, most=0.4))
    shares = np.add.reduceat(composed.instance_truth, composed.offsets[:-1]) / composed.sizes
    assert composed.sizes.min() == 20
    assert composed.sizes.max() == 30
    assert 0.05 <= shares.min() < 0.15
    assert 0.35 < shares.max() <= 0.45
    plain = tiles()
    composed = compose(plain, RESERVED)
    assert np.array_equal(composed.labels, plain.labels)
    assert np.array_equal(composed.groups, plain.groups)
    assert composed.names == plain.names


def test_a_part_stays_plain_and_the_seed_decides() -> None:
    composed = compose(tiles(400), RESERVED, Composition(plain=0.5))
    untouched = [
        composed.instance_truth[a:b].all() for a, b in zip(composed.offsets, composed.offsets[1:], strict=False)
    ]
    assert 0.4 < np.mean(untouched) < 0.6
    once, again, other = (compose(tiles(), RESERVED, seed=seed).instances for seed in (1, 1, 2))
    assert np.array_equal(once, again)
    assert once.shape != other.shape or not np.array_equal(once, other)


def test_instances_of_another_generator_are_refused() -> None:
    with pytest.raises(InputError, match="don't fit bags of 2 features"):
        compose(tiles(), np.zeros((4, 3), dtype=np.float32))
    with pytest.raises(InputError, match="can't be composed"):
        Composition(least=0.5, most=0.2)
