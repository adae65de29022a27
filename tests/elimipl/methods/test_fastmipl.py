"""FastMIPL against literal loops: scores, attention, loss, weights, one step, prediction; and its published way."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from elimipl.methods import METHODS
from elimipl.methods.fastmipl import FastMiplRun, bag_scores
from tests.elimipl import literal
from tests.elimipl.methods.literal import central_differences
from tests.elimipl.methods.separable_bags import separable_bags
from tests.elimipl.toy_bags import toy_bags

TINY = {"hidden": 4, "width": 3, "samples": 2, "epochs": 3, "dropout": 0.0, "dtype": "float64"}


def literal_scores(bags, theta):
    """u_c of every bag and b_c for one sample theta[c] = [β_c, γ_c], and the attention of every class."""
    k, d = len(theta), len(theta[0]) // 2
    b = [math.sqrt(sum(v * v for v in theta[c][:d]) / d) for c in range(k)]
    u, attention = [], []
    for bag in bags:
        a = [literal.softmax([sum(x * g for x, g in zip(h, theta[c][d:], strict=True)) for h in bag]) for c in range(k)]
        read = [[sum(x * v / b[c] for x, v in zip(h, theta[c][:d], strict=True)) for h in bag] for c in range(k)]
        u.append([sum(p * q for p, q in zip(a[c], read[c], strict=True)) for c in range(k)])
        attention.append(a)
    return u, b, attention


def literal_standardised(u, b):
    means = [sum(row[c] for row in u) / len(u) for c in range(len(b))]
    variances = [sum((row[c] - means[c]) ** 2 for row in u) / len(u) for c in range(len(b))]
    return [[b[c] * (row[c] - means[c]) / math.sqrt(variances[c] + 1e-12) for c in range(len(b))] for row in u]


def literal_divergence(model):
    """Σ_c KL of two Gaussians, by the textbook."""
    total = 0.0
    for mean, factor, log_sigma in zip(model.mean, model.factor, model.log_sigma, strict=True):
        size = len(mean)
        covariance = factor.detach().numpy() @ factor.detach().numpy().T + 1e-4 * np.eye(size)
        prior = math.exp(2 * log_sigma.item()) * np.eye(size)
        inverse = np.linalg.inv(prior)
        spread = np.trace(inverse @ covariance) + mean.detach().numpy() @ inverse @ mean.detach().numpy() - size
        total += 0.5 * (spread + np.linalg.slogdet(prior)[1] - np.linalg.slogdet(covariance)[1])
    return total


def run_of(data, **changes):
    return FastMiplRun(data, METHODS["FastMIPL"].config(**{**TINY, **changes}))


def literal_objective(run, data, noise):
    """The loss at the parameters that the model has now, for fixed noise of the draws."""
    P = {name: value.detach().numpy() for name, value in run.model.named_parameters()}
    wide, narrow = noise
    bags = []
    for i in range(len(data)):
        H = run.scaler.transform(data.bag(i)).tolist()
        for layer in ("first", "second"):
            W, c = P[f"{layer}.weight"].tolist(), P[f"{layer}.bias"].tolist()
            H = [[max(0.0, v) for v in literal.linear(W, c, x)] for x in H]
        bags.append(H)
    total, m, k = 0.0, len(data), data.n_classes
    w = data.candidates / data.candidates.sum(1, keepdims=True)
    for s in range(len(wide)):
        theta = [P["mean"][c] + P["factor"][c] @ wide[s][c] + 0.01 * narrow[s][c] for c in range(k)]
        u, b, _ = literal_scores(bags, [row.tolist() for row in theta])
        u = literal_standardised(u, b)
        total -= sum(w[i][c] * (P["fixed"][c] + u[i][c]) for i in range(m) for c in range(k)) / m
    return total + literal_divergence(run.model) / m


def test_a_step_moves_every_parameter_by_the_slope_of_the_loss():
    data = toy_bags(m=6, k=3, d=2)
    run = run_of(data)
    draws = torch.Generator().manual_seed(0)
    draws.set_state(run.draws.get_state())
    noise = [torch.randn((2, *run.model.mean.shape), generator=draws).double().numpy() for _ in range(2)]
    slopes, before = {}, {name: value.detach().clone() for name, value in run.model.named_parameters()}
    with torch.no_grad():
        for name, value in run.model.named_parameters():
            slopes[name] = central_differences(value, lambda: literal_objective(run, data, noise))
    run.epoch(1)
    for name, value in run.model.named_parameters():
        np.testing.assert_allclose(value.grad, slopes[name], atol=1e-7, err_msg=name)
        first = value.grad / (value.grad.abs() + 1e-8)  # Adam
        np.testing.assert_allclose(value.detach(), before[name] - 0.001 * first, atol=1e-12, err_msg=name)


def bags_of(run, data):
    h = run.model.embed(run.x, None).detach()
    return [h[start:end].tolist() for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def test_scores_attention_loss_and_weights_equal_the_loops():
    data = toy_bags(m=6, k=3, d=2)
    run = run_of(data)
    bags = bags_of(run, data)
    draws = torch.Generator().manual_seed(0)
    draws.set_state(run.draws.get_state())
    drawn = run.model.draw(2, draws).detach()
    u, b, attention = bag_scores(run.model.embed(run.x, None), drawn, run.bag_of, 6)
    expected = []
    for s in range(2):
        one, rms, seen = literal_scores(bags, drawn[s].tolist())
        np.testing.assert_allclose(u[:, s].detach(), one, atol=1e-12)
        np.testing.assert_allclose(b[s], rms, atol=1e-12)
        np.testing.assert_allclose(attention[:, s].detach(), np.concatenate([np.array(a).T for a in seen]), atol=1e-12)
        expected.append(literal_standardised(one, rms))
    w = run.weights.clone()
    loss = -sum(w[i, c].item() * expected[s][i][c] for s in range(2) for i in range(6) for c in range(3)) / 6
    loss += literal_divergence(run.model) / 6
    report = run.epoch(3)
    assert report.losses["total"] == pytest.approx(loss, rel=1e-9)
    p = [[np.mean([literal.softmax(expected[s][i])[c] for s in range(2)]) for c in range(3)] for i in range(6)]
    np.testing.assert_allclose(run.weights, w.numpy() / 3 + 2 / 3 * np.array(p) * data.candidates, atol=1e-9)  # ρ = 1/3
    assert (run.weights.sum(1) < 1).any()  # not renormalised


def test_the_start_is_a_regression_on_the_features_that_are_trained():
    data = toy_bags(m=30)
    run = run_of(data)
    pooled = np.array([np.mean(bag, axis=0) for bag in bags_of(run, data)])
    pooled = (pooled - pooled.mean(0)) / np.sqrt(pooled.var(0) + 1e-12)
    w = data.candidates / data.candidates.sum(1, keepdims=True)
    beta, bias = np.zeros((4, 3)), np.zeros(4)
    for _ in range(1000):
        p = np.array([literal.softmax(row) for row in (pooled @ beta.T + bias).tolist()])
        beta, bias = beta - 0.1 * (p - w).T @ pooled / 30, bias - 0.1 * (p - w).mean(0)
    np.testing.assert_allclose(run.model.mean[:, :3].detach(), beta, atol=1e-9)
    assert not run.model.mean[:, 3:].detach().any()
    spread = np.diag(run.model.factor[0].detach()) ** 2
    np.testing.assert_allclose(spread, [0.1 * (beta**2).mean()] * 3 + [0.1] * 3, rtol=1e-9)


def test_prediction_is_softmax_of_u_with_the_training_bags_statistics():
    data, test = toy_bags(m=12, k=3, d=2), toy_bags(m=5, k=3, d=2, seed=3)
    fitted = METHODS["FastMIPL"].fit(data, METHODS["FastMIPL"].config(**{**TINY, "dropout": 0.5}), device="cpu")
    scaled = torch.from_numpy(fitted.scaler.transform(np.concatenate([data.instances, test.instances])))
    h = fitted.model.embed(scaled, None).tolist()
    ends = np.cumsum([*data.sizes, *test.sizes])
    bags = [h[end - size : end] for end, size in zip(ends, [*data.sizes, *test.sizes], strict=True)]
    u, b, _ = literal_scores(bags, fitted.model.mean.tolist())
    known, new = np.array(u[:12]), np.array(u[12:])
    energies = np.array(b) * (new - known.mean(0)) / np.sqrt(known.var(0) + 1e-12)
    expected = [literal.softmax(row) for row in energies.tolist()]
    found = fitted.predict(test)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)
    np.testing.assert_allclose(np.add.reduceat(found.attention, test.offsets[:-1]), 1, atol=1e-9)
    alone = fitted.predict(test.subset(np.array([2]))).probabilities[0]
    np.testing.assert_allclose(alone, expected[2], atol=1e-9)


def test_the_published_way_knows_nothing_of_a_bag_alone_and_drops_at_prediction():
    data = separable_bags(40)
    config = METHODS["FastMIPL-published"].config(hidden=16, width=8, epochs=20, samples=4, lr=0.01)
    assert config.published
    fitted = METHODS["FastMIPL-published"].fit(data, config, device="cpu")
    alone = fitted.predict(data.subset(np.array([0]))).probabilities
    np.testing.assert_allclose(alone, 0.25, atol=1e-6)
    whole = replace(fitted, config=config.replace(published=False))
    assert not np.allclose(whole.predict(data).probabilities, fitted.predict(data).probabilities)
