"""Tensors with a description in one file; `tests/faults/test_full_disk.py` has the disks that fail."""

import json

import numpy as np
import pytest
from safetensors.numpy import save

from bag_generators.base.errors import InputError
from bag_generators.base.storage import ForeignFileError, pack_tensors, read_tensors, write_tensors

TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([True, False]),
    "steps": np.array(7.0),
    "none": np.zeros((0, 3)),
}


def test_tensors_and_description_come_back(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, TENSORS, "key", {"z": [1, 2.5, "ü"], "a": 2}, "The thing")
    tensors, described = read_tensors(path, "key", "t")
    assert list(described.items()) == [("z", [1, 2.5, "ü"]), ("a", 2)]
    assert tensors.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        assert (tensors[name].dtype, tensors[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(tensors[name], array)


def test_equal_content_gives_equal_bytes():
    swapped = {name: np.asfortranarray(array) for name, array in reversed(TENSORS.items())}
    swapped["steps"] = TENSORS["steps"]  # which would become a table
    assert pack_tensors(TENSORS, "key", {"a": 1, "b": 2}) == pack_tensors(swapped, "key", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    "content",
    [b"", b"no tensors", save(TENSORS), save(TENSORS, {"other": "{}"})],
    ids=["empty", "text", "bare", "other"],
)
def test_another_kind_of_file_is_foreign(tmp_path, content):
    path = tmp_path / "t.safetensors"
    path.write_bytes(content)
    with pytest.raises(ForeignFileError):
        read_tensors(path, "key", "t")


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', json.dumps("\ud800")])
def test_a_description_that_is_not_plain_json_is_refused(tmp_path, text):
    path = tmp_path / "t.safetensors"
    path.write_bytes(save(TENSORS, {"key": text}))
    with pytest.raises(InputError, match="description in “t” is not JSON"):
        read_tensors(path, "key", "t")


def test_a_file_that_is_not_there_and_one_that_is_a_folder(tmp_path):
    with pytest.raises(InputError, match="There is no file “t”"):
        read_tensors(tmp_path / "t", "key", "t")
    with pytest.raises(InputError, match="could not be read"):
        read_tensors(tmp_path, "key", "t")
