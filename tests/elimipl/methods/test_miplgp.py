"""MIPLGP against loops and dense matrices."""

import math

import numpy as np
import pytest
import torch

from bag_generators.base.errors import InputError
from elimipl.methods import METHODS, learner, miplgp
from elimipl.methods.miplgp import (
    Posterior,
    Prior,
    augmented_candidates,
    backward,
    disambiguated_concentrations,
    initial_concentrations,
    log_normal_targets,
    median_distance,
)
from tests.elimipl.literal import softmax
from tests.elimipl.methods.separable_bags import mixed_candidates, separable_bags

METHOD = METHODS["MIPLGP"]


def matern(x, z, lengthscale, variance):
    """Scale(Matérn 5/2) of two points."""
    t = math.sqrt(5) * math.dist(x, z) / lengthscale
    return variance * (1 + t + t * t / 3) * math.exp(-t)


def gram(X, Z, prior):
    lengthscale, variance = prior.lengthscale.item(), prior.variance.item()
    return np.array([[matern(x, z, lengthscale, variance) for z in Z.tolist()] for x in X.tolist()])


def regression(n=14, d=3, seed=0):
    """A prior away from its defaults, inputs with a duplicate, targets and noise of three classes."""
    torch.manual_seed(seed)
    prior = Prior(3, 1.7)
    with torch.no_grad():
        prior.free_variance.fill_(1.4)
        prior.free_noise.fill_(-1.0)
        prior.means.copy_(torch.tensor([0.5, -1.0, 2.0]))
    x = torch.randn(n, d, dtype=torch.float64)
    x[1] = x[0]
    S = torch.rand(n, 3) < 0.5
    S[:, 2] = True
    targets, variances = log_normal_targets(initial_concentrations(S, 1e-4))
    return prior, x, S, targets, variances


def test_targets_equal_their_literal_loops():
    bags, epsilon = mixed_candidates(), 1e-4
    S = augmented_candidates(bags)
    bag_of = np.repeat(np.arange(len(bags)), bags.sizes)
    assert S.tolist() == [[*bags.candidates[i].tolist(), True] for i in bag_of]
    targets, variances = log_normal_targets(initial_concentrations(S, epsilon))
    means = torch.randn(5, dtype=torch.float64)
    moved, _ = log_normal_targets(disambiguated_concentrations(means, S, epsilon))
    for j, row in enumerate(S.tolist()):
        inside = [c for c in range(5) if row[c]]
        shares = dict(zip(inside, softmax([float(means[c]) for c in inside]), strict=True))
        for c in range(5):
            alpha = epsilon + (1 / len(inside) if c in inside else 0)
            assert float(variances[j, c]) == pytest.approx(math.log(1 / alpha + 1), abs=1e-9)
            assert float(targets[j, c]) == pytest.approx(math.log(alpha) - math.log(1 / alpha + 1) / 2, abs=1e-9)
            alpha = epsilon + shares.get(c, 0)
            assert float(moved[j, c]) == pytest.approx(math.log(alpha) - math.log(1 / alpha + 1) / 2, abs=1e-9)


def dense_loss(prior, x, targets, variances):
    """Mean negative log marginal likelihood by torch's own normal distribution, a kernel entry at a time."""
    t = [[(5**0.5 * math.dist(a, b)) / prior.lengthscale for b in x.tolist()] for a in x.tolist()]
    entries = [[prior.variance * (1 + v + v**2 / 3) * torch.exp(-v) for v in row] for row in t]
    K = torch.stack([torch.stack(row) for row in entries])
    total = 0.0
    for c in range(targets.shape[1]):
        noise = torch.diag(variances[:, c] + prior.noise)
        normal = torch.distributions.MultivariateNormal(prior.means[c].expand(len(x)), K + noise)
        total = total - normal.log_prob(targets[:, c])
    return total / targets.numel()


def test_a_prior_starts_where_it_should_and_its_covariance_is_the_scaled_matern_kernel():
    prior = Prior(3, 1.7)
    assert prior.lengthscale.item() == pytest.approx(1.7)
    assert prior.variance.item() == pytest.approx(math.log(2))
    assert prior.noise.item() == pytest.approx(math.log(2) + 1e-4)
    assert prior.means.tolist() == [0, 0, 0]
    assert Prior(2, 80.0).lengthscale.item() == pytest.approx(80.0)
    prior, x, _, _, _ = regression(40)  # from 26 points on, distances come from a matrix product
    np.testing.assert_allclose(prior.covariance(x, x).detach(), gram(x, x, prior), atol=1e-9)
    np.testing.assert_allclose(prior.covariance(x[:3], x).detach(), gram(x[:3], x, prior), atol=1e-9)


def test_likelihood_and_its_derivatives_are_those_of_a_normal_distribution():
    prior, x, _, targets, variances = regression()
    ours = backward(prior, x, targets, variances)
    gradients = [parameter.grad.clone() for parameter in prior.parameters()]
    prior.zero_grad()
    loss = dense_loss(prior, x, targets, variances)
    loss.backward()
    assert ours == pytest.approx(loss.item(), abs=1e-9)
    assert len(gradients) == 4
    for mine, parameter in zip(gradients, prior.parameters(), strict=True):
        np.testing.assert_allclose(mine, parameter.grad, atol=1e-9)


def test_epochs_follow_the_literal_ones():
    bags = mixed_candidates().subset(np.arange(9))
    config = METHOD.config(epochs=4, lr=0.3, kernel_instances=1000, seed=2)
    fitted = METHOD.fit(bags, config, device="cpu")
    x = torch.tensor(fitted.scaler.transform(bags.instances))
    S = augmented_candidates(bags)
    prior = Prior(5, median_distance(x))
    optimizer = torch.optim.Adam(prior.parameters(), lr=0.3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    targets, variances = log_normal_targets(initial_concentrations(S, 1e-4))
    for _ in range(4):
        optimizer.zero_grad()
        dense_loss(prior, x, targets, variances).backward()
        alpha = disambiguated_concentrations(prior.means.detach(), S, 1e-4)
        targets, _ = log_normal_targets(alpha)
        optimizer.step()
        schedule.step()
    for mine, parameter in zip(fitted.prior.parameters(), prior.parameters(), strict=True):
        np.testing.assert_allclose(mine.detach(), parameter.detach(), atol=1e-6)


def test_points_at_every_distinct_instance_are_exact_regression():
    prior, x, _, targets, variances = regression()
    new = torch.randn(6, 3, dtype=torch.float64)
    means, spread = Posterior(prior, torch.unique(x, dim=0), x, targets, variances).predict(new)
    K, across, noise = gram(x, x, prior), gram(new, x, prior), prior.noise.item()
    for c in range(3):
        A = K + np.diag(variances[:, c].numpy() + noise)
        constant = prior.means[c].item()
        expected = constant + across @ np.linalg.solve(A, targets[:, c].numpy() - constant)
        np.testing.assert_allclose(means[:, c], expected, atol=1e-6)
        expected = prior.variance.item() - np.sum(across * np.linalg.solve(A, across.T).T, axis=1)
        np.testing.assert_allclose(spread[:, c], expected, atol=1e-6)


def test_fewer_points_are_the_projected_process():
    prior, x, _, targets, variances = regression(40)
    points, new = x[2:9], torch.randn(6, 3, dtype=torch.float64)
    means, spread = Posterior(prior, points, x, targets, variances).predict(new)
    Kzz, Kxz, Ksz = gram(points, points, prior), gram(x, points, prior), gram(new, points, prior)
    for c in range(3):
        precision = 1 / (variances[:, c].numpy() + prior.noise.item())
        inner = Kzz + Kxz.T @ (precision[:, None] * Kxz)
        constant = prior.means[c].item()
        weights = np.linalg.solve(inner, Kxz.T @ (precision * (targets[:, c].numpy() - constant)))
        np.testing.assert_allclose(means[:, c], constant + Ksz @ weights, atol=1e-6)
        lost = np.sum(Ksz * np.linalg.solve(Kzz, Ksz.T).T, axis=1)
        kept = np.sum(Ksz * np.linalg.solve(inner, Ksz.T).T, axis=1)
        np.testing.assert_allclose(spread[:, c], prior.variance.item() - lost + kept, atol=1e-6)


def test_a_bag_has_the_class_of_its_single_surest_instance():
    bags = separable_bags(30)
    fitted = METHOD.fit(bags, METHOD.config(epochs=5, samples=40, seed=3), device="cpu")
    means, variances = fitted.posterior.predict(torch.tensor(fitted.scaler.transform(bags.instances)))
    draws = torch.randn(40, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64).tolist()
    of_instances = []
    for mean, variance in zip(means.tolist(), variances.tolist(), strict=True):
        shares = [softmax([mean[c] + math.sqrt(variance[c]) * draw[c] for c in range(4)]) for draw in draws]
        of_instances.append(np.mean(shares, axis=0))
    probabilities = fitted.predict(bags).probabilities
    for i in range(len(bags)):
        inside = np.array(of_instances[bags.offsets[i] : bags.offsets[i + 1]])
        np.testing.assert_allclose(probabilities[i], inside.max(0) / inside.max(0).sum(), atol=1e-6)
        assert probabilities[i].argmax() == np.unravel_index(inside.argmax(), inside.shape)[1]
    alone = fitted.predict(bags.subset([4])).probabilities
    np.testing.assert_allclose(alone[0], probabilities[4], atol=1e-12)


def test_notes_tell_which_regression_was_used_and_why():
    bags = separable_bags(30)
    quick = {"epochs": 2, "samples": 8}
    exact = METHOD.fit(bags, METHOD.config(**quick), device="cpu")
    assert exact.notes[0] == f"The Gaussian processes are exact, on {len(bags.instances)} distinct instances."
    sparse = METHOD.fit(bags, METHOD.config(exact_up_to=20, inducing=10, kernel_instances=30, **quick), device="cpu")
    assert "rest on 10 inducing points" in sparse.notes[0]
    assert "more than 20" in sparse.notes[0]
    assert sparse.notes[1] == f"The kernel was fitted on 30 of {len(bags.instances)} instances in 2 epochs."
    test = separable_bags(100, seed=7)
    config = METHOD.config(exact_up_to=0, inducing=24, epochs=20, kernel_instances=60)
    assert METHOD.fit(separable_bags(), config, device="cpu").predict(test).accuracy(test.labels) >= 0.95


def test_little_memory_means_inducing_points_and_none_a_sentence(monkeypatch):
    bags = separable_bags(30)
    config = METHOD.config(epochs=2, inducing=10, samples=8, kernel_instances=20)
    for module in (learner, miplgp):
        monkeypatch.setattr(module, "usable_bytes", lambda: 4_000_000)
    assert "too many for the free memory" in METHOD.fit(bags, config, device="cpu").notes[0]
    for module in (learner, miplgp):
        monkeypatch.setattr(module, "usable_bytes", lambda: 100_000)
    with pytest.raises(InputError, match=r"10 inducing points for 5 Gaussian processes need .* Choose fewer inducing"):
        METHOD.fit(bags, config, device="cpu")
    with pytest.raises(InputError, match=r"Fitting the kernel on 60 instances needs .* Choose fewer instances"):
        METHOD.fit(bags, config.replace(kernel_instances=60), device="cpu")


def test_a_container_s_limit_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(learner, "_CGROUP", tmp_path)
    unlimited = learner.usable_bytes()
    assert unlimited > 0
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    assert learner.usable_bytes() == 360_000
    (tmp_path / "memory.max").write_text("max\n")
    assert learner.usable_bytes() > 360_000
