"""Equations 5–9 against their literal loops, their gradients against differentiation, and the hard corners."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elimipl.config import Config
from elimipl.disambiguation import initial_weights, updated_weights
from elimipl.losses import (
    attention_entropy,
    candidate_distribution,
    cli_loss,
    entropy_sparsity,
    inhibition_loss,
    l1_sparsity,
    mapping_loss,
)
from elimipl.network import BagOutputs
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
    p, S = as_lists(energies, candidates)
    assert mapping_loss(energies, weights)[0].item() == pytest.approx(
        literal.mapping_loss(p, weights.tolist(), S), abs=1e-9
    )
    assert l1_sparsity(energies, candidates)[0].item() == pytest.approx(literal.l1_sparsity(p, S), abs=1e-9)
    assert entropy_sparsity(energies, candidates)[0].item() == pytest.approx(literal.entropy_sparsity(p, S), abs=1e-9)
    assert inhibition_loss(energies, candidates)[0].item() == pytest.approx(literal.inhibition_loss(p, S), abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_weights_move_as_in_equation_6(rho):
    energies, candidates, weights = random_bags(seed=4)
    p, S = as_lists(energies, candidates)
    moved = updated_weights(weights, energies, candidates, rho)
    np.testing.assert_allclose(moved, literal.updated_weights(weights.tolist(), p, S, rho), atol=1e-12)


def test_weights_start_uniform_on_the_candidates():
    _, candidates, _ = random_bags()
    weights = initial_weights(candidates)
    np.testing.assert_allclose(weights.sum(1), 1)
    assert weights[0].tolist() == [0, 0, 1, 0, 0]
    assert weights[1].tolist() == [0.25, 0.25, 0, 0.25, 0.25]


def test_demipl_attention_entropy_equals_its_literal_loop():
    bags = [[0.5, -2.0, 3.0], [1.0], [-1.0, 0.0]]
    scores = torch.tensor([score for bag in bags for score in bag], dtype=torch.float64)
    assert attention_entropy(scores, 3)[0].item() == pytest.approx(literal.attention_entropy(bags), abs=1e-12)


LOSSES = {
    "mapping": lambda e, _, w: mapping_loss(e, w),
    "l1": lambda e, s, _: l1_sparsity(e, s),
    "entropy": lambda e, s, _: entropy_sparsity(e, s),
    "inhibition": lambda e, s, _: inhibition_loss(e, s),
    "attention": lambda e, _, w: attention_entropy(e[:, 0], 9),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_the_derivatives_of_the_values(name):
    energies, candidates, weights = random_bags(seed=7)
    energies.requires_grad_()
    value, gradient = LOSSES[name](energies, candidates, weights)
    (expected,) = torch.autograd.grad(value, energies)
    found = gradient if name != "attention" else torch.cat([gradient[:, None], torch.zeros(9, 4)], 1)
    np.testing.assert_allclose(found.detach(), expected, atol=1e-12)


@pytest.mark.parametrize("sparsity", ["l1", "entropy", "none"])
def test_total_is_equation_9(sparsity):
    energies, candidates, weights = random_bags(seed=3)
    scores = torch.linspace(-2, 2, 20, dtype=torch.float64)
    config = Config(sparsity=sparsity, mu=0.7, gamma=1.3, attention_entropy=0.2)
    losses, gradients = cli_loss(BagOutputs(energies, energies, scores, scores), candidates, weights, config)
    p, S = as_lists(energies, candidates)
    expected = {"l1": literal.l1_sparsity, "entropy": literal.entropy_sparsity, "none": lambda *_: 0.0}[sparsity](p, S)
    assert losses.sparsity.item() == pytest.approx(expected, abs=1e-9)
    total = losses.mapping + 0.7 * expected + 1.3 * losses.inhibition + 0.2 * losses.attention
    assert losses.total.item() == pytest.approx(total.item(), abs=1e-12)
    by_energies = mapping_loss(energies, weights)[1] + 1.3 * inhibition_loss(energies, candidates)[1]
    if sparsity != "none":
        by_energies += 0.7 * LOSSES[sparsity](energies, candidates, weights)[1]
    np.testing.assert_allclose(gradients.energies, by_energies, atol=1e-12)
    np.testing.assert_allclose(gradients.scores, 0.2 * attention_entropy(scores, 9)[1], atol=1e-12)


def test_parts_that_weigh_nothing_are_left_out():
    energies, candidates, weights = random_bags()
    losses, gradients = cli_loss(
        BagOutputs(energies, energies, energies, energies), candidates, weights, Config(mu=0.0, gamma=0.0)
    )
    assert losses.sparsity == losses.inhibition == losses.attention == 0
    assert losses.total == losses.mapping
    assert gradients.scores is None


def test_l1_pulls_no_candidate_away_from_another():
    """Moving probability from one candidate to another leaves the ℓ1 loss as it is, but not the entropy."""
    candidates = torch.tensor([[True, True, False]])
    even = torch.tensor([[0.4, 0.4, 0.2]], dtype=torch.float64).log()
    sharp = torch.tensor([[0.7, 0.1, 0.2]], dtype=torch.float64).log()
    assert l1_sparsity(even, candidates)[0].item() == pytest.approx(l1_sparsity(sharp, candidates)[0].item())
    assert entropy_sparsity(sharp, candidates)[0] < entropy_sparsity(even, candidates)[0] - 0.2


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
    weights = updated_weights(initial_weights(candidates, dtype), energies, candidates, 0.4)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
    assert (weights[~candidates] == 0).all()
    assert (weights >= 0).all()
    for loss in LOSSES.values():
        value, gradient = loss(energies, candidates, weights)
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()


def test_a_sure_but_wrong_prediction_is_still_pushed_back():
    """Where p of a non-candidate rounds to one, the loss keeps growing and its gradient stays."""
    candidates = torch.tensor([[True, False, False]])
    near, far = torch.tensor([[0.0, 50.0, 0.0]]), torch.tensor([[0.0, 500.0, 0.0]])
    assert inhibition_loss(far, candidates)[0] > inhibition_loss(near, candidates)[0] + 400
    assert inhibition_loss(far, candidates)[1][0, 1] == pytest.approx(1.0)
    assert inhibition_loss(far, candidates)[1][0, 0] == pytest.approx(-0.5)


def test_candidate_distribution_ignores_the_other_classes():
    energies = torch.tensor([[1.0, 2.0, 1e4, -1e4]], dtype=torch.float64)
    candidates = torch.tensor([[True, True, False, False]])
    q = candidate_distribution(energies, candidates)
    np.testing.assert_allclose(q[0, :2], literal.softmax([1.0, 2.0]), atol=1e-15)
    assert q[0, 2:].tolist() == [0, 0]
