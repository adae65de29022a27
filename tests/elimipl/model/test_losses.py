"""Equations 5–9 against their literal loops, their gradients against differentiation, and the hard corners."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elimipl.config import Config
from elimipl.model.losses import (
    attention_entropy,
    attention_entropy_gradient,
    entropy_sparsity,
    inhibition_loss,
    initial_weights,
    l1_sparsity,
    loss_gradient,
    loss_values,
    mapping_loss,
    move_weights,
)
from tests.elimipl import literal


def random_bags(B=9, k=5, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    energies = torch.tensor(rng.normal(0, spread, (B, k)))
    candidates = torch.tensor(rng.random((B, k)) < 0.4)
    candidates[torch.arange(B), torch.tensor(rng.integers(0, k, B))] = True
    candidates[0] = torch.arange(k) == 2  # |S| = 1
    candidates[1] = torch.arange(k) != 2  # |S| = k − 1
    candidates[2] = True  # |S| = k
    weights = torch.tensor(rng.random((B, k))) * candidates
    return energies, candidates, weights / weights.sum(1, keepdim=True)


def as_lists(energies, candidates):
    p = [literal.softmax(row) for row in energies.tolist()]
    return p, [{c for c, inside in enumerate(row) if inside} for row in candidates.tolist()]


@pytest.mark.parametrize(("k", "seed"), [(3, 0), (5, 1), (13, 2)])
def test_every_loss_equals_its_literal_loop(k, seed):
    energies, candidates, weights = random_bags(k=k, seed=seed)
    log_p = energies.log_softmax(1)
    p, S = as_lists(energies, candidates)
    close = pytest.approx
    assert mapping_loss(log_p, weights).item() == close(literal.mapping_loss(p, weights.tolist(), S), abs=1e-9)
    assert l1_sparsity(log_p, candidates).item() == close(literal.l1_sparsity(p, S), abs=1e-9)
    assert entropy_sparsity(log_p, candidates).item() == close(literal.entropy_sparsity(p, S), abs=1e-9)
    assert inhibition_loss(log_p, candidates).item() == close(literal.inhibition_loss(p, S), abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_weights_move_as_in_equation_6(rho):
    energies, candidates, weights = random_bags(seed=4)
    p, S = as_lists(energies, candidates)
    expected = literal.updated_weights(weights.tolist(), p, S, rho)
    move_weights(weights, energies, candidates, rho)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert initial_weights(candidates)[:2].tolist() == [[0, 0, 1, 0, 0], [0.25, 0.25, 0, 0.25, 0.25]]


def test_demipl_attention_entropy_equals_its_literal_loop():
    bags = [[0.5, -2.0, 3.0], [1.0], [-1.0, 0.0]]
    scores = torch.tensor([score for bag in bags for score in bag], dtype=torch.float64, requires_grad=True)
    value = attention_entropy(scores, 3)
    assert value.item() == pytest.approx(literal.attention_entropy(bags), abs=1e-12)
    (slope,) = torch.autograd.grad(value, scores)
    torch.testing.assert_close(attention_entropy_gradient(scores.detach(), 3), slope)


CONFIGS = {
    "mapping": Config(mu=0.0, gamma=0.0),
    "l1": Config(mu=0.7, gamma=0.0, sparsity="l1"),
    "entropy": Config(mu=0.7, gamma=0.0, sparsity="entropy"),
    "inhibition": Config(mu=0.0, gamma=1.3),
    "all": Config(mu=0.7, gamma=1.3, sparsity="entropy"),
    "no sparsity": Config(mu=0.7, gamma=1.3, sparsity="none"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_total_and_gradient_are_those_of_equation_9(name):
    config = CONFIGS[name]
    energies, candidates, weights = random_bags(seed=7)
    energies.requires_grad_()
    log_p = energies.log_softmax(1)
    total = mapping_loss(log_p, weights)
    if config.sparsity != "none":
        total = total + config.mu * {"l1": l1_sparsity, "entropy": entropy_sparsity}[config.sparsity](log_p, candidates)
    total = total + config.gamma * inhibition_loss(log_p, candidates)
    values = loss_values(energies, torch.zeros(20), candidates, weights, config)
    assert values["total"] == pytest.approx(total.item(), abs=1e-12)
    (expected,) = torch.autograd.grad(total, energies)
    torch.testing.assert_close(loss_gradient(energies, candidates, weights, config), expected, atol=1e-12, rtol=0)


def test_values_name_every_part_and_leave_out_what_weighs_nothing():
    energies, candidates, weights = random_bags()
    scores = torch.linspace(-2, 2, 20, dtype=torch.float64)
    p, S = as_lists(energies, candidates)
    config = Config(mu=0.0, gamma=0.5, attention_entropy=0.2)
    values = loss_values(energies, scores, candidates, weights, config)
    assert values["sparsity"] == 0
    assert values["inhibition"] == pytest.approx(literal.inhibition_loss(p, S))
    assert values["attention"] == pytest.approx(attention_entropy(scores, 9).item())
    assert values["total"] == pytest.approx(values["mapping"] + 0.5 * values["inhibition"] + 0.2 * values["attention"])


def test_l1_pulls_no_candidate_away_from_another():
    """Moving probability from one candidate to another leaves the ℓ1 loss as it is, but not the entropy."""
    candidates = torch.tensor([[True, True, False]])
    even = torch.tensor([[0.4, 0.4, 0.2]], dtype=torch.float64).log()
    sharp = torch.tensor([[0.7, 0.1, 0.2]], dtype=torch.float64).log()
    assert l1_sparsity(even, candidates).item() == pytest.approx(l1_sparsity(sharp, candidates).item())
    assert entropy_sparsity(sharp, candidates) < entropy_sparsity(even, candidates) - 0.2


@settings(max_examples=60, deadline=None)
@given(
    scale=st.sampled_from([1.0, 1e2, 1e6]),
    size=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_nothing_breaks_for_any_set_size_and_extreme_energies(scale, size, seed, dtype):
    k = 6
    rng = np.random.default_rng(seed)
    energies = torch.tensor(rng.normal(0, scale, (4, k)), dtype=dtype)
    candidates = torch.zeros(4, k, dtype=torch.bool)
    for row in candidates:
        row[torch.tensor(rng.permutation(k)[:size])] = True
    weights = initial_weights(candidates, dtype)
    move_weights(weights, energies, candidates, 0.4)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
    assert (weights[~candidates] == 0).all()
    assert (weights >= 0).all()
    for config in CONFIGS.values():
        assert np.isfinite(loss_values(energies, energies[:, 0], candidates, weights, config)["total"])
        assert torch.isfinite(loss_gradient(energies, candidates, weights, config)).all()
    assert torch.isfinite(attention_entropy(energies[:, 0], 4))
    assert torch.isfinite(attention_entropy_gradient(energies[:, 0], 4)).all()


def test_a_sure_but_wrong_prediction_is_still_pushed_back():
    """Where p of a non-candidate rounds to one, the loss keeps growing and its gradient stays."""
    candidates = torch.tensor([[True, False, False]])
    near, far = torch.tensor([[0.0, 50.0, 0.0]]), torch.tensor([[0.0, 500.0, 0.0]])
    assert inhibition_loss(far.log_softmax(1), candidates) > inhibition_loss(near.log_softmax(1), candidates) + 400
    weights = candidates.float()
    only_mapping = loss_gradient(far, candidates, weights, CONFIGS["mapping"])
    gradient = loss_gradient(far, candidates, weights, Config(mu=0.0, gamma=1.0)) - only_mapping
    assert gradient[0].tolist() == pytest.approx([-0.5, 1.0, -0.5])
