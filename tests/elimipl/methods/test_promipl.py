"""ProMIPL against literal loops: attention, the two nets, loss, weights, one step and prediction."""

import math

import numpy as np
import pytest
import torch

from elimipl.methods import METHODS, promipl
from elimipl.methods.promipl import _EDGE, Nets, ProMiplRun, _logistic, promipl_loss
from tests.elimipl import literal
from tests.elimipl.methods.literal import central_differences
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


def literal_bags(run, data, epoch, deviations=None):
    """p, attention and z of every bag; with `deviations` the attention divides by these, whatever the scores."""
    P = {name: value.tolist() for name, value in run.network.network.named_parameters()}
    found = []
    for i in range(len(data)):
        H = [literal.embed(P, x) for x in run.scaler.transform(data.bag(i)).tolist()]
        scores = [literal.score(P, h) for h in H]
        tau = max(0.3, 0.6 - 0.2 * epoch)
        if deviations is None:
            a = literal.attention(scores, "softmax_standardised", 3, tau)
        else:
            mean = sum(scores) / len(scores)
            a = literal.softmax([(s - mean) / (deviations[i] + 1e-8) / 3**0.5 / tau for s in scores])
        z = [sum(a_j * h[u] for a_j, h in zip(a, H, strict=True)) for u in range(3)]
        logits = literal.linear(P["classifier.weight"], P["classifier.bias"], z)
        found.append((literal.probabilities(logits, "softmax_of_sigmoid"), a, z))
    return found


def literal_loss(p, q, made, w, taught=None):
    """Mean over the bags; p learns from the labels `taught`, which are q."""
    total = 0.0
    for p_i, q_i, made_i, w_i, taught_i in zip(p, q, made, w, taught or q, strict=True):
        total -= sum(v * math.log(c) for v, c in zip(taught_i, p_i, strict=True))
        total -= 0.5 * -sum(v * math.log(max(v, _EDGE)) for v in q_i)
        total -= 1.5 * sum(v * math.log(c) for v, c in zip(w_i, literal.softmax(made_i), strict=True))
    return total / len(p)


def test_an_epoch_of_one_step_equals_the_loops(monkeypatch):
    """The step is checked at every parameter, so the nets are narrow."""
    perceptron = promipl._perceptron
    narrow = lambda widths, *more: perceptron((widths[0], *[2] * (len(widths) - 2), widths[-1]), *more)  # noqa: E731
    monkeypatch.setattr(promipl, "_perceptron", narrow)
    monkeypatch.setattr("elimipl.model.network.SCORE_WIDTH", 3)
    data = toy_bags(m=5, k=3, d=2)
    run = ProMiplRun(data, METHODS["ProMIPL"].config(**TINY, **WEIGHTS))
    seen = literal_bags(run, data, epoch=2)
    p, w = [one for one, _, _ in seen], run.weights.clone()
    draws = torch.Generator().manual_seed(0)
    draws.set_state(run.draws.get_state())
    order = torch.randperm(5, generator=draws)
    noise = torch.empty(5, 3, dtype=torch.float64)
    noise[order] = _logistic(w[order], draws)

    def guesses(bags):
        each = [
            literal_guess(run.network, z, w_i, n)
            for (_, _, z), w_i, n in zip(bags, w.tolist(), noise.tolist(), strict=True)
        ]
        return [q for q, _ in each], [made for _, made in each]

    q, made = guesses(seen)
    x = torch.from_numpy(run.scaler.transform(data.instances))
    with torch.no_grad():
        scores = run.network.network.read(x, torch.zeros(len(x), dtype=torch.int64), 1)[0].numpy()
    deviations = [np.std(one, ddof=1) if len(one) > 1 else 0.0 for one in np.split(scores, data.offsets[1:-1])]

    def loss():
        bags = literal_bags(run, data, 2, deviations)
        return literal_loss([one for one, _, _ in bags], *guesses(bags), w.tolist(), taught=q)

    before = {name: value.detach().clone() for name, value in run.network.named_parameters()}
    with torch.no_grad():
        slopes = {name: central_differences(value, loss) for name, value in run.network.named_parameters()}
    report = run.epoch(2)
    assert report.losses["total"] == pytest.approx(literal_loss(p, q, made, w.tolist()), rel=1e-9)
    lr = 0.1 * (1 + math.cos(math.pi / 4)) / 2
    for name, value in run.network.named_parameters():
        step = 1.9 * (slopes[name] + 1e-4 * before[name])  # Nesterov's first
        np.testing.assert_allclose(value.detach(), before[name] - lr * step, atol=1e-7, err_msg=name)
    rho = 3 / 4
    for i, S in enumerate(data.candidates):
        inside = [v if s else 0.0 for v, s in zip(made[i], S, strict=True)]
        moved = [rho * a + (1 - rho) * b / sum(inside) for a, b in zip(w[i].tolist(), inside, strict=True)]
        np.testing.assert_allclose(run.weights[i], moved, atol=1e-9)


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
