import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elimipl.training.batching import PackedBags

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
    for batch in packed(sizes).reordered(order).batches(size):
        count = batch.members.stop - batch.members.start
        assert 1 <= count <= size
        for i in range(count):
            rows = batch.x[batch.bag_of == i]
            assert rows[:, 0].unique().numel() == 1
            assert rows[:, 1].tolist() == list(range(len(rows)))
            assert len(rows) == sizes[int(rows[0, 0])]
            seen.append(int(rows[0, 0]))
    assert seen == order.tolist()


def test_batches_are_nearly_equal():
    counts = [batch.members.stop - batch.members.start for batch in packed([1] * 65).batches(64)]
    assert counts == [32, 33]


def test_batches_are_views_of_one_array():
    bags = packed([2, 3, 1])
    for batch in bags.batches(2):
        assert batch.x.untyped_storage().data_ptr() == bags.x.untyped_storage().data_ptr()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_packing_converts(dtype):
    assert PackedBags.pack(np.ones((2, 3)), np.array([2]), dtype, CPU).x.dtype == dtype
