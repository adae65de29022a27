"""Bag data sets as folders: what is read is what was written, in parts that are whole, named and checked."""

import json
import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bag_generators.base import bag_file, mapped_rows, shards
from bag_generators.base.bag_file import BagFile
from bag_generators.base.errors import InputError
from bag_generators.base.mapped_rows import MappedRows, map_table

SIZES = [3, 1, 4, 2, 5, 1, 2]
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(shards, "BAGS_A_PART", 3)


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(sum(SIZES), 4)).astype(np.float32)


@pytest.fixture
def folder(tmp_path, rows):
    folder = tmp_path / "set.shards"
    names = (*(f"tile {i}" for i in range(6)), "ç\udcff")
    shards.write(folder, BagFile(rows, OFFSETS, names, generator="sbn", params={"grid": 8}, source="here"))
    return folder


def mapped(folder):
    return shards.read(folder).instances


def part(folder, number=0):
    return list(shards.part_paths(folder))[number]


def test_everything_comes_back(folder, rows):
    bags = shards.read(folder)
    np.testing.assert_array_equal(np.asarray(bags.instances), rows)
    np.testing.assert_array_equal(bags.offsets, OFFSETS)
    assert bags.names == (*(f"tile {i}" for i in range(6)), "ç�")
    assert (bags.generator, bags.params, bags.source) == ("sbn", {"grid": 8}, "here")
    assert len(list(shards.part_paths(folder))) == 3
    sent = pickle.loads(pickle.dumps(bags.instances))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(sent[:], rows)
    with pytest.raises(ValueError, match="read-only"):  # a view
        sent[0:4][0, 0] = 1


@pytest.mark.parametrize(
    "key",
    [
        slice(None), slice(0, 0), slice(2, 2), slice(5, 3), slice(1, 2), slice(2, 17), slice(-5, None),
        (slice(None), slice(1, 3)), (slice(4, 11), [0, 3]), (slice(3, 3), slice(2)),
    ],
    ids=str,
)  # fmt: skip
def test_indexing_is_that_of_an_array(folder, rows, key):
    taken = mapped(folder)[key]
    np.testing.assert_array_equal(taken, rows[key])
    assert taken.dtype == np.float32


@pytest.mark.parametrize("key", [3, [17, 0], slice(0, 99, 3), np.arange(18) % 4 == 1])
def test_rows_that_do_not_follow_each_other_are_refused(folder, key):
    with pytest.raises(IndexError, match="reads them all"):
        mapped(folder)[key]


def test_subsets_and_blocks_read_only_what_they_are_asked_for(folder, rows):
    part(folder, 0).rename(folder / "parts" / "elsewhere")  # whoever reads it now fails
    table = MappedRows(
        [folder / "parts" / "elsewhere", *list(shards.part_paths(folder))], [1, 0, 2], [0, 0, 0], [2, 1, 1], 4
    )
    chosen = table.subset([2, 0])
    assert chosen.shape == (3, 4)
    (folder / "parts" / "elsewhere").unlink()
    np.testing.assert_array_equal(chosen[:], np.concatenate([table.blocks([2]), table.blocks([0])]))
    with pytest.raises(InputError, match="missing"):
        table.blocks([1])


def test_blocks_are_bags_in_any_order(folder, rows):
    wanted = [6, 0, 1, 2, 2]
    expected = np.concatenate([rows[OFFSETS[i] : OFFSETS[i + 1]] for i in wanted])
    np.testing.assert_array_equal(mapped(folder).blocks(wanted), expected)
    np.testing.assert_array_equal(mapped(folder).subset(wanted)[:], expected)


def test_tables_are_joined_without_reading(folder, rows):
    table = mapped(folder)
    both = MappedRows.joined([table.subset([1]), table])
    assert len(both.parts) == 3
    np.testing.assert_array_equal(both[:], np.concatenate([rows[3:4], rows]))


def test_equal_parts_are_written_once_and_others_removed(folder, rows):
    before = {path: path.stat().st_mtime_ns for path in shards.part_paths(folder)}
    shards.write(folder, BagFile(rows[:8], OFFSETS[:4], ()))
    assert {path: path.stat().st_mtime_ns for path in shards.part_paths(folder)}.items() < before.items()
    assert len(mapped(folder)) == 8


def test_an_index_alone_is_written_for_parts_that_are_there(folder, rows):
    bags = shards.read(folder)
    part(folder).chmod(0o444)
    before = [(path, path.stat().st_mtime_ns) for path in shards.part_paths(folder)]
    shards.write(folder, BagFile(bags.instances, bags.offsets, (), source="there"))
    assert shards.read(folder).source == "there"
    assert [(path, path.stat().st_mtime_ns) for path in shards.part_paths(folder)] == before


def test_a_folder_can_be_written_as_one_file(folder, rows, tmp_path):
    bag_file.write(tmp_path / "one.safetensors", shards.read(folder))
    np.testing.assert_array_equal(bag_file.read(tmp_path / "one.safetensors").instances, rows)


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(InputError, match="is no bag data set"):
        shards.read(tmp_path)
    (tmp_path / "x.shards").mkdir()
    (tmp_path / "x.shards" / "diary.txt").write_text("dear")
    with pytest.raises(InputError, match="holds something else"):
        shards.check_out(tmp_path / "x.shards")
    with pytest.raises(InputError, match=r"Name it “bags\.shards”"):
        shards.check_out(tmp_path / "bags")


def test_a_missing_part_is_named_before_any_work_and_so_is_a_missing_index(folder):
    name = part(folder).name
    part(folder).unlink()
    with pytest.raises(InputError, match=f"1 of 3 parts .* missing, such as “{name}”"):
        shards.read(folder)
    (folder / shards.INDEX).unlink()
    with pytest.raises(InputError, match=r"unfinished bag data set\. Run the command"):
        shards.read(folder)


def test_a_number_that_is_not_finite_is_refused_when_it_is_read(folder):
    save_file({"instances": np.full((8, 4), np.nan, np.float32)}, part(folder), {"elimipl.shards": "{}"})
    table = mapped(folder)
    with pytest.raises(InputError, match=f"“{part(folder).name}” holds a number that is not finite"):
        table[:]


def test_a_part_larger_than_memory_is_looked_at_piece_by_piece(folder, rows, monkeypatch):
    monkeypatch.setattr(mapped_rows, "_NUMBERS_A_LOOK", 8)
    looks, look = [], np.isfinite
    monkeypatch.setattr(np, "isfinite", lambda table: looks.append(table.size) or look(table))
    np.testing.assert_array_equal(mapped(folder)[:], rows)
    assert max(looks) == 8


@pytest.mark.parametrize(
    "content",
    [b"", b"\x01", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"{}", b"\x04" + b"\0" * 7 + b"null", b"\x01" + b"\0" * 7 + b"["],
    ids=repr,
)
def test_a_damaged_part_is_a_sentence(folder, content):
    part(folder).write_bytes(content)
    with pytest.raises(InputError, match=part(folder).name):
        map_table(part(folder))


def test_a_part_that_was_cut_off_or_has_another_width_is_a_sentence(folder):
    whole = part(folder).read_bytes()
    part(folder).write_bytes(whole[:-4])
    with pytest.raises(InputError, match="not a whole part"):
        map_table(part(folder))
    save_file({"instances": np.zeros((8, 3), np.float32)}, part(folder))
    with pytest.raises(InputError, match="not a whole part"):
        mapped(folder)[:]


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        ("part_of", np.full(7, 3, np.int32)),
        ("part_of", np.zeros(6, np.int32)),
        ("part_of", np.zeros(7, np.float32)),
        ("starts", np.full(7, -1)),
        ("dim", np.array([0])),
        ("offsets", np.array([0, 3, 3, 8, 10, 15, 16, 18])),
        ("offsets", np.zeros((0,), np.int64)),
        ("parts.utf8", np.frombuffer(b"../" * 44, np.uint8)),
    ],
    ids=str,
)
def test_an_index_that_leads_nowhere_is_refused(folder, tensor, value):
    tensors = load_file(folder / shards.INDEX)
    described = bag_file.packed(shards.read(folder))[1]
    save_file({**tensors, tensor: value}, folder / shards.INDEX, {"elimipl.shards": json.dumps(described)})
    with pytest.raises(InputError, match="not a whole bag data set"):
        shards.read(folder)


def test_places_beyond_the_end_of_a_part_are_refused_when_they_are_read(folder):
    table = mapped(folder)
    beyond = MappedRows(table.parts, table.part_of, table.starts + 5, table.sizes, 4)
    with pytest.raises(InputError, match="not a whole part"):
        beyond[:]
