"""The context extractor: what an instance is told about its bag."""

import torch

from elimipl.config import Config
from elimipl.model.network import build_network, with_context

BAG_OF = torch.tensor([0, 0, 0, 1, 2, 2])


def features() -> torch.Tensor:
    return torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_context_is_mean_and_deviation_of_the_own_bag():
    x = features()
    out = with_context(x, BAG_OF, 3)
    assert out.shape == (6, 12)
    for j in range(6):
        bag = x[bag_of(j)]
        expected = torch.cat([x[j], bag.mean(0), (bag.var(0, correction=0) + 1e-6).sqrt()])
        torch.testing.assert_close(out[j], expected)


def bag_of(j: int) -> torch.Tensor:
    return (BAG_OF[j] == BAG_OF).nonzero()[:, 0]


def test_gradient_is_right_and_finite_for_equal_instances():
    x = features().requires_grad_()
    assert torch.autograd.gradcheck(lambda values: with_context(values, BAG_OF, 3), x)
    same = torch.ones(6, 4, dtype=torch.float64, requires_grad=True)
    with_context(same, BAG_OF, 3).sum().backward()
    assert torch.isfinite(same.grad).all()


def test_batching_and_order_change_nothing():
    network = build_network(Config(extractor="context", hidden=8, dtype="float64"), dim=4, n_classes=3)
    x = features()
    together = network(x, BAG_OF, 3)
    for bag in range(3):
        rows = (bag == BAG_OF).nonzero()[:, 0]
        alone = network(x[rows], torch.zeros(len(rows), dtype=torch.long), 1)
        torch.testing.assert_close(alone.logits[0], together.logits[bag])
        mixed = rows.flip(0)
        turned = network(x[mixed], torch.zeros(len(rows), dtype=torch.long), 1)
        torch.testing.assert_close(turned.logits, alone.logits)
        torch.testing.assert_close(turned.attention.flip(0), alone.attention)
