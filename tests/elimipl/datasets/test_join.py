"""Data sets of different label systems as one: what is kept, what is refused, how they split."""

import numpy as np
import pytest

from bag_generators.base.errors import InputError
from elimipl import COLON, BagDataset, LabelSpace, group_folds, join
from elimipl.datasets.colon import CREDITS, SOURCES

GROSS = LabelSpace.of(["healthy", "adenoma", "cancer"], id="gross")
FINE = LabelSpace.of(["mucosa", "low", "high"], id="fine")
MEANS = {
    "gross": {"healthy": {"normal"}, "adenoma": {"low_grade", "high_grade"}, "cancer": "carcinoma"},
    "fine": {"mucosa": ["normal"], "low": ["low_grade"], "high": ["high_grade"]},
}


def bags(space, labels, groups=(), **described):
    made = [np.full((2, 3), label, np.float32) for label in labels]
    return BagDataset.from_bags(made, space, labels, groups=np.array(groups, np.int64), generator="row", **described)


@pytest.fixture
def sets():
    return {
        "gross": bags(GROSS, [0, 1, 2, 1], [5, 5, 6, 6], source="A hospital", licence="CC BY 4.0"),
        "fine": bags(FINE, [0, 1, 2], [5, 6, 6], source="Another", licence="CC0"),
    }


def test_a_label_becomes_all_that_it_may_mean(sets):
    joined = join(sets, MEANS, COLON)
    assert [[COLON.names[c] for c in np.flatnonzero(row)] for row in joined.candidates] == [
        ["normal"],
        ["low_grade", "high_grade"],
        ["carcinoma"],
        ["low_grade", "high_grade"],
        ["normal"],
        ["low_grade"],
        ["high_grade"],
    ]
    assert joined.labels.tolist() == [0, -1, 4, -1, 0, 1, 2]
    assert joined.label_space == COLON
    assert joined.instances[:, 0].tolist() == np.repeat([0, 1, 2, 1, 0, 1, 2], 2).tolist()


def test_own_candidates_unknown_labels_sources_groups_and_credits_are_kept(sets):
    own = bags(GROSS, [-1, 0]).with_candidates([[True, True, False], [True, False, True]])
    joined = join({"gross": own}, MEANS, COLON)
    assert [set(np.flatnonzero(row)) for row in joined.candidates] == [{0, 1, 2}, {0, 4}]
    assert joined.labels.tolist() == [-1, 0]
    joined = join(sets, MEANS, COLON)
    assert joined.sources == ("gross",) * 4 + ("fine",) * 3
    assert joined.groups.tolist() == [0, 0, 1, 1, 2, 3, 3]
    assert joined.source == "gross: A hospital; fine: Another"
    assert joined.licence == "gross: CC BY 4.0; fine: CC0"
    assert joined.subset([6, 0]).sources == ("fine", "gross")
    space = join(sets, MEANS).label_space
    assert space.names == ("normal", "high_grade", "low_grade", "carcinoma")  # a set has no order: alphabetical


@pytest.mark.parametrize("name", ["joined.safetensors", "joined.shards"])
def test_a_joined_set_is_saved_and_loaded(sets, tmp_path, name):
    joined = join(sets, MEANS, COLON)
    joined.save(tmp_path / name)
    loaded = BagDataset.load(tmp_path / name)
    assert loaded.sources == joined.sources
    assert loaded.label_space == COLON
    assert loaded.groups.tolist() == joined.groups.tolist()
    assert (loaded.candidates == joined.candidates).all()


def test_a_joined_set_beside_one_that_is_not(sets):
    joined = join(sets, MEANS, COLON)
    plain = bags(COLON, [3])
    assert BagDataset.concatenate([joined, plain]).sources == (*joined.sources, "")
    assert BagDataset.concatenate([plain, plain]).sources == ()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"gross": {"healthy": {"normal"}, "cancer": {"carcinoma"}}}, "what “adenoma” of “gross” means"),
        ({"gross": {**MEANS["gross"], "adenoma": set()}}, "what “adenoma” of “gross” means"),
        ({"fine": {**MEANS["fine"], "low": {"low_graed"}}}, "“low” of “fine” should mean “low_graed”"),
    ],
)
def test_unmapped_and_unknown_labels_are_refused_by_name(sets, changed, sentence):
    with pytest.raises(InputError, match=sentence):
        join(sets, {**MEANS, **changed}, COLON)


def test_what_need_not_be_mapped_and_what_must(sets):
    healthy = {"gross": sets["gross"].subset([0])}
    assert join(healthy, {"gross": {"healthy": "normal"}}, COLON).labels.tolist() == [0]
    with pytest.raises(InputError, match="says nothing about “fine”"):
        join(sets, {"gross": MEANS["gross"]}, COLON)
    with pytest.raises(InputError, match="no data set to join"):
        join({}, MEANS, COLON)


def test_folds_part_no_group_and_share_out_every_source():
    labels = np.tile([0, 1, 2], 40)
    slides = np.repeat(np.arange(12), 10)  # of several classes each
    joined = join({"gross": bags(GROSS, labels, slides), "fine": bags(FINE, labels)}, MEANS, COLON)
    folds = group_folds(joined, 4, seed=1)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(240))
    for train, test in folds:
        assert not set(joined.groups[train]) & set(joined.groups[test])
        assert set(train) | set(test) == set(range(240))
        for source in ("gross", "fine"):
            for label in range(3):
                of = np.array([joined.sources[i] == source and labels[i % 120] == label for i in test])
                assert 4 <= of.sum() <= 16
    assert [test.tolist() for _, test in group_folds(joined, 4, seed=1)] == [test.tolist() for _, test in folds]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_more_folds_than_groups_are_refused(n):
    with pytest.raises(InputError, match="2 groups of bags can't make"):
        group_folds(bags(GROSS, [0, 1, 2], [0, 0, 1]), n)


def test_every_label_of_the_colons_sources_means_classes_of_the_colon():
    assert {"tissue7", "kather8", "lesion5", "ebhi6"} <= SOURCES.keys() == CREDITS.keys()
    meant = [meant for meaning in SOURCES.values() for meant in meaning.values()]
    assert set().union(*meant) == set(COLON.names)
    assert all(meant)
