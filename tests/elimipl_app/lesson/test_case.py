"""The learner's bag: composed of real patches or drawn, with its truth; real pictures only where the tiles are."""

import numpy as np
import pytest

from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from elimipl.candidates.labels import TISSUE7
from elimipl_app.lesson.case import (
    DRAWN,
    NUMBERS,
    REAL,
    SIDE,
    VARIABLE,
    VARIANTS,
    composed_bags,
    drawn_patch,
    make_case,
)
from elimipl_app.lesson.recorded import attention_runs


def test_every_tissue_has_its_composed_bags_and_their_truth_is_the_recorded_one():
    run = attention_runs().watched["tissue"]
    assert len(composed_bags()) == len(NUMBERS) == len(set(NUMBERS)) == len(run.bags)
    for place, number in enumerate(NUMBERS[:4]):
        case = make_case(REAL, number)
        assert (case.true_index, case.place) == (place // VARIANTS, place)
        assert case.bag.features.shape == (36, 256)
        np.testing.assert_array_equal(case.truth, np.array(run.bags[place].truth, dtype=bool))
        assert not case.partly.any()
        assert not case.shows_real
        assert case.image.pixels.shape == (6 * SIDE, 6 * SIDE, 3)


def test_no_patch_of_a_bag_is_of_another_class():
    for origins, bag in zip(attention_runs().origins, attention_runs().watched["tissue"].bags, strict=True):
        kinds = [origin.split("/")[1][:3] for origin in origins]
        others = {kind for kind, own in zip(kinds, bag.truth, strict=True) if not own}
        assert others <= {"ADI", "BAC"}
        assert {kind for kind, own in zip(kinds, bag.truth, strict=True) if own} == {TISSUE7.names[bag.true][:3]}


def test_a_teacher_with_the_tiles_sees_the_real_patches_and_a_damaged_folder_changes_nothing(tmp_path, monkeypatch):
    from PIL import Image

    drawn = make_case(REAL, NUMBERS[0])
    names = sorted({origin.rpartition(" ")[0] for origin in attention_runs().origins[0]})
    (tmp_path / "train" / "X").mkdir(parents=True)
    lines = ["file,dataset,tile,licence"]
    for i, name in enumerate(names):
        Image.new("RGB", (224, 224), (i, 100, 200)).save(tmp_path / "train" / "X" / f"{i}.png")
        lines.append(f"tissue7/train/X/{i}.png,{name.partition('/')[0]},{name.partition('/')[2]},CC BY 4.0")
    (tmp_path / "SOURCES.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    case = make_case(REAL, NUMBERS[0])
    assert case.shows_real
    first = names.index(attention_runs().origins[0][0].rpartition(" ")[0])
    assert case.image.pixels[0, 0].tolist() == [first, 100, 200]
    np.testing.assert_array_equal(case.bag.features, drawn.bag.features)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert make_case(REAL, NUMBERS[0]).image.sha256 == drawn.image.sha256


@pytest.mark.parametrize("cut", ["row", "kmeansseg"])
def test_an_instance_that_shows_some_of_the_class_is_never_called_free_of_it(cut):
    case = make_case(DRAWN, NUMBERS[-1], cut)
    assert case.truth.any()
    np.testing.assert_array_equal(case.shares > 0, case.truth | case.partly)
    assert not (case.truth & case.partly).any()
    assert (case.shares[case.partly] < 0.5).all()


def test_drawings_stand_in_for_patches_and_stay_the_same():
    own, fat, glass = (
        drawn_patch("a/TUM-1.tif 3", "TUM"),
        drawn_patch("a/ADI-1.tif 3", ""),
        drawn_patch("a/BACK-1 3", ""),
    )
    assert own.shape == fat.shape == glass.shape == (SIDE, SIDE, 3)
    assert own.mean() < fat.mean() < glass.mean()
    np.testing.assert_array_equal(own, drawn_patch("a/TUM-1.tif 3", "TUM"))


def test_fat_around_a_phantom_leaves_the_class_as_it_is():
    for kind in ("STR", next(iter(PHANTOM_KINDS))):
        loose, fat = draw(kind, 7), draw(kind, 7, background="fat")
        np.testing.assert_array_equal(loose.truth, fat.truth)
        assert fat.pixels[~fat.truth].mean() > loose.pixels[~loose.truth].mean() + 5
