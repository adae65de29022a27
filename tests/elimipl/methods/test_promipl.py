"""ProMIPL against literal loops: attention, the two nets, loss, weights, one step and prediction."""

import math

import numpy as np
import pytest
import torch

from elimipl.methods import METHODS
from elimipl.methods.promipl import _EDGE, Nets, ProMiplRun, _logistic, promipl_loss
from tests.elimipl import literal
from tests.elimipl.toy_bags import toy_bags

TINY = {"hidden": 3, "dropout": 0.0, "batch": 5, "epochs": 4, "dtype": "float64", "lr": 0.1}
WEIGHTS = {"entropy": 0.5, "reconstruction": 1.5, "temperature": 0.6, "cooling": 0.2, "least_temperature": 0.3}


def literal_net(layers, x):
    """A perceptron with ReLU between its layers and a sigmoid behind."""
    for number, layer in enumerate(layers):
        x = literal.linear(layer.weight.tolist(), layer.bias.tolist(), x)
        x = [max(0.0, v) for v in x] if number < len(layers) - 1 else [literal.sigmoid(v) for v in x]
    return x


def logit(v):
    v = min(max(v, _EDGE), 1 - _EDGE)
    return math.log(v / (1 - v))


def literal_guess(nets, z, w, noise):
    inference, generator = (
        [one for one in net if isinstance(one, torch.nn.Linear)] for net in (nets.inference, nets.generator)
    )
    q = [a * b for a, b in zip(literal_net(inference, [*z, *w]), w, strict=True)]
    relaxed = [literal.sigmoid(1.5 * (logit(v) + n)) for v, n in zip(q, noise, strict=True)]
    return q, literal_net(generator, [*z, *relaxed])


def literal_bags(run, data, epoch):
    """p, attention and z of every bag."""
    P = {name: value.tolist() for name, value in run.network.network.named_parameters()}
    found = []
    for i in range(len(data)):
        H = [literal.embed(P, x) for x in run.scaler.transform(data.bag(i)).tolist()]
        scores = [literal.score(P, h) for h in H]
        tau = max(0.3, 0.6 - 0.2 * epoch)
        a = literal.attention(scores, "softmax_standardised", 3, tau)
        z = [sum(a_j * h[u] for a_j, h in zip(a, H, strict=True)) for u in range(3)]
        logits = literal.linear(P["classifier.weight"], P["classifier.bias"], z)
        found.append((literal.probabilities(logits, "softmax_of_sigmoid"), a, z))
    return found


def literal_loss(p, q, made, w):
    """Mean over the bags."""
    total = 0.0
    for p_i, q_i, made_i, w_i in zip(p, q, made, w, strict=True):
        total -= sum(v * math.log(c) for v, c in zip(q_i, p_i, strict=True))
        total -= 0.5 * -sum(v * math.log(max(v, _EDGE)) for v in q_i)
        total -= 1.5 * sum(v * math.log(c) for v, c in zip(w_i, literal.softmax(made_i), strict=True))
    return total / len(p)


def test_an_epoch_of_one_step_equals_the_loops():
    data = toy_bags(m=5, k=3, d=2)
    run = ProMiplRun(data, METHODS["ProMIPL"].config(**TINY, **WEIGHTS))
    seen = literal_bags(run, data, epoch=2)
    p, w = [one for one, _, _ in seen], run.weights.clone()
    draws = torch.Generator().manual_seed(0)
    draws.set_state(run.draws.get_state())
    order = torch.randperm(5, generator=draws)
    noise = torch.empty(5, 3, dtype=torch.float64)
    noise[order] = _logistic(w[order], draws)
    guesses = [
        literal_guess(run.network, z, w_i, n)
        for (_, _, z), w_i, n in zip(seen, w.tolist(), noise.tolist(), strict=True)
    ]
    q, made = [one for one, _ in guesses], [one for _, one in guesses]
    expected = literal_loss(p, q, made, w.tolist())

    bias = run.network.generator[-1].bias
    before, found = bias.detach().clone(), []
    for c in range(3):  # the slope by the last bias of the generator, by central differences
        values = []
        for sign in (1, -1):
            shifted = [[literal.sigmoid(logit_of(m[j]) + sign * 1e-6 * (j == c)) for j in range(3)] for m in made]
            values.append(literal_loss(p, q, shifted, w.tolist()))
        found.append((values[0] - values[1]) / 2e-6)
    report = run.epoch(2)
    assert report.losses["total"] == pytest.approx(expected, rel=1e-9)
    slope = np.array(found) + 1e-4 * before.numpy()
    lr = 0.1 * (1 + math.cos(math.pi / 4)) / 2
    np.testing.assert_allclose(bias.detach(), before.numpy() - lr * (slope + 0.9 * slope), atol=1e-7)
    rho = 3 / 4
    for i, S in enumerate(data.candidates):
        inside = [v if s else 0.0 for v, s in zip(made[i], S, strict=True)]
        moved = [rho * a + (1 - rho) * b / sum(inside) for a, b in zip(w[i].tolist(), inside, strict=True)]
        np.testing.assert_allclose(run.weights[i], moved, atol=1e-9)


def logit_of(v):
    return math.log(v / (1 - v))


def test_the_classifier_learns_from_q_but_does_not_move_it():
    config = METHODS["ProMIPL"].config(**TINY, entropy=0.0, reconstruction=0.0)
    nets = Nets(config, 2, 3)
    w = torch.full((4, 3), 1 / 3, dtype=torch.float64)
    guess = nets.guess(torch.randn(4, 3, dtype=torch.float64), w, torch.zeros_like(w))
    energies = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
    promipl_loss(energies, guess, w, config).backward()
    assert energies.grad.abs().sum() > 0
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in nets.inference.parameters())


def test_prediction_equals_the_loops_at_the_last_temperature():
    data = toy_bags(m=6, k=3, d=2)
    config = METHODS["ProMIPL"].config(**TINY, **WEIGHTS)
    fitted = METHODS["ProMIPL"].fit(data, config, device="cpu")
    run = ProMiplRun(data, config)
    run.network.network = fitted.network
    seen = literal_bags(run, data, epoch=4)
    predictions = fitted.predict(data)
    np.testing.assert_allclose(predictions.probabilities, [p for p, _, _ in seen], atol=1e-5)
    np.testing.assert_allclose(predictions.attention, np.concatenate([a for _, a, _ in seen]), atol=1e-9)
    assert (config.tau(1), config.tau(4)) == (pytest.approx(0.4), 0.3)
