"""PL-AGGD against dense matrices, plain projected gradients and projections found by trying every support."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bag_generators.base.errors import InputError
from elimipl.methods import METHODS, learner
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.pl_aggd import (
    KernelRidge,
    graph,
    local_gram,
    nearest,
    project_on_simplex,
    propagated,
    reconstruction_weights,
    unit_rows,
)
from tests.elimipl.methods.separable_bags import mixed_candidates


def literal_projection(v, allowed):
    """Of all distributions that are v minus a constant on some support, the nearest to v."""
    places = np.flatnonzero(allowed)
    best, least = None, np.inf
    for size in range(1, len(places) + 1):
        for support in map(list, itertools.combinations(places, size)):
            x = np.zeros(len(v))
            x[support] = v[support] - (v[support].sum() - 1) / size
            if (x >= 0).all() and ((x - v)[places] ** 2).sum() < least:
                best, least = x, ((x - v)[places] ** 2).sum()
    return best


@given(arrays(float, (3, 4), elements=st.floats(-3, 3)), arrays(bool, (3, 4)))
def test_projection_is_the_nearest_distribution(values, allowed):
    allowed[:, 0] = True
    expected = [literal_projection(row, inside) for row, inside in zip(values, allowed, strict=True)]
    np.testing.assert_allclose(project_on_simplex(values, allowed), expected, atol=1e-9)


def test_neighbours_are_the_nearest_others():
    points = np.random.default_rng(0).normal(size=(30, 3))
    for j, found in enumerate(nearest(points, 5)):
        distances = [(np.sum((points[j] - points[i]) ** 2), i) for i in range(30) if i != j]
        assert list(found) == sorted(i for _, i in sorted(distances)[:5])
    assert nearest(points[:3], 5).tolist() == [[1, 2], [0, 2], [0, 1]]
    assert nearest(points[:1], 5).shape == (1, 0)


def literal_weights(grams):
    """The distribution with the least wᵀGw, by plain projected gradients."""
    found = []
    for G in grams:
        w = np.full(len(G), 1 / len(G))
        for _ in range(20_000):
            new = literal_projection(w - G @ w / np.linalg.eigvalsh(G).max(), np.ones(len(G), bool))
            if np.abs(new - w).max() < 1e-13:
                break
            w = new
        found.append(w)
    return np.array(found)


def literal_confidences(W, S, outputs, pull):
    """min ‖(I − W)F‖² + pull·‖F − outputs‖² with the rows of F distributions on S, by plain projected gradients."""
    apart = np.eye(len(W)) - W
    Q = apart.T @ apart + pull * np.eye(len(W))
    F = S / S.sum(1, keepdims=True)
    rate = 1 / np.linalg.eigvalsh(Q).max()
    for _ in range(20_000):
        new = F - rate * (Q @ F - pull * outputs)
        new = np.array([literal_projection(row, inside) for row, inside in zip(new, S, strict=True)])
        if np.abs(new - F).max() < 1e-13:
            break
        F = new
    return F


def literal_ridge(K, F, penalty):
    """(K + γI) A + 1bᵀ = F with 1ᵀA = 0, as one linear system."""
    m = len(K)
    system = np.block([[K + penalty * np.eye(m), np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([F, np.zeros((1, F.shape[1]))]))
    return solved[:-1], solved[-1]


def dense(neighbours, weights):
    W = np.zeros((len(neighbours),) * 2)
    for j, (places, values) in enumerate(zip(neighbours, weights, strict=True)):
        W[j, places] = values
    return W


def problem(m=9, k=4, d=8, count=4, seed=1):
    rng = np.random.default_rng(seed)
    points = unit_rows(rng.normal(size=(m, d)))
    S = rng.random((m, k)) < 0.5
    S[np.arange(m), rng.integers(0, k, m)] = True
    S[0], S[1] = np.arange(k) == 2, np.arange(k) != 2
    return points, S, nearest(points, count)


def test_reconstruction_weights_are_the_best_mixture():
    points, _, neighbours = problem(12)
    grams = local_gram(points, neighbours)
    for j, places in enumerate(neighbours):
        expected = [[(points[j] - points[a]) @ (points[j] - points[b]) for b in places] for a in places]
        np.testing.assert_allclose(grams[j], expected, atol=1e-12)
    np.testing.assert_allclose(reconstruction_weights(grams), literal_weights(grams), atol=1e-6)


@pytest.mark.parametrize("pull", [0.0, 0.5, 2.0])
def test_confidences_are_the_smoothest_on_the_graph(pull):
    points, S, neighbours = problem()
    weights = reconstruction_weights(local_gram(points, neighbours))
    outputs = np.random.default_rng(3).normal(size=S.shape)
    found = propagated(graph(neighbours, weights), S, outputs, pull)
    np.testing.assert_allclose(found, literal_confidences(dense(neighbours, weights), S, outputs, pull), atol=1e-6)
    assert (found[~S] == 0).all()
    np.testing.assert_allclose(found.sum(1), 1)


def test_regression_has_a_free_bias():
    points, _, _ = problem()
    K = np.exp(-((points[:, None] - points) ** 2).sum(2))
    F = np.random.default_rng(5).random((9, 3))
    ridge = KernelRidge(torch.tensor(K), 0.05)
    coefficients, bias = ridge.solve(torch.tensor(F))
    A, b = literal_ridge(K, F, 0.05)
    np.testing.assert_allclose(coefficients, A, atol=1e-9)
    np.testing.assert_allclose(bias, b, atol=1e-9)
    np.testing.assert_allclose(ridge.outputs(coefficients, bias), K @ A + b, atol=1e-9)


def test_a_whole_training_equals_the_literal_one():
    bags = mixed_candidates().subset(np.arange(9))
    config = METHODS["PL-AGGD-Mean"].config(neighbours=3, epochs=2, feature_share=0.8, label_share=0.7, penalty=0.1)
    fitted = METHODS["PL-AGGD-Mean"].fit(bags, config, device="cpu")

    X = unit_rows(BagScaler.learn(bags, "mean")[1])
    D = np.array([[np.linalg.norm(x - z) for z in X] for x in X])
    sigma = D.sum() / (9 * 8)
    K = np.exp(-(D**2) / (2 * sigma**2))
    neighbours = np.array([sorted(np.argsort(row)[1:4]) for row in D])
    S = bags.candidates
    of_features = local_gram(X, neighbours)
    F = literal_confidences(dense(neighbours, literal_weights(of_features)), S, np.zeros(S.shape), 0.0)
    A, b = literal_ridge(K, F, 0.1)
    for _ in range(2):
        W = dense(neighbours, literal_weights(0.8 * of_features + 0.7 * local_gram(F, neighbours)))
        F = literal_confidences(W, S, K @ A + b, 1 / 0.7)
        A, b = literal_ridge(K, F, 0.1)
    np.testing.assert_allclose(fitted.confidences, F, atol=1e-6)
    np.testing.assert_allclose(fitted.coefficients, A, atol=1e-5)
    expected = [literal_projection(row, np.ones(4, bool)) for row in K @ A + b]
    np.testing.assert_allclose(fitted.predict(bags).probabilities, expected, atol=1e-5)


def test_too_many_bags_for_the_memory_get_a_sentence(monkeypatch):
    monkeypatch.setattr(learner, "usable_bytes", lambda: 1000)
    with pytest.raises(InputError, match=r"PL-AGGD on 24 bags needs .* GB of memory, but only"):
        METHODS["PL-AGGD-Mean"].fit(mixed_candidates(), METHODS["PL-AGGD-Mean"].config(), device="cpu")
