"""Bags on disk come in the same batches, with the same numbers, as bags in memory."""

import numpy as np
import pytest
import torch

from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.model import batching
from elimipl.model.batching import PackedBags, StreamedBags
from elimipl.model.scaling import fit_scaler
from elimipl.training.protocol import evaluate, stratified_splits
from elimipl.training.team import Part, SharedBags
from tests.elimipl.toy_bags import toy_bags

CPU = torch.device("cpu")


@pytest.fixture
def both(tmp_path):
    """The same bags in memory and on disk."""
    in_memory = toy_bags(m=31)
    in_memory.save(tmp_path / "toy.shards")
    on_disk = BagDataset.load(tmp_path / "toy.shards")
    assert on_disk.on_disk
    return in_memory, on_disk


@pytest.mark.parametrize("at_once", [1, 40, 10**6])
def test_batches_are_those_of_packed_bags(both, at_once, monkeypatch):
    monkeypatch.setattr(batching, "_NUMBERS_AT_ONCE", at_once)
    in_memory, on_disk = both
    scaler, sizes = fit_scaler(in_memory.instances, "zscore"), torch.from_numpy(in_memory.sizes)
    order = torch.randperm(len(sizes), generator=torch.Generator().manual_seed(3))
    packed = PackedBags.pack(scaler.transform(in_memory.instances), in_memory.sizes, torch.float32, CPU)
    for table in (on_disk.instances, in_memory.instances):
        streamed = StreamedBags(sizes, torch.float32, CPU, table, scaler)
        for given in (None, order):
            assert_same(streamed.batches(4, given), packed.batches(4, given))
        for size, part in ((4, Part(0, 2)), (4, Part(2, 3)), (1, Part(0, 2))):
            one, other = (list(SharedBags(bags, part).batches(size, order)) for bags in (streamed, packed))
            assert_same([batch.own for batch in one], [batch.own for batch in other])
            assert [batch[1:] for batch in one] == [batch[1:] for batch in other]


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.bag_of, other.bag_of)
        assert one.members == other.members


@pytest.mark.parametrize("kind", ["zscore", "robust", "global"])
def test_scaling_reads_a_part_at_a_time_to_the_same_end(both, kind, monkeypatch):
    in_memory, on_disk = both
    whole = fit_scaler(in_memory.instances, kind)
    monkeypatch.setattr("elimipl.model.scaling._NUMBERS_AT_ONCE", 64)
    monkeypatch.setattr(type(on_disk.instances), "__array__", None)  # nothing may read everything
    parts = fit_scaler(on_disk.instances, kind)
    np.testing.assert_allclose(parts.shift, whole.shift, rtol=1e-14)
    np.testing.assert_allclose(parts.scale, whole.scale, rtol=1e-14)


def test_splits_of_bags_on_disk_are_evaluated_by_other_processes(both):
    config = Config.preset("default", hidden=8, epochs=1, batch=8)
    splits = stratified_splits(both[0].labels, 2)
    here, there = (evaluate(data, config, splits, workers=2, device="cpu") for data in both)
    assert here.accuracies == there.accuracies
