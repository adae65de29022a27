"""Phantoms: the same every time, with a truth that is true, and kinds that can be told apart by it."""

import cv2
import numpy as np
import pytest

from bag_generators import GENERATORS, Bag, InputError, TissueImage, generate
from bag_generators.regions import BoxRegions
from bag_generators.tissue.phantom import HAEMATOXYLIN_EOSIN, PHANTOM_KINDS, draw, instance_truth

KINDS = list(PHANTOM_KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_arguments_give_the_same_phantom_of_the_size_asked_for(kind):
    for size in (64, 224, 301):
        first, second = draw(kind, 5, size), draw(kind, 5, size)
        assert first.pixels.shape == (*first.truth.shape, 3) == (size, size, 3)
        np.testing.assert_array_equal(first.pixels, second.pixels)
        np.testing.assert_array_equal(first.truth, second.truth)
        assert (draw(kind, 6, size).pixels != first.pixels).mean() > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_the_class_covers_what_was_asked_for(kind):
    assert all(0.24 < draw(kind, seed).truth.mean() < 0.61 for seed in range(6))
    for coverage in (0.1, 0.4, 0.9):
        assert draw(kind, 3, coverage=coverage).truth.mean() == pytest.approx(coverage, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_tile_shows_the_class_whatever_the_seed(kind):
    for seed in range(25):
        assert draw(kind, seed, size=64, coverage=0.3).truth.mean() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_away_from_the_class_two_kinds_of_one_seed_are_the_same_tile(kind):
    one, other = draw(KINDS[0], 9), draw(kind, 9)
    class_or_near = (one.truth | other.truth).astype(np.uint8)
    away = cv2.dilate(class_or_near, np.ones((41, 41), np.uint8)) == 0  # as far as a nucleus reaches
    assert away.sum() > 3000
    np.testing.assert_array_equal(one.pixels[away], other.pixels[away])


@pytest.mark.parametrize(("inside", "lowest", "highest"), [(True, 0.9, 1.0), (False, 0.0, 0.4)])
def test_kinds_differ_where_the_truth_says_and_only_there(inside, lowest, highest):
    """Nearest class mean on stain statistics: right on the truth pixels of unseen tiles, blind outside them."""
    seen = np.array([[_stain_statistics(kind, seed, inside) for seed in range(8)] for kind in KINDS])
    unseen = np.array([[_stain_statistics(kind, seed, inside) for seed in range(100, 106)] for kind in KINDS])
    spread = seen.std(axis=(0, 1))
    means = seen.mean(axis=1) / spread  # (kinds, statistics)
    distances = np.linalg.norm(unseen[:, :, None, :] / spread - means, axis=3)  # (kinds, tiles, kinds)
    accuracy = (distances.argmin(axis=2) == np.arange(len(KINDS))[:, None]).mean()
    assert lowest <= accuracy <= highest


def _stain_statistics(kind, seed, inside):
    """Mean, spread and fine grain of both stains on the truth pixels, or well outside them."""
    phantom = draw(kind, seed)
    density = -np.log((phantom.pixels + 1.0) / 247)
    stains = density @ np.linalg.pinv(HAEMATOXYLIN_EOSIN)
    grain = np.abs(stains - cv2.blur(stains, (5, 5)))
    near = cv2.dilate(phantom.truth.astype(np.uint8), np.ones((15, 15), np.uint8)) > 0
    where = phantom.truth if inside else ~near
    return np.concatenate([stains[where].mean(axis=0), stains[where].std(axis=0), grain[where].mean(axis=0)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ADI", 0), "no phantom of kind “ADI”.*DEB, LYM, MUC, MUS, NORM, STR, TUM"),
        (("TUM", -1), "seed -1 is negative"),
        (("TUM", 0, 40), "40 px is too small.*64"),
        (("TUM", 0, 224, 0.99), r"can't cover 0\.99 of the tile.*0\.1 to 0\.9"),
        (("TUM", 0, 224, float("nan")), "can't cover nan"),
    ],
)
def test_what_can_not_be_drawn_is_refused_with_a_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        draw(*arguments)


def test_an_instance_carries_the_class_when_half_of_its_region_does_and_the_most_covered_one_always():
    """Left half, right half and the 2×2 px corner of a 10×10 picture."""
    regions = BoxRegions(np.array([[0, 0, 5, 10], [5, 0, 10, 10], [8, 8, 10, 10]]), (10, 10))
    bag = Bag(np.zeros((3, 1), np.float32), regions, "sbn", {}, ("nothing",), "")
    truth = np.zeros((10, 10), bool)
    assert not instance_truth(bag, truth).any()
    truth[0, 0] = True
    np.testing.assert_array_equal(instance_truth(bag, truth), [True, False, False])
    truth[:, 4:8] = True  # one fifth of the left half, three fifths of the right one, nothing of the corner
    np.testing.assert_array_equal(instance_truth(bag, truth), [False, True, False])
    with pytest.raises(InputError, match=r"\(9, 10\).*\(10, 10\)"):
        instance_truth(bag, truth[1:])


@pytest.fixture(scope="module")
def tiles():
    return [draw(kind, seed) for kind in KINDS for seed in range(4)]


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_every_phantom_bag_has_an_instance_of_its_class(generator, tiles):
    shares = []
    for phantom in tiles:
        bag = generate(generator, TissueImage.from_array(phantom.pixels))
        carries = instance_truth(bag, phantom.truth)
        assert carries.shape == (len(bag),)
        assert carries.any()
        shares.append(carries.mean())
    assert np.mean(shares) < 0.9  # there is something to find: not everything is positive
