"""The container of bags: what it holds, what it refuses, and its file."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from bag_generators.base import bag_file
from bag_generators.base.errors import InputError
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.datasets.dataset import BagDataset

ARRAYS = ("instances", "offsets", "candidates", "labels", "groups", "instance_truth")
DESCRIPTIONS = ("label_space", "generator", "params", "names", "source", "licence")


def bags_of(sizes, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(size, dim)) for size in sizes]


@pytest.fixture
def dataset():
    bags = bags_of([2, 5, 1, 3])
    return BagDataset.from_bags(
        bags,
        TISSUE7,
        labels=[0, 6, -1, 3],
        instance_truth=[np.arange(len(bag)) == 0 for bag in bags],
        generator="sbn",
        params={"grid": (8, 8), "blur": np.float64(1.5)},
        groups=np.array([4, 4, 9, 2]),
        names=("a.png", "b.png", "ç.png", "d.png"),
        source="here",
        licence="CC BY 4.0",
    )


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype
    for name in DESCRIPTIONS:
        assert getattr(one, name) == getattr(other, name)


def test_bags_come_back_as_given_by_number_and_one_by_one(dataset):
    bags = bags_of([2, 5, 1, 3])
    assert len(dataset) == 4
    assert (dataset.dim, dataset.n_classes) == (3, 7)
    np.testing.assert_array_equal(dataset.sizes, [2, 5, 1, 3])
    for i, bag in enumerate(bags):
        np.testing.assert_array_equal(dataset.bag(i), bag.astype(np.float32))
    np.testing.assert_array_equal(dataset.bag(-1), dataset.bag(3))
    with pytest.raises(IndexError):
        dataset.bag(4)
    bag = dataset[1]
    assert np.array_equal(bag.features, dataset.bag(1))
    assert (bag.label, bag.name) == (6, "b.png")
    assert np.flatnonzero(bag.candidates).tolist() == [6]
    assert dataset[-1].name == dataset[np.int64(3)].name == "d.png"
    with pytest.raises(IndexError, match="bag 4 of a data set of 4"):
        dataset[4]
    assert [bag.name for bag in dataset] == list(dataset.names)
    assert np.array_equal(np.concatenate([bag.features for bag in dataset]), dataset.instances)


def test_what_is_left_out_is_filled_in(dataset):
    np.testing.assert_array_equal(dataset.candidates.sum(axis=1), [1, 1, 7, 1])
    assert dataset.candidates[1, 6]
    plain = BagDataset.from_bags(bags_of([1, 2]), TISSUE7)
    np.testing.assert_array_equal(plain.groups, [0, 1])
    assert plain.names == ("bag 0", "bag 1")
    assert plain.instance_truth is None


def test_arrays_and_bags_are_read_only(dataset):
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(dataset, name)[0] = 0
    for array in (dataset[0].features, dataset[0].candidates):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.data())
def test_a_subset_is_its_bags_in_the_asked_order(sizes, data):
    whole = BagDataset.from_bags(bags_of(sizes), TISSUE7, labels=np.arange(len(sizes)) % 7)
    chosen = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=10))
    part = whole.subset(chosen)
    assert len(part) == len(chosen)
    for i, j in enumerate(chosen):
        np.testing.assert_array_equal(part.bag(i), whole.bag(j))
        assert (part.labels[i], part.groups[i], part.names[i]) == (
            whole.labels[j],
            whole.groups[j],
            whole.names[j],
        )


def test_a_mask_chooses_and_other_candidates_leave_the_rest(dataset):
    part = dataset.subset(dataset.labels >= 0)
    assert part.names == ("a.png", "b.png", "d.png")
    np.testing.assert_array_equal(part.instance_truth, np.concatenate([np.arange(n) == 0 for n in (2, 5, 3)]))
    everything = dataset.with_candidates(np.ones((4, 7), dtype=bool))
    assert everything.candidates.all()
    assert not dataset.candidates.all()
    np.testing.assert_array_equal(everything.instances, dataset.instances)


def test_joining_keeps_bags_never_mixes_groups_and_refuses_other_kinds(dataset):
    joined = BagDataset.concatenate([dataset, dataset.subset([1, 0, 3])])
    np.testing.assert_array_equal(joined.bag(4), dataset.bag(1))
    np.testing.assert_array_equal(joined.groups[4] == joined.groups, [0, 0, 0, 0, 1, 1, 0])
    assert len(np.unique(joined.groups)) == 3 + 2
    copies = BagDataset.concatenate([dataset, dataset], keep_groups=True)
    np.testing.assert_array_equal(copies.groups, np.tile(dataset.groups, 2))
    with pytest.raises(InputError, match="one generator and one label space"):
        BagDataset.concatenate([dataset, replace(dataset, generator="row")])
    with pytest.raises(InputError, match="at least one"):
        BagDataset.concatenate([])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"offsets": [0, 2, 7, 8, 12]}, "there are 11 instances"),
        ({"offsets": [0, 2, 2, 8, 11]}, r"Bag 1 \(“b.png”\) has no instances"),
        ({"offsets": [0]}, "no bags"),
        ({"offsets": [0.0, 2.5, 7, 8, 11]}, "offsets hold values that int64 can't"),
        ({"instances": np.full((11, 3), np.nan)}, "not finite"),
        ({"instances": np.ones((11, 0))}, "no features"),
        ({"instances": np.ones(11)}, "1 dimension"),
        ({"instances": [["a", "b", "c"]] * 11}, "not a table of numbers"),
        ({"candidates": np.ones((4, 6), dtype=bool)}, "4 bags and 7 classes"),
        ({"candidates": np.zeros((4, 7), dtype=bool)}, "empty candidate set"),
        ({"candidates": np.full((4, 7), 2)}, "candidate sets hold values"),
        ({"labels": [0, 1, 2, 7]}, "Use 0 to 6"),
        ({"labels": [0, 1, 2]}, "3 labels for 4 bags"),
        ({"groups": [1, 2]}, "2 groups for 4 bags"),
        ({"names": ("a",)}, "1 names for 4 bags"),
        ({"instance_truth": np.ones(3, dtype=bool)}, "3 instance marks for 11"),
        ({"params": {"f": print}}, "can't be written as JSON"),
        ({"params": {"f": float("nan")}}, "can't be written as JSON"),
    ],
)
def test_unsound_data_is_refused_with_a_sentence(dataset, change, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(dataset, **change)


def test_bags_of_different_features_are_refused():
    with pytest.raises(InputError, match=r"Bag 1 has the shape \(2, 4\)"):
        BagDataset.from_bags([np.ones((2, 3)), np.ones((2, 4))], TISSUE7)
    with pytest.raises(InputError, match="no bags"):
        BagDataset.from_bags([], TISSUE7)


def test_names_of_classes_are_a_label_space():
    bags = BagDataset.from_bags(bags_of([1, 2]), ["a", "b"], labels=[1, 0])
    assert bags.label_space == LabelSpace.of(["a", "b"])
    assert replace(bags, label_space=("x", "y")).label_space.names == ("x", "y")
    for wrong in ("ab", 7, None):
        with pytest.raises(InputError, match="list of class names"):
            BagDataset.from_bags(bags_of([1, 2]), wrong)


@pytest.mark.parametrize(
    "candidates",
    [
        [["b"], ["a", "c"]],
        [("b",), {"c", "a"}],
        [[1], [0, 2]],
        [[1], (np.int64(2), 0)],
        [[False, True, False], [True, False, True]],
        [[0, 1, 0], [1, 0, 1]],
        np.array([[0, 1, 0], [1, 0, 1]]),
        np.array([["b"], ["a", "c"]], dtype=object),
    ],
    ids=range(8),
)
def test_candidates_are_a_table_or_lists_of_classes(candidates):
    bags = BagDataset.from_bags(bags_of([1, 2]), ["a", "b", "c"], candidates=candidates)
    np.testing.assert_array_equal(bags.candidates, [[0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(bags.with_candidates([["a"], ["a"]]).candidates, [[1, 0, 0], [1, 0, 0]])


def test_sets_of_one_size_are_not_taken_for_a_table():
    bags = BagDataset.from_bags(bags_of([1, 2]), ["a", "b", "c"], candidates=[[0, 1], [1, 0]])
    np.testing.assert_array_equal(bags.candidates, [[1, 1, 0], [1, 1, 0]])


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        ([["b"], ["z"]], "“z” is not a class"),
        ([[1], [3]], "Bag 1 has the candidate 3.*0 to 2"),
        ([[1], [-1]], "Bag 1 has the candidate -1"),
        ([[1], [0.5, 2]], "Bag 1 has the candidate 0.5"),
        ([[True, False, True], [True]], "differ in length"),
        ([[1], []], "empty candidate set"),
        ([1, 2], "not a list of sets"),
        (5, "not a list of sets"),
        ([[0, 2]], "2 bags and 3 classes"),
    ],
)
def test_other_candidates_are_refused_with_a_sentence(candidates, sentence):
    with pytest.raises(InputError, match=sentence):
        BagDataset.from_bags(bags_of([1, 2]), ["a", "b", "c"], candidates=candidates)


@pytest.mark.parametrize(
    ("bag", "sentence"),
    [
        (np.ones((1, 48, 64)), r"Bag 0 has 3 dimension\(s\), its shape is \(1, 48, 64\).*\(n, d\)"),
        (np.ones(64), r"Bag 0 has 1 dimension\(s\)"),
        ([[1.0, 2.0], [3.0]], "Bag 0 is not a table of numbers"),
        ([["x"]], "Bag 0 is not a table of numbers"),
    ],
)
def test_a_bag_that_is_no_table_is_told_what_it_is(bag, sentence):
    with pytest.raises(InputError, match=sentence):
        BagDataset.from_bags([bag], TISSUE7)


@pytest.mark.parametrize("labels", [["a", "b"], 0, [[0], [1]], [0.5, 1]])
def test_labels_that_are_no_class_numbers_are_refused(labels):
    with pytest.raises(InputError, match="The labels"):
        BagDataset.from_bags(bags_of([1, 2]), ["a", "b"], labels=labels)


def test_bags_whose_candidates_miss_a_known_label_can_be_found():
    bags = BagDataset.from_bags(bags_of([1] * 3), ["a", "b"], labels=[0, 1, -1], candidates=[["b"], ["b"], ["a"]])
    np.testing.assert_array_equal(bags.truth_outside, [0])


def test_the_file_gives_the_same_data_set_back_and_is_the_same_file_again(dataset, tmp_path):
    file = tmp_path / "new folder" / "bags.safetensors"
    dataset.save(file)
    assert_same(BagDataset.load(file), dataset)
    assert [path.name for path in file.parent.iterdir()] == ["bags.safetensors"]
    replace(dataset, instance_truth=None).save(tmp_path / "bags")
    assert BagDataset.load(tmp_path / "bags").instance_truth is None
    dataset.save(tmp_path / "one")
    BagDataset.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_failed_write_keeps_the_old_file(dataset, tmp_path, monkeypatch):
    file = tmp_path / "bags"
    dataset.save(file)
    before = file.read_bytes()

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        dataset.subset([0]).save(file)
    assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_cut_anywhere_is_refused(dataset, tmp_path):
    dataset.save(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for length in (0, 1, 8, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(InputError, match="not a whole bag data set"):
            BagDataset.load(tmp_path / "cut")


class Bomb:
    """Would raise if anybody unpickled it."""

    def __reduce__(self):
        return pytest.fail, ("the file was unpickled",)


def test_foreign_files_are_refused_and_never_run(dataset, tmp_path):
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    np.save(tmp_path / "array.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    save_file({"weights": np.ones(3)}, tmp_path / "model.safetensors")
    save_file({"weights": np.ones(3)}, tmp_path / "hand.safetensors", metadata={"elimipl.bags": "{}"})
    for file in tmp_path.iterdir():
        with pytest.raises(InputError, match="not a whole bag data set"):
            BagDataset.load(file)


def test_missing_files_folders_and_nothing_are_refused_as_they_are_called(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        BagDataset.load(tmp_path / "none")
    with pytest.raises(InputError, match="is no bag data set"):
        BagDataset.load(tmp_path)
    path = tmp_path / "secret-folder.safetensors"
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="“your file” is not") as caught:
        BagDataset.load(path, "your file")
    assert "secret" not in str(caught.value)


def test_a_later_version_of_the_format_says_so(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(bag_file, "VERSION", 99)
    dataset.save(tmp_path / "later")
    monkeypatch.undo()
    with pytest.raises(InputError, match="version 99"):
        BagDataset.load(tmp_path / "later")


def test_a_file_whose_numbers_contradict_each_other_is_refused(dataset, tmp_path):
    fields = {name: getattr(dataset, name) for name in (*ARRAYS, *DESCRIPTIONS)}
    fields["label_space"] = LabelSpace.of("ab").to_dict()
    bag_file.write(tmp_path / "wrong", bag_file.BagFile(**fields))
    with pytest.raises(InputError, match="4 bags and 2 classes"):
        BagDataset.load(tmp_path / "wrong")


def test_half_precision_halves_the_features_or_refuses_what_is_too_large(dataset, tmp_path):
    path = tmp_path / "half.safetensors"
    dataset.save(path, half=True)
    loaded = BagDataset.load(path)
    assert_same(loaded, replace(dataset, instances=dataset.instances.astype(np.float16)))
    large = replace(dataset, instances=dataset.instances * 1e6)
    with pytest.raises(InputError, match="too large for 16 bits"):
        large.save(tmp_path / "large.safetensors", half=True)
    assert list(tmp_path.iterdir()) == [path]
