"""An attention of one's own, and a loss that asks for more: what they are given, learned, kept and refused."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from bag_generators.base.errors import InputError
from elimipl.answers.predictor import Predictor
from elimipl.cards.finish import save_model
from elimipl.config import Config
from elimipl.registries import ATTENTIONS, POOLING, asked_by, register_attention
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags

SMALL = {"hidden": 12, "gate_width": 6, "batch": 8, "epochs": 4, "lr": 0.05, "seed": 3, "dtype": "float64"}


def scaled(scores, hidden):
    """Eq. 3 as a function of one's own."""
    return scores / math.sqrt(hidden)


def sharper(scores, epoch, epochs):
    return scores * epoch / epochs


class Query(nn.Module):
    """An attention with weights of its own, on the embedded instances."""

    def __init__(self, width=12):
        super().__init__()
        self.query = nn.Linear(width, 1)

    def forward(self, scores, h, bag_of, bags):
        assert h.shape == (len(scores), 12)
        assert int(bag_of.max()) < bags
        return self.query(h).squeeze(1)


def parameters(fitted):
    return {name: value.detach().numpy() for name, value in fitted.network.named_parameters()}


def assert_same(first, second, tolerance=1e-10):
    for name, value in parameters(first).items():
        np.testing.assert_allclose(value, parameters(second)[name], rtol=tolerance, atol=tolerance, err_msg=name)


def test_eq_3_as_one_s_own_attention_is_eq_3():
    config, data = Config.preset("default", **SMALL), toy_bags(m=30)
    own, known = fit(data, config, attention=scaled, device="cpu"), fit(data, config, device="cpu")
    assert (own.config.attention, known.config.attention) == ("scaled", POOLING)
    assert_same(own, known)
    a, b = own.predict(data, embeddings=True), known.predict(data, embeddings=True)
    np.testing.assert_allclose(a.attention, b.attention, atol=1e-10)
    np.testing.assert_allclose(a.embeddings, b.embeddings, atol=1e-10)


def test_an_attention_may_ask_for_the_epoch_and_keeps_the_last_one(tmp_path):
    config, data = Config.preset("default", **SMALL), toy_bags(m=30)
    fitted = fit(data, config, attention=sharper, device="cpu")
    assert int(fitted.network.epoch) == 4
    seen = []
    fit(data, config, attention=lambda scores, epoch: seen.append(epoch) or scores, device="cpu")
    assert sorted(set(seen)) == [1, 2, 3, 4]
    path, asked = tmp_path / "run.safetensors", []
    fit(data, config, attention=sharper, checkpoint=path, should_stop=lambda: asked.append(1) or len(asked) > 1)
    resumed = fit(data, config, attention=sharper, checkpoint=path, resume=True, device="cpu")
    assert_same(fitted, resumed, 0)
    again = fit(data, config, attention=sharper, checkpoint=path, resume=True, device="cpu")
    assert int(again.network.epoch) == 4


def test_a_module_is_trained_along_and_the_one_given_stays_as_it_is():
    torch.manual_seed(1)
    module, data = Query(), toy_bags()
    before = module.query.weight.clone()
    config = Config.preset("default", hidden=12, epochs=30, batch=16, lr=0.05)
    fitted = fit(data, config, attention=module, device="cpu")
    assert torch.equal(module.query.weight, before)
    assert not torch.equal(fitted.network.own_attention.query.weight, before)
    predictions = fitted.predict(data)
    assert predictions.accuracy(data.labels) > 0.8
    sums = np.add.reduceat(predictions.attention, data.offsets[:-1])
    np.testing.assert_allclose(sums, 1, atol=1e-6)
    with pytest.raises(InputError, match="can't be taken apart"):
        fitted.network.attention_logits(torch.zeros(3))


@pytest.mark.parametrize("attention", [sharper, Query()], ids=["function", "module"])
def test_a_registered_attention_is_named_in_the_settings_and_on_the_card(attention, tmp_path):
    data = toy_bags(m=30)
    register_attention("mine", attention)
    try:
        fitted = fit(data, Config.preset("default", attention="mine", **SMALL), device="cpu")
        path = save_model(fitted, tmp_path, data)
        loaded = Predictor.load(path.stem, tmp_path)
    finally:
        ATTENTIONS.unregister("mine")
    given = fit(data, Config.preset("default", **SMALL), attention=attention, device="cpu")
    assert_same(fitted, given, 0)
    np.testing.assert_allclose(
        [one.raw for one in loaded.predict_dataset(data)], fitted.predict(data).probabilities, atol=1e-12
    )
    assert not loaded.network.is_local
    with pytest.raises(InputError, match=r"There is no attention 'mine'.*register_attention"):
        Predictor.load(path.stem, tmp_path)
    with pytest.raises(InputError, match="There is an attention 'pooling' already"):
        register_attention("pooling", scaled)


@pytest.mark.parametrize(
    ("attention", "sentence"),
    [
        ("softmax", "'softmax' is not an attention"),
        (lambda: 0, r"takes \(\), not one argument.*may also ask by name for h, bag_of"),
        (lambda scores, more: scores, "not one argument"),
        (lambda scores: scores[:, None], r"The attention made the shape \(\d+, 1\) of \d+ scores"),
        (lambda scores: 3, "The attention made a int of"),
    ],
)
def test_what_is_no_attention_is_refused(attention, sentence):
    with pytest.raises(InputError, match=sentence):
        fit(toy_bags(m=8), Config.preset("default", **SMALL), attention=attention, device="cpu")


def test_a_loss_is_given_what_it_asks_for():
    config, data, seen = Config.preset("default", **SMALL), toy_bags(m=20), []

    def loss(energies, candidates, weights, epoch, epochs, *, bag_ids, attention, bag_of, z, config):
        assert z.shape == (len(energies), config.hidden)
        assert z.requires_grad
        assert attention.requires_grad
        assert len(attention) == len(bag_of) == int(data.sizes[bag_ids].sum())
        torch.testing.assert_close(candidates, torch.tensor(data.candidates)[bag_ids])
        sums = torch.zeros(len(z), dtype=z.dtype).index_add(0, bag_of, attention.detach())
        torch.testing.assert_close(sums, torch.ones_like(sums))
        seen.append((epoch, epochs, bag_ids))
        return -(weights * energies.log_softmax(1)).sum(1).mean() + 0.1 * z.square().mean()

    fit(data, config, loss=loss, device="cpu")
    assert [epoch for epoch, _, _ in seen] == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    assert {epochs for _, epochs, _ in seen} == {4}
    for start in range(0, 12, 3):
        assert sorted(torch.cat([ids for _, _, ids in seen[start : start + 3]]).tolist()) == list(range(20))


def test_only_names_after_the_first_arguments_ask():
    assert asked_by(lambda z, candidates, weights: None, 3, ("z",)) == ()
    assert asked_by(lambda e, s, w, *z, **epoch: None, 3, ("epoch", "z")) == ()
    assert asked_by(nn.Identity(), 1, ("input",)) == ()
