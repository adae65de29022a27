import pytest
import torch
from torch import nn

from elimipl.training.steps import FlatSGD


@pytest.mark.parametrize(("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.9, True)])
def test_takes_the_same_steps_as_torch(momentum, nesterov):
    ours, theirs = (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double() for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    flat = FlatSGD(ours, momentum, nesterov, weight_decay=0.01)
    plain = torch.optim.SGD(theirs.parameters(), lr=1, momentum=momentum, nesterov=nesterov, weight_decay=0.01)
    x = torch.randn(8, 3, dtype=torch.float64)
    for lr in (0.3, 0.2, 0.1):
        flat.step([ours(x).square().sum()], [torch.ones((), dtype=torch.float64)], lr)
        plain.param_groups[0]["lr"] = lr
        plain.zero_grad()
        theirs(x).square().sum().backward()
        plain.step()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(("clip", "length"), [(0.0, 10.0), (2.0, 2.0), (50.0, 10.0)])
def test_a_long_gradient_is_shortened_to_the_limit(clip, length):
    layer = nn.Linear(2, 1, bias=False)
    sgd = FlatSGD(layer, momentum=0.0, nesterov=False, weight_decay=0.0, clip=clip)
    before = sgd.parameters.clone()
    sgd.step([layer(torch.tensor([[6.0, 8.0]]))], [torch.ones(1, 1)], lr=1.0)
    moved = before - sgd.parameters
    assert moved.norm().item() == pytest.approx(length, rel=1e-5)
    assert (moved[1] / moved[0]).item() == pytest.approx(8 / 6, rel=1e-4)


def test_the_network_sees_changes_of_the_vector():
    layer = nn.Linear(2, 1)
    FlatSGD(layer, 0.9, True, 0.0).parameters.fill_(5)
    assert (layer.weight == 5).all()
    assert (layer.bias == 5).all()
