"""AGOPMIPL against literal loops: prototypes, M^½, attention, loss, weights, one step and prediction."""

import math

import numpy as np
import pytest
import torch

from elimipl.methods import METHODS
from elimipl.methods.agopmipl import AgopRun, class_centres
from tests.elimipl import literal
from tests.elimipl.toy_bags import toy_bags

TINY = {"middle": 4, "hidden": 3, "dropout": 0.0, "prototypes": 2, "batch": 5, "dtype": "float64", "lr": 0.1}


def literal_network(P, bag, centres, root, combine):
    """Logits and attention of one bag."""

    def embed(x):
        first = [max(0.0, v) for v in literal.linear(P["first.weight"], P["first.bias"], x)]
        return [max(0.0, v) for v in literal.linear(P["embed.weight"], P["embed.bias"], first)]

    def mapped(h):
        return [sum(root[v][u] * h[v] for v in range(len(h))) for u in range(len(h))]

    def score(h, prototypes):
        v = literal.linear(P["gate_v.weight"], P["gate_v.bias"], h)
        u = [literal.linear(P["gate_u.weight"], P["gate_u.bias"], e)[0] for e in prototypes]
        gated = [literal.sigmoid(a) * literal.sigmoid(b) for a, b in zip(v, u, strict=True)]
        inner = [max(0.0, one) for one in literal.linear(P["score.0.weight"], P["score.0.bias"], gated)]
        return literal.linear(P["score.2.weight"], P["score.2.bias"], inner)[0]

    prototypes = []
    for of_class in centres:
        E = [embed(x) for x in of_class]
        if combine == "average":
            prototypes.append([sum(e[u] for e in E) / len(E) for u in range(3)])
        else:
            weight, (bias,) = P["combined.weight"][0], P["combined.bias"]
            prototypes.append([sum(w * e[u] for w, e in zip(weight, E, strict=True)) + bias for u in range(3)])
    H = [embed(x) for x in bag]
    turned = [mapped(e) for e in prototypes]
    scores = [score(mapped(h), turned) + score(h, prototypes) for h in H]
    a = literal.softmax([s / math.sqrt(3) for s in scores])
    z = [sum(a_j * h[u] for a_j, h in zip(a, H, strict=True)) for u in range(3)]
    return literal.linear(P["classifier.weight"], P["classifier.bias"], z), a


def literal_outputs(run_or_fitted, data, flat=None):
    network, scaler = run_or_fitted.network, run_or_fitted.scaler
    shapes = {name: value.shape for name, value in network.named_parameters()}
    if flat is None:
        flat = torch.cat([value.detach().flatten() for value in network.parameters()]).numpy()
    parts = torch.tensor(flat).split([shape.numel() for shape in shapes.values()])
    P = {name: part.view(shape).tolist() for (name, shape), part in zip(shapes.items(), parts, strict=True)}
    fixed = network.centres.tolist(), network.root.tolist(), network.config.combine
    found = [literal_network(P, scaler.transform(data.bag(i)).tolist(), *fixed) for i in range(len(data))]
    return [literal.softmax(logits) for logits, _ in found], [a for _, a in found]


def literal_loss(p, w, S):
    return literal.mapping_loss(p, w, S) + 0.1 * literal.entropy_sparsity(p, S) + 0.5 * literal.inhibition_loss(p, S)


@pytest.mark.parametrize("combine", ["average", "linear"])
def test_a_step_in_the_second_round_equals_the_loops(combine, monkeypatch):
    monkeypatch.setattr("elimipl.methods.agopmipl.SCORE_WIDTH", 3)
    data = toy_bags(m=5, k=3, d=2)
    config = METHODS["AGOPMIPL"].config(**TINY, combine=combine, epochs=8, rounds=2, momentum=0.0)
    run = AgopRun(data, config)
    run.epoch(1)
    run.network.look_along()
    W = run.network.classifier.weight.detach().numpy()
    values, vectors = np.linalg.eigh(W.T @ W)
    root = run.network.root.numpy()
    np.testing.assert_allclose(root @ root, vectors @ np.diag(np.maximum(values, 1e-6)) @ vectors.T, atol=1e-12)
    S = [set(np.flatnonzero(row).tolist()) for row in data.candidates]
    p, _ = literal_outputs(run, data)
    w = run.weights.tolist()
    flat = torch.cat([value.detach().flatten() for value in run.network.parameters()]).numpy()
    gradient = np.empty_like(flat)
    for u in range(len(flat)):
        step = np.zeros_like(flat)
        step[u] = 1e-6
        up, down = (literal_loss(literal_outputs(run, data, flat + sign * step)[0], w, S) for sign in (1, -1))
        gradient[u] = (up - down) / 2e-6
    report = run.epoch(6)  # the second epoch of the second round
    assert report.losses["total"] == pytest.approx(literal_loss(p, w, S), rel=1e-9)
    lr = 0.1 * (1 + math.cos(math.pi / 4)) / 2
    moved = torch.cat([value.detach().flatten() for value in run.network.parameters()])
    np.testing.assert_allclose(moved, flat - lr * (gradient + 1e-4 * flat), atol=1e-7)
    np.testing.assert_allclose(run.weights, literal.updated_weights(w, p, S, (4 - 2) / (4 - 0.8)), atol=1e-9)


def test_prediction_equals_the_loops():
    data = toy_bags(m=6, k=3, d=2)
    fitted = METHODS["AGOPMIPL"].fit(data, METHODS["AGOPMIPL"].config(**TINY, epochs=4, rounds=2), device="cpu")
    p, attention = literal_outputs(fitted, data)
    found = fitted.predict(data)
    np.testing.assert_allclose(found.probabilities, p, atol=1e-9)
    np.testing.assert_allclose(found.attention, np.concatenate(attention), atol=1e-9)


def test_a_round_keeps_w_at_first_and_starts_from_the_last_one_s():
    config = METHODS["AGOPMIPL"].config(epochs=300, rounds=3)
    assert [config.rho(step) for step in (1, 20, 60, 100)] == [1, 1, pytest.approx(0.5), 0]
    assert [config.learning_rate(step) for step in (1, 10, 11)] == [pytest.approx(0.0005), 0.005, 0.005]
    data = toy_bags(m=10)
    run = AgopRun(data, METHODS["AGOPMIPL"].config(**TINY, epochs=4, rounds=2))
    for epoch in (1, 2):
        run.epoch(epoch)
    w = run.weights.clone()
    assert not torch.equal(w, torch.tensor(data.candidates / data.candidates.sum(1, keepdims=True)))
    first, optimizer = run.network.root.clone(), run.optimizer
    torch.testing.assert_close(first, torch.eye(3, dtype=torch.float64))
    run.epoch(3)
    assert not torch.equal(run.network.root, first)
    assert run.optimizer is not optimizer


def test_prototypes_come_from_the_bags_that_may_have_the_class():
    data = toy_bags(m=20, k=3, d=2)
    centres = class_centres(data.instances, data, 4, seed=0)
    assert centres.shape == (3, 4, 2)
    one = data.subset(np.array([0]))
    assert class_centres(one.instances, one, 50, seed=0).shape == (3, 50, 2)  # too few are repeated
    own = data.with_candidates(np.eye(3, dtype=bool)[data.labels])
    bag_of = np.repeat(np.arange(20), data.sizes)
    for label, found in enumerate(class_centres(data.instances, own, 1, seed=0)):
        members = data.instances[data.labels[bag_of] == label]
        np.testing.assert_allclose(found[0], members.mean(0), atol=1e-5)
