"""A second opinion on candidate sets: whom it adds, how often, and that it is the picture's own."""

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl import COLON, LabelSpace, doubtful
from elimipl.data.crowd import look_alikes

MANY = 20_000
NAMES = [f"source/tile {i}" for i in range(MANY)]
CHANCES = look_alikes(COLON)


def added(names, **options):
    sets = np.tile(np.isin(COLON.names, names), (MANY, 1))
    after = doubtful(sets, NAMES, COLON, **options)
    assert after[sets].all()
    assert (after & ~sets).sum(axis=1).max() <= 1
    return dict(zip(COLON.names, (after & ~sets).mean(axis=0), strict=True))


def test_labels_come_up_as_often_as_pathologists_confuse_them_or_their_average():
    shares = added(["serrated"])
    assert shares["normal"] == pytest.approx(384 / 842 / 2, abs=0.01)
    assert shares["low_grade"] + shares["high_grade"] == pytest.approx(170 / 842, abs=0.01)
    assert shares["stroma"] == 0
    shares = added(["low_grade", "high_grade"])
    expected = CHANCES[[COLON.index("low_grade"), COLON.index("high_grade")]].mean(axis=0)
    for name in ("normal", "serrated", "carcinoma"):
        assert shares[name] == pytest.approx(expected[COLON.index(name)], abs=0.01)


def test_the_draw_is_the_pictures_own():
    sets = np.eye(12, dtype=bool)[np.arange(60) % 12]
    names = [f"tile {i}" for i in range(60)]
    whole = doubtful(sets, names, COLON, seed=3)
    assert (doubtful(sets[::-2], names[::-2], COLON, seed=3) == whole[::-2]).all()
    assert (doubtful(sets, names, COLON, seed=4) != whole).any()
    copies = doubtful(np.tile(np.eye(12, dtype=bool)[1], (50, 1)), ["one tile"] * 50, COLON)
    assert len(np.unique(copies, axis=0)) == 1


def test_no_set_comes_to_hold_every_class():
    space = LabelSpace.of("abc")
    always = np.full((3, 3), 1 / 3)
    after = doubtful([[True, True, False], [True, False, False]], ["x", "y"], space, chances=always)
    assert after.sum(axis=1).max() < 3


@pytest.mark.parametrize(
    ("space", "chances", "pictures", "sentence"),
    [
        (LabelSpace.of("abc"), None, ["x"], "Nothing is known"),
        (LabelSpace.of("abc"), np.ones((3, 3)), ["x"], "not a table of chances"),
        (LabelSpace.of("abc"), np.zeros((2, 3)), ["x"], "not a table of chances"),
        (LabelSpace.of("abc"), np.zeros((3, 3)), ["x", "y"], "don't fit 3 classes"),
        (LabelSpace.of("ab"), np.zeros((2, 2)), ["x"], "don't fit 2 classes"),
    ],
)
def test_what_does_not_fit_is_refused(space, chances, pictures, sentence):
    with pytest.raises(InputError, match=sentence):
        doubtful([[True, False, False]], pictures, space, chances=chances)


def test_the_colons_chances_are_chances():
    assert (CHANCES >= 0).all()
    assert (CHANCES.sum(axis=1) < 1).all()
    assert (np.diagonal(CHANCES) == 0).all()
