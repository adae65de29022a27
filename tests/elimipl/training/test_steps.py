"""Training that is open to others: the plain way equals the fast one; any extractor, any loss, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from bag_generators.base.errors import InputError
from elimipl.candidates.crowd import Candidates
from elimipl.cards.finish import finish
from elimipl.config import PRESETS, Config
from elimipl.methods import METHODS
from elimipl.methods.networks import VARIANTS, variant
from elimipl.registries import LOSSES, register_loss
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags

SMALL = {"hidden": 12, "gate_width": 6, "batch": 8, "epochs": 4, "lr": 0.05, "seed": 3, "dtype": "float64"}


def state(fitted):
    return {name: value.detach().numpy() for name, value in fitted.network.state_dict().items()}


def assert_same_training(first, second, tolerance=1e-10):
    for a, b in zip(first.history, second.history, strict=True):
        assert a.losses.keys() == b.losses.keys()
        for name, value in a.losses.items():
            np.testing.assert_allclose(value, b.losses[name], rtol=tolerance, atol=tolerance, err_msg=name)
        assert (a.train_accuracy, a.disambiguation_accuracy) == (b.train_accuracy, b.disambiguation_accuracy)
    one, other = state(first), state(second)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(first.weights, second.weights, rtol=tolerance, atol=tolerance)


WAYS = {
    **{
        f"{preset} {method} {dropout}": Config.preset(preset, method=method, dropout=dropout, **SMALL)
        for preset in PRESETS
        for method in ("elimipl", "demipl")
        for dropout in (0.0, 0.3)
    },
    **{name: variant(Config.preset("paper", **SMALL), name) for name in VARIANTS},
    **{
        name: METHODS[name].config(**SMALL, dropout=0.3)
        for name in ("MIPLMA", "MIPLMA-batch", "CDL-DAM-CC", "CDL-MAM-CN")
    },
    "context": Config.preset("paper", extractor="context", **SMALL),
    "cnn": Config.preset("paper", extractor="cnn", **SMALL),
    "no momentum": Config.preset("paper", momentum=0.0, **SMALL),
    "clipped": Config.preset("paper", clip=0.2, **SMALL),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_plain_way_is_the_fast_one(way):
    config, data = WAYS[way], toy_bags(m=20, d=256 if way == "cnn" else 5)
    fast, plain = fit(data, config, device="cpu"), fit(data, config, plain=True, device="cpu")
    assert_same_training(fast, plain, 1e-4 if config.clip else 1e-10)  # torch divides by the norm plus 1e-6


def test_z_is_the_sum_of_the_embedded_instances_by_attention():
    data = toy_bags(m=10)
    fitted = fit(data, Config.preset("default", **SMALL), device="cpu")
    out = fitted.predict(data, embeddings=True)
    network, scaled = fitted.network, torch.from_numpy(fitted.scaler.transform(data.instances))
    h = torch.relu(network.embed(scaled)).detach().numpy()
    for i, (start, end) in enumerate(pairwise(data.offsets)):
        np.testing.assert_allclose(out.embeddings[i], out.attention[start:end] @ h[start:end], atol=1e-12)
    logits = network.classifier(torch.from_numpy(out.embeddings)).softmax(1).detach()
    np.testing.assert_allclose(out.probabilities, logits, atol=1e-12)
    assert fitted.predict(data).embeddings is None
    np.testing.assert_array_equal(fitted.predict(data).probabilities, out.probabilities)


class Extractor(nn.Module):
    """With everything that makes a module hard: batch statistics, dropout of its own, a frozen and a tied weight."""

    def __init__(self, d=5):
        super().__init__()
        self.first, self.second = nn.Linear(d, 7), nn.Linear(7, 7)
        self.norm, self.dropout = nn.BatchNorm1d(7), nn.Dropout(0.2)
        self.tied = self.second
        self.first.weight.requires_grad_(False)

    def forward(self, x):
        return self.dropout(self.norm(self.tied(torch.tanh(self.second(torch.tanh(self.first(x)))))))


def own_extractor():
    torch.manual_seed(7)
    return Extractor()


def test_any_extractor_is_trained_along_and_the_one_given_stays_as_it_is():
    train, test, module = toy_bags(seed=0), toy_bags(seed=1), own_extractor()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    config = Config.preset("default", hidden=24, epochs=40, batch=16, lr=0.05)
    fitted = fit(train, config, extractor=module, held_out=test, device="cpu")
    assert fitted.predict(test).accuracy(test.labels) > 0.8
    assert fitted.history[-1].held_out_accuracy == fitted.predict(test).accuracy(test.labels)
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    learned = fitted.network.extractor.state_dict()
    assert torch.equal(learned["first.weight"], before["first.weight"])  # frozen
    assert not torch.equal(learned["second.weight"], before["second.weight"])
    assert int(learned["norm.num_batches_tracked"]) == 40 * 8
    assert fitted.network.embed.in_features == 7


def test_the_same_seed_gives_the_same_model_and_the_common_generator_goes_on_from_where_it_was():
    config, data, module = Config.preset("default", **SMALL), toy_bags(m=30), own_extractor()
    torch.manual_seed(1)
    first = fit(data, config, extractor=module, device="cpu")
    after = torch.rand(3)
    torch.manual_seed(2)
    second = fit(data, config, extractor=module, device="cpu")
    assert not torch.equal(torch.rand(3), after)
    assert_same_training(first, second, 0)


def test_a_plain_run_resumes_bit_for_bit(tmp_path):
    config, data, path = Config.preset("default", **SMALL), toy_bags(m=30), tmp_path / "run.safetensors"
    whole = fit(data, config, extractor=own_extractor(), device="cpu")
    asked = []
    fit(data, config, extractor=own_extractor(), checkpoint=path, should_stop=lambda: asked.append(1) or len(asked) > 1)
    resumed = fit(data, config, extractor=own_extractor(), checkpoint=path, resume=True, device="cpu")
    assert len(asked) == 2
    assert_same_training(whole, resumed, 0)
    with pytest.raises(InputError, match="The checkpoint belongs to another network"):
        fit(data, config, extractor=nn.Linear(5, 3), checkpoint=path, resume=True, device="cpu")
    with pytest.raises(InputError, match="The checkpoint belongs to another network"):
        fit(data, config, checkpoint=path, resume=True, device="cpu")


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (nn.Linear(3, 4), "can't read instances of 5 features"),
        (nn.Flatten(0), r"made the shape \(10,\) of 2 instances of 5 features"),
        (nn.LSTM(5, 4), "made a tuple of 2 instances"),
    ],
)
def test_an_extractor_that_does_not_fit_is_refused_before_training(module, sentence):
    with pytest.raises(InputError, match=sentence):
        fit(toy_bags(m=8), Config.preset("default", **SMALL), extractor=module, device="cpu")


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"extractor": nn.Linear(5, 3)}, "its card holds settings, not code"),
        ({"attention": lambda scores: scores}, r"attention '<lambda>' can't be saved.*register_attention"),
    ],
)
def test_a_model_with_parts_that_nobody_can_find_has_no_card(own, sentence):
    data = toy_bags(m=8)
    fitted = fit(data, Config.preset("default", **SMALL), device="cpu", **own)
    with pytest.raises(InputError, match=sentence):
        finish(fitted, data, Candidates(), created_by="a test")


def soft_cross_entropy(energies, candidates, weights):
    assert energies.shape == candidates.shape == weights.shape
    assert candidates.dtype == torch.bool
    assert not weights.requires_grad
    return functional.cross_entropy(energies, weights)


def test_any_loss_is_trained_with():
    """Cross-entropy with the moving weights is the mapping loss, so the outcome is known."""
    config, data = Config.preset("paper", **SMALL), toy_bags(m=30)
    own = fit(data, config, loss=soft_cross_entropy, device="cpu")
    known = fit(data, variant(config, "MA"), device="cpu")
    assert own.config.loss == "soft_cross_entropy"
    for a, b in zip(own.history, known.history, strict=True):
        assert a.losses == pytest.approx({"total": b.losses["mapping"]})
    for name, value in state(own).items():
        np.testing.assert_allclose(value, state(known)[name], atol=1e-10)
    demipl = Config.preset("paper", method="demipl", **SMALL)  # its attention entropy joins any loss
    own, known = fit(data, demipl, loss=soft_cross_entropy, device="cpu"), fit(data, demipl, device="cpu")
    assert own.history[-1].losses == pytest.approx(
        {name: known.history[-1].losses[name] for name in ("attention", "total")}
    )


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (lambda e, s, w: e.sum(1), r"The loss gave the shape \(8,\), not one number"),
        (lambda e, s, w: 3.0, "The loss gave a float, not one number"),
        (lambda e, s, w: e.detach().sum(), "doesn't depend on the energies"),
        (lambda e, s, w: e.sum() * float("nan"), "the loss is no longer a finite number"),
    ],
)
def test_a_loss_that_can_not_be_followed_is_refused(loss, sentence):
    with pytest.raises(InputError, match=sentence):
        fit(toy_bags(m=8), Config.preset("default", **SMALL), loss=loss, device="cpu")


class _TwoArguments(nn.Module):
    def forward(self, energies, candidates):
        return energies.sum()


@pytest.mark.parametrize(
    "loss", [lambda e, s: e.sum(), lambda e, s, w, more: e.sum(), lambda: 0, _TwoArguments()], ids=range(4)
)
def test_a_loss_of_other_arguments_is_refused_before_training(loss):
    with pytest.raises(InputError, match=r"The loss “.*” takes \(.*\), not three arguments.*energies, candidates and"):
        fit(toy_bags(m=8), Config.preset("default", **SMALL), loss=loss, device="cpu")
    with pytest.raises(InputError, match="not three arguments"):
        register_loss("other arguments", loss)


def test_a_loss_may_have_more_arguments_with_values_of_their_own():
    def loss(energies, candidates, weights, power=1.0, *rest, **named):
        return -(weights * energies.log_softmax(1)).sum(1).mean() * power

    assert fit(toy_bags(m=8), Config.preset("default", **SMALL), loss=loss, device="cpu").history


def test_a_registered_loss_is_named_in_the_settings():
    config, data = Config.preset("paper", **SMALL), toy_bags(m=30)
    register_loss("soft", soft_cross_entropy)
    try:
        named = fit(data, Config.preset("paper", loss="soft", **SMALL), device="cpu")
    finally:
        LOSSES.unregister("soft")
    given = fit(data, config, loss=soft_cross_entropy, device="cpu")
    assert named.config.loss == "soft"
    for name, value in state(named).items():
        np.testing.assert_array_equal(value, state(given)[name])
    with pytest.raises(InputError, match="There is no loss 'soft'"):
        fit(data, named.config, device="cpu")
    card = finish(named, data, Candidates(), created_by="a test").card
    assert Config.from_dict(card.config).loss == "soft"  # readable where the loss is not known


@pytest.mark.parametrize("plain", [False, True])
def test_bfloat16_products_learn_nearly_the_same(plain):
    data, config = toy_bags(m=40), Config.preset("default", hidden=32, epochs=8, batch=8, dropout=0.0)
    wide, half = (fit(data, config.replace(amp=amp), plain=plain, device="cpu") for amp in (False, True))
    assert {value.dtype for value in half.network.parameters()} == {torch.float32}
    assert not torch.equal(wide.network.embed.weight, half.network.embed.weight)
    torch.testing.assert_close(half.network.embed.weight, wide.network.embed.weight, atol=0.02, rtol=0)
    for one, other in zip(half.history, wide.history, strict=True):
        assert one.losses["total"] == pytest.approx(other.losses["total"], rel=0.02)
    dropping = Config.preset("default", method="demipl", hidden=16, epochs=2, batch=8, amp=True)
    assert np.isfinite(fit(data, dropping, plain=plain, device="cpu").history[-1].losses["total"])
