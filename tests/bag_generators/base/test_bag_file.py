"""The one bag file: all of it comes back, an older one still loads, a damaged one is refused, a million bags fit."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from bag_generators.base import bag_file
from bag_generators.base.bag_file import BagFile
from bag_generators.base.errors import InputError
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import UNLABELLED, BagDataset

UNLABELLED_BAGS = BagFile(
    instances=np.arange(12, dtype=np.float32).reshape(4, 3),
    offsets=np.array([0, 1, 4]),
    names=("a.png", "ü.png"),
    generator="sbn",
    params={"stain": "none", "n": 3},
    feature_names=("red", "green", "blue"),
    boxes=np.arange(16).reshape(4, 4),
    image_sha256=("ab" * 32, "cd" * 32),
    failed=("broken.png",),
    reasons=("The file is empty. Choose another file.",),
)
LABELLED_BAGS = replace(
    UNLABELLED_BAGS,
    label_space=LabelSpace.of("xyz").to_dict(),
    candidates=np.eye(3, dtype=bool)[:2],
    labels=np.array([0, 1]),
    groups=np.array([5, 5]),
    instance_truth=np.array([True, False, True, False]),
)


@pytest.mark.parametrize("bags", [UNLABELLED_BAGS, LABELLED_BAGS], ids=["unlabelled", "labelled"])
def test_everything_comes_back(bags, tmp_path):
    bag_file.write(tmp_path / "b.safetensors", bags)
    found = bag_file.read(tmp_path / "b.safetensors")
    for field in fields(BagFile):
        wanted, got = getattr(bags, field.name), getattr(found, field.name)
        assert np.array_equal(wanted, got) if isinstance(wanted, np.ndarray) else wanted == got, field.name


def test_bags_without_labels_are_a_data_set_that_says_so(tmp_path):
    path = tmp_path / "b.safetensors"
    bag_file.write(path, replace(UNLABELLED_BAGS, image_sha256=("ab" * 32, "ab" * 32)))
    dataset = BagDataset.load(path)
    assert dataset.label_space == UNLABELLED
    assert dataset.labels.tolist() == [-1, -1]
    assert dataset.candidates.all()
    assert dataset.groups.tolist() == [0, 0]  # the same picture twice
    assert (dataset.names, dataset.generator) == (("a.png", "ü.png"), "sbn")


def test_a_file_of_version_1_still_loads(tmp_path):
    tensors = {
        name: getattr(LABELLED_BAGS, name) for name in ("instances", "offsets", "candidates", "labels", "groups")
    }
    described = {"version": 1, "label_space": LABELLED_BAGS.label_space, "generator": "row", "params": {"a": 1},
                 "names": ["a", "ü"], "source": "here", "licence": "CC0"}  # fmt: skip
    path = tmp_path / "first.safetensors"
    path.write_bytes(save(tensors, {"elimipl.bags": json.dumps(described)}))
    dataset = BagDataset.load(path)
    assert (dataset.names, dataset.generator, dataset.params) == (("a", "ü"), "row", {"a": 1})
    assert (dataset.source, dataset.licence, dataset.label_space.names) == ("here", "CC0", ("x", "y", "z"))
    for name, array in tensors.items():
        assert np.array_equal(getattr(dataset, name), array)


def test_more_than_a_million_bags(tmp_path):
    m = 1_200_000
    names = tuple(f"slide-{i // 1000}/tiles/number-{i}-of-a-long-name.png" for i in range(m))
    dataset = BagDataset(
        instances=np.arange(m, dtype=np.float32)[:, None],
        offsets=np.arange(m + 1),
        candidates=np.ones((m, 2), dtype=bool),
        labels=np.zeros(m, dtype=np.int64),
        label_space=LabelSpace.of("ab"),
        names=names,
    )
    path = tmp_path / "many.safetensors"
    dataset.save(path)
    loaded = BagDataset.load(path)
    assert loaded.names == names
    assert np.array_equal(loaded.instances, dataset.instances)


@pytest.mark.parametrize("name", ["caf\udce9.png", "\ud800.png", "", "a\nb", "\u202ex"], ids=ascii)
def test_no_name_loses_a_file(name, tmp_path):
    path = tmp_path / "b.safetensors"
    bag_file.write(path, replace(UNLABELLED_BAGS, names=(name, "b.png"), source=name))
    found = bag_file.read(path)
    assert found.names[1] == "b.png"
    assert found.names[0] == name or "�" in found.names[0]
    "".join((*found.names, found.source)).encode()  # can be shown


def changed(path: Path, **tensors: np.ndarray | None) -> bytes:
    """The labelled bags with some tensors replaced or taken away."""
    bag_file.write(path, LABELLED_BAGS)
    content = path.read_bytes()
    arrays = {**load(content), **{name.replace("__", "."): array for name, array in tensors.items()}}
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return save({name: array for name, array in arrays.items() if array is not None}, header["__metadata__"])


@pytest.mark.parametrize(
    "tensors",
    [
        {"names__ends": np.array([9, 3])},
        {"names__ends": np.array([-4, 12])},
        {"names__ends": np.array([5, 99])},
        {"names__ends": np.array([2.0, 3.0])},
        {"names__ends": None},
        {"names__utf8": np.zeros((2, 3), np.uint8)},
        {"image_sha256": np.zeros((2, 31), np.uint8)},
        {"image_sha256": np.zeros((3, 32), np.uint8)},
        {"boxes": np.zeros((3, 4), np.int64)},
        {"labels": None},
        {"surprise": np.zeros(1)},
        {"instances": np.zeros(4, np.float32)},
        {"instances": np.zeros((4, 2), np.float32)},
        {"reasons__ends": np.zeros(0, np.int64), "reasons__utf8": np.zeros(0, np.uint8)},
    ],
    ids=str,
)
def test_a_file_whose_parts_do_not_fit_is_refused(tensors, tmp_path):
    path = tmp_path / "b.safetensors"
    path.write_bytes(changed(path, **tensors))
    with pytest.raises(InputError, match="not a whole bag data set"):
        bag_file.read(path)


@pytest.mark.parametrize("value", [{}, [], None, {"version": "2"}, {"version": 2}, {"version": 2, "extra": 1}], ids=str)
def test_a_description_that_is_none_is_refused(value, tmp_path):
    path = tmp_path / "b.safetensors"
    path.write_bytes(save({"instances": np.ones((1, 1), np.float32)}, {"elimipl.bags": json.dumps(value)}))
    with pytest.raises(InputError):
        bag_file.read(path)


def test_a_new_file_needs_a_folder_that_is_there(tmp_path):
    bag_file.check_out(tmp_path / "new")
    for path, said in ((tmp_path / "nowhere" / "new", "Make the folder first"), (tmp_path, "that is a folder")):
        with pytest.raises(InputError, match=said):
            bag_file.check_out(path)
    with pytest.raises(InputError, match=r"Name the file “bags\.safetensors” instead"):
        bag_file.check_out(tmp_path / "bags.npz")
    assert list(tmp_path.iterdir()) == []
