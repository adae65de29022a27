"""PRODEN, RC and LWS against their literal loops."""

import numpy as np
import pytest
import torch

from elimipl.methods import METHODS
from elimipl.methods.bag_features import FEATURES, BagScaler
from elimipl.methods.partial_label import LwsConfig, ProdenConfig, backbone
from tests.elimipl.methods import literal
from tests.elimipl.methods.separable_bags import mixed_candidates, separable_bags


def random_outputs(seed=0, m=7, k=5):
    rng = np.random.default_rng(seed)
    candidates = rng.random((m, k)) < 0.5
    candidates[np.arange(m), rng.integers(0, k, m)] = True
    candidates[0], candidates[1] = np.arange(k) == 1, np.arange(k) != 1
    return torch.tensor(rng.normal(0, 2, (m, k))), torch.tensor(candidates)


def as_sets(candidates):
    return [{c for c, inside in enumerate(row) if inside} for row in candidates.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_losses_and_weights_equal_their_literal_loops(seed):
    logits, candidates = random_outputs(seed)
    S, g = as_sets(candidates), logits.tolist()
    cross_entropy, leveraged = ProdenConfig(), LwsConfig(beta=2.0)
    w = [literal.on_candidates(row, s) for row, s in zip(torch.randn(7, 5).tolist(), S, strict=True)]
    expected = np.mean([literal.cross_entropy(*row) for row in zip(g, w, S, strict=True)])
    assert cross_entropy.loss(logits, candidates, torch.tensor(w).double()).item() == pytest.approx(expected, abs=1e-6)
    w = [literal.on_both_sides(row, s) for row, s in zip(torch.randn(7, 5).tolist(), S, strict=True)]
    expected = np.mean([literal.leveraged(*row, 2.0) for row in zip(g, w, S, strict=True)])
    assert leveraged.loss(logits, candidates, torch.tensor(w).double()).item() == pytest.approx(expected, abs=1e-6)
    for criterion, moved in ((cross_entropy, literal.on_candidates), (leveraged, literal.on_both_sides)):
        expected = [moved(*row) for row in zip(g, S, strict=True)]
        np.testing.assert_allclose(criterion.moved_weights(logits, candidates), expected, atol=1e-12)


LITERAL = {
    "PRODEN-Mean": {
        "slope": literal.cross_entropy_slope,
        "moved": literal.on_candidates,
        "after_step": False,
        "optimizer": lambda config: literal.Momentum(config.momentum, config.weight_decay),
    },
    "RC-MaxMin": {
        "slope": literal.cross_entropy_slope,
        "moved": literal.on_candidates,
        "after_step": True,
        "optimizer": lambda config: literal.Adam(config.weight_decay),
    },
    "LWS-Mean": {
        "slope": lambda g, w, S: literal.leveraged_slope(g, w, S, 2.0),
        "moved": literal.on_both_sides,
        "after_step": True,
        "optimizer": lambda config: literal.Momentum(config.momentum, config.weight_decay),
    },
}


def rows(network):
    """d rows of k weights, then a row of k biases."""
    return torch.cat([network[0].weight.detach().T, network[0].bias.detach()[None]])


@pytest.mark.parametrize("name", LITERAL)
def test_a_whole_training_equals_its_literal_loops(name):
    bags = mixed_candidates().subset(np.arange(7))
    own = {"beta": 2.0, "halve_every": 2} if name.startswith("LWS") else {}
    config = METHODS[name].config(epochs=4, batch=3, lr=0.1, weight_decay=0.01, dtype="float64", seed=3, **own)
    fitted = METHODS[name].fit(bags, config, device="cpu")

    _, X = BagScaler.learn(bags, config.features)
    draws = torch.Generator().manual_seed(3)
    start = rows(backbone([X.shape[1], 4], draws))
    theta = start.tolist()
    S = as_sets(bags.candidates)
    parts = dict(LITERAL[name])
    w = [parts["moved"]([0.0] * 4, s) for s in S]
    epochs = []
    for epoch in range(1, 5):
        order = torch.randperm(7, generator=draws).tolist()
        lr = 0.1 / 2 ** ((epoch - 1) // 2) if own else 0.1
        epochs.append((lr, [order[:2], order[2:4], order[4:]]))
    literal.train(theta, X.tolist(), S, w, epochs, **{**parts, "optimizer": parts["optimizer"](config)})
    np.testing.assert_allclose(rows(fitted.backbone), theta, atol=1e-7)
    np.testing.assert_allclose(fitted.weights, w, atol=1e-7)
    assert (np.abs(np.array(theta) - start.numpy()) > 1e-3).any()


def test_the_hidden_width_is_a_setting_and_lws_halves_its_learning_rate():
    config = METHODS["LWS-MLP-Mean"].config(hidden=5, epochs=7, lr=0.4, halve_every=3)
    fitted = METHODS["LWS-MLP-Mean"].fit(separable_bags(8), config, device="cpu")
    assert sum(one.numel() for one in fitted.backbone.parameters()) == 7 * 5 + 6 * 4
    assert [report.lr for report in fitted.history] == [0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.1]


def test_bag_features_equal_loops_over_the_bags_with_the_statistics_of_the_training_bags():
    train, test = separable_bags(40), separable_bags(8, seed=2)
    each = [np.asarray(train.bag(i), np.float64) for i in range(len(train))]
    np.testing.assert_allclose(FEATURES["mean"](train), [bag.mean(0) for bag in each], atol=1e-6)
    raw = np.array([np.concatenate([bag.max(0), bag.min(0)]) for bag in each])
    np.testing.assert_array_equal(FEATURES["maxmin"](train), raw)
    scaler, features = BagScaler.learn(train, "maxmin")
    np.testing.assert_allclose(features, (raw - raw.mean(0)) / raw.std(0))
    np.testing.assert_allclose(scaler.transform(test), (FEATURES["maxmin"](test) - raw.mean(0)) / raw.std(0))
