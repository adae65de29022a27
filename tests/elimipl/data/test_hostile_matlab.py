"""MATLAB files of strangers: bags or a sentence, and the program lives, whatever the reading process does."""

import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from bag_generators.errors import InputError
from elimipl.data.matlab import load_bags, load_splits


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
