"""The authors' MATLAB layout, written here with SciPy and read back."""

import numpy as np
import pytest
from scipy.io import savemat

from bag_generators.errors import InputError
from elimipl.data.matlab import load_bags, load_splits

BAGS = [np.arange(6.0).reshape(2, 3), np.ones((1, 3)), np.full((4, 3), 7.0)]
SETS = [[1, 2], [3], [2, 3]]
TRUTHS = [2, 3, 2]


def cell_array(columns=3, sets=SETS, truths=TRUTHS, bags=BAGS):
    cells = np.empty((len(bags), columns), dtype=object)
    for i, values in enumerate(zip(bags, sets, truths, strict=True)):
        cells[i, :3] = [np.asarray(value, dtype=float) for value in values]
        cells[i, 3:] = [np.zeros((1, 2))] * (columns - 3)
    return cells


@pytest.mark.parametrize("columns", [3, 4])
@pytest.mark.parametrize("compressed", [False, True])
def test_bags_candidates_and_labels_count_from_zero(tmp_path, columns, compressed):
    savemat(tmp_path / "set.mat", {"data": cell_array(columns)}, do_compression=compressed)
    dataset = load_bags(tmp_path / "set.mat")
    assert dataset.label_space.names == ("1", "2", "3")
    np.testing.assert_array_equal(dataset.labels, [1, 2, 1])
    np.testing.assert_array_equal(dataset.candidates, [[1, 1, 0], [0, 0, 1], [0, 1, 1]])
    for i, bag in enumerate(BAGS):
        np.testing.assert_array_equal(dataset.bag(i), bag)


def test_bags_whose_candidates_miss_the_true_label_are_loaded_counted_and_named(tmp_path):
    savemat(tmp_path / "set.mat", {"data": cell_array(truths=[2, 4, 1])})
    dataset = load_bags(tmp_path / "set.mat")
    np.testing.assert_array_equal(dataset.labels, [1, 3, 0])
    np.testing.assert_array_equal(dataset.candidates, [[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0]])
    np.testing.assert_array_equal(dataset.truth_outside, [1, 2])
    assert [dataset.names[i] for i in dataset.truth_outside] == ["row 2", "row 3"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"other": np.ones(3)}, "no variable “data”"),
        ({"data": np.ones((4, 3))}, "not a cell array"),
        ({"data": cell_array(2 + 3)}, "not a cell array of 3 or 4 columns"),
        ({"data": cell_array(truths=[2, [3, 3], 2])}, "Bag 2 .* has 2 true labels"),
        ({"data": cell_array(sets=[[0, 2], [3], [2, 3]])}, "candidate labels of bag 1 .* not class numbers"),
        ({"data": cell_array(sets=[[1.5, 2], [3], [2, 3]])}, "not class numbers"),
        ({"data": cell_array(sets=[[], [3], [2, 3]])}, "not a table of numbers"),
        ({"data": cell_array(bags=[BAGS[0], np.ones((1, 4)), BAGS[2]])}, r"Bag 1 has the shape \(1, 4\)"),
        ({"data": cell_array(bags=[BAGS[0], np.full((1, 3), np.nan), BAGS[2]])}, "not finite"),
    ],
)
def test_other_contents_are_refused(tmp_path, content, sentence):
    savemat(tmp_path / "set.mat", content)
    with pytest.raises(InputError, match=sentence):
        load_bags(tmp_path / "set.mat")


def test_version_7_3_is_answered_with_the_way_out(tmp_path):
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(InputError, match=r"version 7\.3.*-v7"):
        load_bags(tmp_path / "new.mat")


def test_damaged_files_and_folders_without_splits_are_answered(tmp_path):
    savemat(tmp_path / "set.mat", {"data": cell_array()}, do_compression=True)
    content = (tmp_path / "set.mat").read_bytes()
    for broken in (b"", b"no matlab", content[:130], content[: len(content) // 2], content[:-4]):
        (tmp_path / "broken.mat").write_bytes(broken)
        with pytest.raises(InputError, match=r"not a whole MATLAB file|no variable"):
            load_bags(tmp_path / "broken.mat")
    with pytest.raises(InputError, match="There is no file"):
        load_bags(tmp_path / "none.mat")
    with pytest.raises(InputError, match="is a folder"):
        load_bags(tmp_path)
    with pytest.raises(InputError, match=r"no “index1\.mat”"):
        load_splits(tmp_path, bags=3)


def write_splits(folder, splits):
    folder.mkdir(parents=True, exist_ok=True)
    for i, (train, test) in enumerate(splits, start=1):
        savemat(folder / f"index{i}.mat", {"trainIndex": np.array([train]), "testIndex": np.array([test]).T})


@pytest.mark.parametrize("place", ["", "index"])
def test_splits_in_their_order_count_from_zero(tmp_path, place):
    written = [([i % 10 + 1, (i + 1) % 10 + 1], [(i + 2) % 10 + 1]) for i in range(10)]
    write_splits(tmp_path / place, written)
    splits = load_splits(tmp_path, bags=10)
    assert len(splits) == 10
    for (train, test), (train_from_1, test_from_1) in zip(splits, written, strict=True):
        np.testing.assert_array_equal(train, np.array(train_from_1) - 1)
        np.testing.assert_array_equal(test, np.array(test_from_1) - 1)


@pytest.mark.parametrize(
    ("train", "test", "sentence"),
    [
        ([1, 2], [4], "3 bags"),
        ([0, 1], [2], "3 bags"),
        ([1, 1], [2], "at most once"),
        ([1.5], [2], "not a list of bag numbers"),
        ([1, 2], [2, 3], "trains and tests on the same bag"),
    ],
)
def test_unsound_splits_are_refused(tmp_path, train, test, sentence):
    write_splits(tmp_path, [(train, test)])
    with pytest.raises(InputError, match=sentence):
        load_splits(tmp_path, bags=3)
