"""Our reader of MATLAB 5 files agrees with SciPy's on whole files and refuses damaged ones instead of dying."""

import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from bag_generators.errors import InputError
from elimipl.data.mat5 import TooLargeError, is_version_5, read_variable
from elimipl.data.matlab import load_bags, load_splits

RNG = np.random.default_rng(5)


def written(values, compressed=False, **options):
    file = io.BytesIO()
    savemat(file, values, do_compression=compressed, **options)
    return file.getvalue()


def cells(*rows):
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            made[i, j] = value
    return made


TABLES = [
    RNG.normal(size=(3, 5)),
    np.arange(300).reshape(2, 150),
    np.zeros((0, 4)),
    np.ones((1, 1)),
    np.ones((2, 3, 4)),
]
KINDS = ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_are_read_as_scipy_reads_them(kind, compressed):
    for table in TABLES:
        content = written({"before": "text", "x": table.astype(kind), "after": np.eye(2)}, compressed)
        found = read_variable(content, "x")
        np.testing.assert_array_equal(found, loadmat(io.BytesIO(content))["x"])
        assert found.dtype == kind


@pytest.mark.parametrize("compressed", [False, True])
def test_cells_keep_their_places(compressed):
    content = written({"x": cells([TABLES[0], np.array([[1.0, 2.0]])], [TABLES[1], cells([np.eye(2)])])}, compressed)
    found, expected = read_variable(content, "x"), loadmat(io.BytesIO(content))["x"]
    assert found.shape == expected.shape == (2, 2)
    for place in ((0, 0), (0, 1), (1, 0)):
        np.testing.assert_array_equal(found[place], expected[place])
    np.testing.assert_array_equal(found[1, 1][0, 0], np.eye(2))


def test_what_bags_do_not_need_is_passed_over():
    odd = cells(["text", {"a": 1}], [np.ones((2, 2)) * 1j, np.eye(3)])
    found = read_variable(written({"x": odd}), "x")
    assert [found[i, j].item() is None for i, j in ((0, 0), (0, 1), (1, 0))] == [True] * 3
    np.testing.assert_array_equal(found[1, 1], np.eye(3))


def test_a_variable_that_is_not_there():
    assert read_variable(written({"x": np.eye(2)}), "y") is None


def test_the_version_is_told_from_the_header():
    assert is_version_5(written({"x": 1}))
    assert not is_version_5(written({"x": 1}, format="4"))
    assert not is_version_5(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def test_a_file_of_the_other_byte_order():
    numbers = np.arange(6.0).reshape(2, 3)
    parts = [(6, struct.pack(">II", 6, 0)), (5, struct.pack(">ii", 2, 3)), (1, b"xy")]
    parts.append((9, numbers.astype(">f8").tobytes(order="F")))
    body = b"".join(struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8) for kind, data in parts)
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(body)) + body
    np.testing.assert_array_equal(read_variable(content, "xy"), numbers)


def test_a_variable_that_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("elimipl.data.mat5.LEAST_MAT_BYTES", 10_000)
    content = written({"x": np.zeros((1000, 1000))}, compressed=True)
    tracemalloc.start()
    with pytest.raises(TooLargeError, match="more than 0 MB"):
        read_variable(content, "x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000  # of eight million


def test_a_bomb_is_named_and_costs_little(tmp_path):
    path = tmp_path / "bomb.mat"
    packer = zlib.compressobj(9)
    whole = 300 * 2**20
    head = struct.pack("<II", 14, whole) + struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, 1, whole // 8)
    head += struct.pack("<HH4s", 1, 4, b"data")
    packed = packer.compress(head) + b"".join(packer.compress(bytes(2**20)) for _ in range(300)) + packer.flush()
    path.write_bytes(written({})[:128] + struct.pack("<II", 15, len(packed)) + packed)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"unpacks to more than \d+ MB, far more than its size\..*-v6"):
        load_bags(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 * 2**20


def test_other_variables_are_not_unpacked_to_learn_their_names(monkeypatch):
    monkeypatch.setattr("elimipl.data.mat5.LEAST_MAT_BYTES", 10_000)
    content = written({"before": np.zeros((1000, 1000)), "x": np.eye(2)}, compressed=True)
    np.testing.assert_array_equal(read_variable(content, "x"), np.eye(2))


def test_empty_cells_without_end_are_refused(monkeypatch):
    monkeypatch.setattr("elimipl.data.mat5.MOST_MAT_CELLS", 8)
    inside = cells([np.eye(2), np.eye(2)])
    assert read_variable(written({"x": cells([inside, inside], [1, 2])}), "x").shape == (2, 2)
    with pytest.raises(TooLargeError, match="more than 8 cells"):
        read_variable(written({"x": cells([inside, inside], [inside, 2])}), "x")


def test_old_files_of_plain_tables_are_still_read(tmp_path):
    values = {"trainIndex": np.array([[1.0, 2.0]]), "testIndex": np.array([[3.0]])}
    (tmp_path / "index1.mat").write_bytes(written(values, format="4"))
    [(train, test)] = load_splits(tmp_path, bags=3)
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])


@pytest.mark.parametrize("label", [np.inf, 1e15, np.nan])
def test_class_numbers_without_end_are_refused(tmp_path, label):
    (tmp_path / "set.mat").write_bytes(written({"data": cells([np.eye(2), np.array([[label]]), np.array([[label]])])}))
    with pytest.raises(InputError, match="are not class numbers"):
        load_bags(tmp_path / "set.mat")


@pytest.mark.parametrize("options", [{}, {"compressed": True}, {"format": "4"}], ids=["5", "5 packed", "4"])
def test_every_flipped_byte_gives_bags_or_a_sentence(tmp_path, options):
    path = tmp_path / "set.mat"
    table = cells([np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0]]), np.array([[2.0]])])
    content = written({"data": np.eye(3) if "format" in options else table}, **options)
    refused = 0
    for position in range(len(content)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(content)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            try:
                load_bags(path)
            except InputError:
                refused += 1
    assert refused > len(content) / 2
