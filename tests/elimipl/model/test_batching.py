import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from elimipl.model.batching import PackedBags, collate_bags
from tests.elimipl.toy_bags import toy_bags

CPU = torch.device("cpu")


def packed(sizes):
    """Bags whose instances tell where they are from: (bag, position)."""
    x = np.array([(bag, j) for bag, n in enumerate(sizes) for j in range(n)], np.float64)
    return PackedBags.pack(x, np.array(sizes), torch.float64, CPU)


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=30), size=st.integers(1, 9), seed=st.integers(0, 99))
def test_every_bag_comes_once_whole_and_in_the_order_asked_for(sizes, size, seed):
    order = torch.randperm(len(sizes), generator=torch.Generator().manual_seed(seed))
    seen = []
    for batch in packed(sizes).batches(size, order):
        count = batch.members.stop - batch.members.start
        assert 1 <= count <= size
        for i in range(count):
            rows = batch.x[batch.bag_of == i]
            assert rows[:, 0].unique().numel() == 1
            assert rows[:, 1].tolist() == list(range(len(rows)))
            assert len(rows) == sizes[int(rows[0, 0])]
            seen.append(int(rows[0, 0]))
    assert seen == order.tolist()


def test_batches_are_nearly_equal_views_of_one_array():
    bags = packed([1] * 65)
    batches = list(bags.batches(64))
    assert [batch.bags for batch in batches] == [32, 33]
    assert {batch.x.untyped_storage().data_ptr() for batch in batches} == {bags.x.untyped_storage().data_ptr()}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_reads_the_data_set(workers):
    data = toy_bags(m=10)
    loader = DataLoader(data, batch_size=4, collate_fn=collate_bags, num_workers=workers)
    batches = list(loader)
    assert [len(batch.labels) for batch in batches] == [4, 4, 2]
    assert np.array_equal(torch.cat([batch.x for batch in batches]).numpy(), data.instances)
    assert np.array_equal(torch.cat([batch.candidates for batch in batches]).numpy(), data.candidates)
    assert torch.cat([batch.labels for batch in batches]).tolist() == data.labels.tolist()
    assert tuple(name for batch in batches for name in batch.names) == data.names
    assert np.bincount(batches[1].bag_of.numpy()).tolist() == data.sizes[4:8].tolist()
    for batch in DataLoader(data, batch_size=4, shuffle=True, collate_fn=collate_bags):
        for i, name in enumerate(batch.names):
            there = data.names.index(name)
            assert np.array_equal(batch.x[batch.bag_of == i].numpy(), data.bag(there))
            assert batch.labels[i] == data.labels[there]
