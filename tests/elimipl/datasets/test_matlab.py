"""The authors' MATLAB layout, written here with SciPy and read back."""

import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from bag_generators.base.errors import InputError
from elimipl.datasets.matlab import load_bags, load_splits

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


def written(values, compressed=False, **options):
    file = io.BytesIO()
    savemat(file, values, do_compression=compressed, **options)
    return file.getvalue()


def one_bag(*columns):
    cells = np.empty((1, len(columns)), dtype=object)
    cells[0] = columns
    return cells


def packed_variable(dimensions, kind, body):
    """A file of one packed variable “data” with these dimensions, of this class, with `body` after its name."""
    head = struct.pack("<IIII", 6, 8, kind, 0) + struct.pack("<IIii", 5, 8, *dimensions)
    content = head + struct.pack("<HH4s", 1, 4, b"data") + body
    packed = zlib.compress(struct.pack("<II", 14, len(content)) + content, 9)
    return written({})[:128] + struct.pack("<II", 15, len(packed)) + packed


@pytest.mark.parametrize(
    "content",
    [
        packed_variable((1, 100 * 2**20), 6, struct.pack("<II", 9, 800 * 2**20) + bytes(800 * 2**20)),
        packed_variable((1, 2**28), 1, bytes(8 * 2**20)),
    ],
    ids=["numbers", "empty cells"],
)
def test_a_bomb_is_refused_and_costs_this_process_nothing(tmp_path, content):
    path = tmp_path / "bomb.mat"
    path.write_bytes(content)
    assert len(content) < 2**20
    tracemalloc.start()
    with pytest.raises(InputError, match=r"far more than its size|not a whole MATLAB file"):
        load_bags(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_other_variables_are_not_unpacked(tmp_path):
    bag = one_bag(np.eye(2), np.array([[1.0, 2.0]]), np.array([[2.0]]))
    (tmp_path / "set.mat").write_bytes(written({"before": np.zeros((5000, 5000)), "data": bag}, compressed=True))
    assert len(load_bags(tmp_path / "set.mat")) == 1


@pytest.mark.parametrize("cell", ["text", {"a": 1}, np.ones((2, 2)) * 1j], ids=["text", "structure", "complex"])
def test_what_is_not_a_table_of_numbers_is_named(tmp_path, cell):
    (tmp_path / "set.mat").write_bytes(written({"data": one_bag(cell, np.array([[1.0]]), np.array([[1.0]]))}))
    with pytest.raises(InputError, match=r"The instances of bag 1 .* are not a table of numbers"):
        load_bags(tmp_path / "set.mat")


def test_old_files_of_plain_tables_are_still_read(tmp_path):
    values = {"trainIndex": np.array([[1.0, 2.0]]), "testIndex": np.array([[3.0]])}
    (tmp_path / "index1.mat").write_bytes(written(values, format="4"))
    [(train, test)] = load_splits(tmp_path, bags=3)
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])


@pytest.mark.parametrize("label", [np.inf, 1e15, np.nan])
def test_class_numbers_without_end_are_refused(tmp_path, label):
    bag = one_bag(np.eye(2), np.array([[label]]), np.array([[label]]))
    (tmp_path / "set.mat").write_bytes(written({"data": bag}))
    with pytest.raises(InputError, match="are not class numbers"):
        load_bags(tmp_path / "set.mat")


@pytest.mark.parametrize("options", [{}, {"compressed": True}, {"format": "4"}], ids=["5", "5 packed", "4"])
def test_every_flipped_byte_gives_bags_or_a_sentence(tmp_path, options):
    path = tmp_path / "set.mat"
    table = one_bag(np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0]]), np.array([[2.0]]))
    content = written({"data": np.eye(3) if "format" in options else table}, **options)
    refused = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= (0x01, 0x80, 0xFF)[position % 3]
        path.write_bytes(damaged)
        try:
            load_bags(path)
        except InputError:
            refused += 1
    assert refused > len(content) / 3
