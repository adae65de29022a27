"""A data set on disk is a data set: the same interface, the same training, none of it in memory before it is used."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from torch.utils.data import DataLoader

from bag_generators.base import shards
from bag_generators.base.errors import InputError
from elimipl.candidates.labels import TISSUE7
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset, save_pieces
from elimipl.model.batching import collate_bags
from elimipl.training.loop import fit
from tests.elimipl.datasets.test_dataset import assert_same


@pytest.fixture
def in_memory():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(int(size), 5)) for size in rng.integers(1, 6, 40)]
    labels = rng.integers(0, 7, 40)
    return BagDataset.from_bags(
        bags,
        TISSUE7,
        labels=labels,
        candidates=(labels[:, None] == np.arange(7)) | (rng.random((40, 7)) < 0.3),
        instance_truth=[rng.random(len(bag)) < 0.5 for bag in bags],
        generator="sbn",
        params={"grid": 8},
        groups=np.arange(40) // 2,
        names=tuple(f"{i}.png" for i in range(40)),
        source="here",
        licence="CC BY 4.0",
    )


@pytest.fixture
def on_disk(in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "BAGS_A_PART", 7)
    in_memory.save(tmp_path / "bags.shards")
    return BagDataset.load(tmp_path / "bags.shards")


def test_everything_comes_back(in_memory, on_disk):
    assert on_disk.on_disk
    assert not in_memory.on_disk
    assert_same(on_disk, in_memory)
    assert repr(on_disk) == repr(in_memory)


def test_bags_subsets_and_joined_sets_are_the_same(in_memory, on_disk):
    for i in (0, 6, 7, 39, -1):
        one, other = on_disk[i], in_memory[i]
        np.testing.assert_array_equal(one.features, other.features)
        assert one[2:] == other[2:]
    for chosen in ([3, 30, 3], np.arange(40) % 3 == 0):
        subset = on_disk.subset(chosen)
        assert subset.on_disk
        assert_same(subset, in_memory.subset(chosen))
    np.testing.assert_array_equal(on_disk.gather([5, 39, 0]), in_memory.gather([5, 39, 0]))
    joined = BagDataset.concatenate([on_disk.subset([1, 2]), on_disk])
    assert joined.on_disk
    assert_same(joined, BagDataset.concatenate([in_memory.subset([1, 2]), in_memory]))
    assert not BagDataset.concatenate([in_memory, on_disk]).on_disk


def test_a_data_loader_and_other_processes_read_it(in_memory, on_disk):
    there = pickle.loads(pickle.dumps(on_disk))  # noqa: S301 - our own bytes
    batches = [
        list(DataLoader(data, batch_size=16, collate_fn=collate_bags, num_workers=workers))
        for data, workers in ((in_memory, 0), (there, 2))
    ]
    for one, other in zip(*batches, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        assert one.names == other.names


@pytest.mark.parametrize("scaling", ["zscore", "robust", "global", "none"])
def test_training_and_prediction_are_the_same_bit_for_bit(in_memory, on_disk, scaling, monkeypatch):
    if scaling != "robust":  # which reads whole columns
        monkeypatch.setattr(type(on_disk.instances), "__array__", None)  # nothing may read everything
    config = Config(epochs=2, batch=8, hidden=4, scaling=scaling, dropout=0.3)
    fitted = [fit(data, config, held_out=data.subset(range(9))) for data in (in_memory, on_disk)]
    for name, value in fitted[0].network.state_dict().items():
        np.testing.assert_array_equal(value, fitted[1].network.state_dict()[name])
    answers = [one.predict(data).probabilities for one, data in zip(fitted, (in_memory, on_disk), strict=True)]
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(fitted[0].weights, fitted[1].weights)


def test_a_checkpoint_of_the_file_goes_on_with_the_folder(in_memory, on_disk, tmp_path):
    config, kept = Config(epochs=2, batch=8, hidden=4), tmp_path / "kept.safetensors"
    fit(in_memory, config, checkpoint=kept, should_stop=lambda: True)
    resumed = fit(on_disk, config, checkpoint=kept, resume=True)
    np.testing.assert_array_equal(resumed.weights, fit(in_memory, config).weights)


def test_new_candidate_sets_leave_the_parts_alone(on_disk, tmp_path):
    folder = tmp_path / "bags.shards"
    before = [(path, path.stat().st_mtime_ns) for path in shards.part_paths(folder)]
    on_disk.with_candidates(np.ones((40, 7), bool)).save(folder)
    assert BagDataset.load(folder).candidates.all()
    assert [(path, path.stat().st_mtime_ns) for path in shards.part_paths(folder)] == before


def test_pieces_become_one_set(in_memory, tmp_path):
    pieces = (in_memory.subset(np.arange(start, start + 10)) for start in range(0, 40, 10))
    whole = save_pieces(tmp_path / "pieces.shards", pieces)
    assert whole.on_disk
    assert_same(whole, in_memory)
    assert_same(BagDataset.load(tmp_path / "pieces.shards"), in_memory)
    with pytest.raises(InputError, match="no name for a folder of shards"):
        save_pieces(tmp_path / "pieces", iter([in_memory]))


def test_bags_without_labels_can_lie_in_a_folder(in_memory, tmp_path):
    bags = shards.BagFile(in_memory.instances, in_memory.offsets, in_memory.names, image_sha256=("ab" * 32,) * 40)
    shards.write(tmp_path / "bags.shards", bags)
    loaded = BagDataset.load(tmp_path / "bags.shards")
    assert (loaded.labels == -1).all()
    assert (loaded.groups == 0).all()


def test_a_hundred_thousand_names_stay_out_of_the_header(tmp_path):
    few = BagDataset.from_bags([np.zeros((1, 1))], TISSUE7)
    many = replace(
        few,
        instances=np.zeros((100_000, 1)),
        offsets=np.arange(100_001),
        candidates=np.ones((100_000, 7), bool),
        labels=np.zeros(100_000, int),
        groups=np.zeros(0, int),
        names=(),
    )
    many.save(tmp_path / "many.shards")
    loaded = BagDataset.load(tmp_path / "many.shards")
    assert loaded.names[-1] == "bag 99999"
    with (tmp_path / "many.shards" / shards.INDEX).open("rb") as index:
        assert int.from_bytes(index.read(8), "little") < 10_000
