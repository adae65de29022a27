"""ELIMIPL, DEMIPL and the methods since against literal loops: loss, attention, weights, steps, prediction."""

import numpy as np
import pytest
import torch

from bag_generators.base.errors import InputError
from elimipl.config import PRESETS, Config
from elimipl.methods import METHODS
from elimipl.methods.networks import SINCE
from elimipl.model.losses import MARGIN_LOSSES, cli_loss
from elimipl.model.network import build_network
from elimipl.model.scaling import fit_scaler
from elimipl.registries import OWN_LOSSES, register_loss
from elimipl.training.loop import fit
from tests.elimipl import literal
from tests.elimipl.methods import literal_margins
from tests.elimipl.toy_bags import toy_bags

TINY = {"hidden": 3, "gate_width": 2, "dropout": 0.0, "batch": 5, "lr": 0.1, "dtype": "float64", "epochs": 2}


def literal_loss(p, w, S, config, scores):
    if config.loss.startswith("cdl"):
        return literal_margins.cdl(p, w, S, config.focus, config.loss.removeprefix("cdl-"))
    if config.loss.startswith("margin"):
        margin = literal_margins.miplma if config.loss == "margin" else literal_margins.miplma_batch
        return margin(p, w, S, config.margin)
    total = literal.mapping_loss(p, w, S)
    if config.sparsity != "none":
        sparse = literal.l1_sparsity if config.sparsity == "l1" else literal.entropy_sparsity
        total += config.mu * sparse(p, S)
    total += config.gamma * literal.inhibition_loss(p, S)
    return total + config.attention_entropy * literal.attention_entropy(scores)


def tau(config, epoch):
    value = config.temperature
    for _ in range(epoch):
        value = max(config.least_temperature, 0.95 * value)
    return value


def step_by_hand(config, data, epoch_count=2):
    """Algorithm 1 with whole-set steps; gradients of the literal loss by central differences.

    Returns the flat parameters, the weights and, of the trained network, probabilities and attention of every bag.
    """
    scaled = fit_scaler(data.instances, config.scaling)
    bags = [scaled.transform(data.bag(i)).tolist() for i in range(len(data))]
    S = [set(np.flatnonzero(row).tolist()) for row in data.candidates]
    if config.labels == "true":
        S = [{int(label)} for label in data.labels]
    k = data.n_classes
    w = [[float(c in S_i) / len(S_i) for c in range(k)] for S_i in S]
    network = build_network(config, data.dim, k)
    shapes = {name: value.shape for name, value in network.named_parameters()}
    flat = torch.cat([value.detach().flatten() for value in network.parameters()]).numpy()
    velocity = np.zeros_like(flat)

    def named(vector):
        parts = torch.tensor(vector).split([shape.numel() for shape in shapes.values()])
        return {name: part.view(shape).tolist() for (name, shape), part in zip(shapes.items(), parts, strict=True)}

    def outputs(vector, epoch, deviations=None):
        P = named(vector)
        found = []
        for bag in bags:
            H = [literal.embed(P, x) for x in bag]
            scores = [literal.score(P, h) for h in H]
            found.append((H, scores))
        if config.pooling == "softmax_standardised" and deviations is not None:
            attention = [
                frozen(scores, one, tau(config, epoch)) for (_, scores), one in zip(found, deviations, strict=True)
            ]
        else:
            attention = [
                literal.attention(scores, config.pooling, config.hidden, tau(config, epoch)) for _, scores in found
            ]
        p = []
        for (H, _), a in zip(found, attention, strict=True):
            z = [sum(a_j * h[u] for a_j, h in zip(a, H, strict=True)) for u in range(config.hidden)]
            logits = literal.linear(P["classifier.weight"], P["classifier.bias"], z)
            p.append(literal.probabilities(logits, config.head))
        return p, attention, [scores for _, scores in found]

    def loss(vector, epoch, used, deviations):
        p, _, scores = outputs(vector, epoch, deviations)
        return literal_loss(p, used, S, config, scores)

    def frozen(scores, deviation, now):
        """MIPLMA's attention with a deviation that has no gradient."""
        mean = sum(scores) / len(scores)
        return literal.softmax([(s - mean) / (deviation + 1e-8) / config.hidden**0.5 / now for s in scores])

    for t in range(1, epoch_count + 1):
        p, _, scores = outputs(flat, t)
        deviations = [np.std(one, ddof=1) if len(one) > 1 else 0.0 for one in scores]
        moved = literal.updated_weights(w, p, S, literal.rho(t, config.epochs, config.schedule))
        used = moved if config.update == "before_loss" else w
        gradient = np.empty_like(flat)
        for u in range(len(flat)):
            step = np.zeros_like(flat)
            step[u] = 1e-6
            up, down = (loss(flat + sign * step, t, used, deviations) for sign in (1, -1))
            gradient[u] = (up - down) / 2e-6
        gradient += config.weight_decay * flat
        velocity = config.momentum * velocity + gradient
        lr = config.lr * (1 + np.cos(np.pi * (t - 1) / config.epochs)) / 2
        flat = flat - lr * (gradient + config.momentum * velocity if config.nesterov else velocity)
        w = moved
    p, attention, _ = outputs(flat, epoch_count)
    return flat, w, p, attention


OF_THE_PAPER = [f"{preset} {method}" for preset in PRESETS for method in ("elimipl", "demipl")]


@pytest.mark.parametrize("name", [*OF_THE_PAPER, *SINCE])
def test_two_epochs_equal_the_equations_by_hand(name, monkeypatch):
    monkeypatch.setattr("elimipl.model.network.SCORE_WIDTH", 3)
    data = toy_bags(m=5, k=3, d=2)
    if name in OF_THE_PAPER:
        preset, method = name.split()
        config = Config.preset(preset, method=method, **TINY)
    else:
        config = METHODS[name].config(**TINY, focus=2.0, margin=0.7, temperature=0.5, least_temperature=0.46)
    fitted = fit(data, config, device="cpu")
    flat, w, p, attention = step_by_hand(config, data)
    found = torch.cat([value.detach().flatten() for value in fitted.network.parameters()])
    np.testing.assert_allclose(found, flat, atol=1e-6)
    np.testing.assert_allclose(fitted.weights, w, atol=1e-6)
    predictions = fitted.predict(data)
    np.testing.assert_allclose(predictions.probabilities, p, atol=1e-5)
    np.testing.assert_allclose(predictions.attention, np.concatenate(attention), atol=1e-5)


@pytest.mark.parametrize("plain", [False, True])
def test_kept_features_equal_training_in_turns_by_hand(plain):
    """Bag by bag: ψ1 takes a step of Nesterov's in epochs 1, 5, … only; its velocity waits in between."""
    data = toy_bags(m=4, k=3, d=256)
    config = METHODS["ELIMIPL-kept"].config(**TINY | {"epochs": 6}, extractor="cnn")
    scaled = fit_scaler(data.instances, config.scaling)
    bags = [torch.tensor(scaled.transform(data.bag(i))) for i in range(len(data))]
    S = [set(np.flatnonzero(row).tolist()) for row in data.candidates]
    w = [[float(c in S_i) / len(S_i) for c in range(3)] for S_i in S]
    network = build_network(config, data.dim, 3)
    velocity = {name: torch.zeros_like(value) for name, value in network.named_parameters()}
    kept = []
    for t in range(1, 7):
        trained = t in (1, 5)
        if t in (2, 6):
            with torch.no_grad():
                kept = [network.extractor(bag) for bag in bags]
        features = [network.extractor(bag) for bag in bags] if trained else kept
        network.extracts = False
        outputs = [
            network.as_printed(x, torch.zeros(len(x), dtype=torch.int64), 1, torch.Generator()) for x in features
        ]
        network.extracts = True
        energies = torch.cat([out.energies for out in outputs])
        used = torch.tensor(w, dtype=torch.float64)
        moved = [value for name, value in network.named_parameters() if trained or not name.startswith("extractor")]
        gradients = iter(torch.autograd.grad(cli_loss(energies, torch.tensor(data.candidates), used, config), moved))
        p = energies.softmax(1).tolist()
        w = literal.updated_weights(w, p, S, literal.rho(t, 6, config.schedule))
        lr = config.lr * (1 + np.cos(np.pi * (t - 1) / 6)) / 2
        for name, value in network.named_parameters():
            if trained or not name.startswith("extractor"):
                gradient = next(gradients) + config.weight_decay * value.detach()
                velocity[name] = config.momentum * velocity[name] + gradient
                value.data -= lr * (gradient + config.momentum * velocity[name])
    fitted = fit(data, config, plain=plain, device="cpu")
    for name, value in fitted.network.named_parameters():
        np.testing.assert_allclose(value.detach(), dict(network.named_parameters())[name].detach(), atol=1e-10)
    np.testing.assert_allclose(fitted.weights, w, atol=1e-10)


def test_a_stopped_training_on_kept_features_goes_on_with_the_same_ones(tmp_path):
    data = toy_bags(m=12, d=256)
    config = METHODS["ELIMIPL-kept"].config(hidden=4, epochs=7, extractor="cnn")
    heard, path = [], tmp_path / "run.safetensors"
    fit(data, config, on_epoch=heard.append, should_stop=lambda: len(heard) == 3, checkpoint=path, device="cpu")
    resumed, whole = (fit(data, config, checkpoint=path, resume=again, device="cpu") for again in (True, False))
    for a, b in zip(resumed.network.parameters(), whole.network.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach(), b.detach())


@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_losses_equal_the_loops_whatever_the_candidates(name):
    """Candidate sets of one label and of all; equal probabilities; certainty."""
    rng = np.random.default_rng(0)
    energies = np.concatenate([3 * rng.normal(size=(5, 4)), [[0, 0, 0, 0]], [[60, 0, 0, 0]]])
    candidates = np.array(
        [[1, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0]]
    )
    w = candidates * rng.random(candidates.shape)
    w /= w.sum(1, keepdims=True)
    config = Config.preset("paper", loss=name, focus=1.5, margin=0.3)
    leaf = torch.tensor(energies, dtype=torch.float64, requires_grad=True)
    value = MARGIN_LOSSES[name](leaf, torch.tensor(candidates, dtype=torch.bool), torch.tensor(w), config)
    p = [literal.softmax(row) for row in energies.tolist()]
    S = [set(np.flatnonzero(row).tolist()) for row in candidates]
    assert value.item() == pytest.approx(literal_loss(p, w.tolist(), S, config, []), rel=1e-9)
    value.backward()
    assert bool(torch.isfinite(leaf.grad).all())


def test_names_of_losses_are_the_ones_in_the_settings():
    assert tuple(MARGIN_LOSSES) == OWN_LOSSES[1:]
    with pytest.raises(InputError, match="There is a loss 'cdl-cc' already"):
        register_loss("cdl-cc", MARGIN_LOSSES["cdl-cn"])


def test_abmil_learns_from_true_labels_and_refuses_bags_without():
    data = toy_bags(m=24)
    one_hot = data.with_candidates(np.eye(4, dtype=bool)[data.labels])
    config = METHODS["ABMIL"].config(hidden=8, epochs=2)
    assert config.preset_name == "published"
    a, b = (fit(some, config, device="cpu").predict(data).probabilities for some in (data, one_hot))
    np.testing.assert_array_equal(a, b)
    labels = data.labels.copy()
    labels[:3] = -1
    hidden = type(data)(data.instances, data.offsets, data.candidates, labels, data.label_space)
    with pytest.raises(InputError, match="ABMIL learns from true labels, but 3 of 24 bags have none"):
        fit(hidden, config, device="cpu")


def test_what_a_bag_gets_does_not_depend_on_the_bags_beside_it():
    data = toy_bags(m=12)
    fitted = fit(data, METHODS["MIPLMA"].config(hidden=8, epochs=3, dtype="float64"), device="cpu")
    together = fitted.predict(data).probabilities
    alone = [fitted.predict(data.subset(np.array([i]))).probabilities[0] for i in range(len(data))]
    np.testing.assert_allclose(together, alone, atol=1e-12)
    assert not fitted.network.is_local
