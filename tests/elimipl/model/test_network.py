"""Equations 1–4 against their literal loops; what must not depend on order, batching or dropout switches."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.model.embedding import embed_and_read, keep_bits
from elimipl.model.network import Network, PictureExtractor, build_network, with_context
from tests.elimipl import literal

K, D = 4, 5


def small_network(seed=0, dim=D, **settings_):
    config = Config(hidden=12, gate_width=6, dtype="float64", seed=seed, **settings_)
    network = build_network(config, dim, K)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)  # away from the near-uniform attention of a fresh network
    return network


def ragged(sizes, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    bags = [torch.tensor(rng.normal(0, scale, (n, D))) for n in sizes]
    return bags, torch.cat(bags), torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))


SWITCHES = list(
    itertools.product(
        ("two", "shared"),
        ("linear", "mlp"),
        ("softmax", "softmax_of_sigmoid"),
        ("softmax_scaled", "sigmoid_normalised"),
    )
)


@pytest.mark.parametrize(("gate", "score", "head", "pooling"), SWITCHES)
def test_equals_the_literal_loops_and_gradients_are_right(gate, score, head, pooling):
    network = small_network(gate=gate, score=score, head=head, pooling=pooling)
    P = {name: value.tolist() for name, value in network.named_parameters()}
    bags, x, bag_of = ragged([3, 1, 6, 2])
    out = network(x, bag_of, 4)
    start = 0
    for i, bag in enumerate(bags):
        logits, attention, scores = literal.bag_logits(P, bag.tolist(), pooling)
        rows = slice(start, start + len(bag))
        np.testing.assert_allclose(out.logits[i].detach(), logits, atol=1e-9)
        np.testing.assert_allclose(out.attention[rows].detach(), attention, atol=1e-9)
        np.testing.assert_allclose(out.scores[rows].detach(), scores, atol=1e-9)
        np.testing.assert_allclose(out.energies[i].softmax(0).detach(), literal.probabilities(logits, head), atol=1e-6)
        start += len(bag)

    def energies(x, *values):
        outputs = torch.func.functional_call(network, dict(zip(P, values, strict=True)), (x, bag_of, 4))
        return outputs.energies, outputs.attention

    values = [value.detach().clone().requires_grad_() for value in network.parameters()]
    assert torch.autograd.gradcheck(energies, (x.requires_grad_(), *values), fast_mode=True)


def test_the_paper_s_network_has_two_gates_and_the_published_one_shares_one_as_wide_as_the_classes():
    paper, published = (Network(Config.preset(name), dim=6, n_classes=7) for name in ("paper", "published"))
    shapes = {name: tuple(value.shape) for name, value in paper.named_parameters()}
    assert shapes["gate_t.weight"] == shapes["gate_s.weight"] == (64, 512)
    assert shapes["score.weight"] == (1, 64)
    assert "score.bias" not in shapes
    shapes = {name: tuple(value.shape) for name, value in published.named_parameters()}
    assert shapes["gate_t.weight"] == (7, 512)
    assert "gate_s.weight" not in shapes
    assert (shapes["score.0.weight"], shapes["score.2.weight"]) == ((128, 7), (1, 128))


def test_published_head_never_exceeds_its_ceiling():
    """Softmax of a sigmoid: with seven classes every probability lies in [.058, .312]."""
    network = Network(Config.preset("published", dtype="float64"), dim=6, n_classes=7)
    logits = torch.tensor([[50.0] + [-50.0] * 6, [-50.0] + [50.0] * 6], dtype=torch.float64)
    p = network.energies(logits, training=False).softmax(1)
    assert p.max().item() == pytest.approx(0.3118, abs=1e-4)
    assert p.min().item() == pytest.approx(0.0578, abs=1e-4)
    clamped = network.energies(logits, training=True)
    assert clamped.min().item() == pytest.approx(1e-5)
    assert clamped.max().item() == pytest.approx(1 - 1e-5)


ragged_sizes = st.lists(st.integers(1, 7), min_size=1, max_size=6)
any_pooling = st.sampled_from(["softmax_scaled", "sigmoid_normalised"])


@settings(max_examples=30, deadline=None)
@given(
    sizes=ragged_sizes,
    seed=st.integers(0, 1000),
    pooling=any_pooling,
    extractor=st.sampled_from(["identity", "context"]),
)
def test_the_company_of_a_bag_and_the_order_of_its_instances_change_nothing(sizes, seed, pooling, extractor):
    network = small_network(seed=seed, pooling=pooling, extractor=extractor)
    bags, x, bag_of = ragged(sizes, seed)
    rng = np.random.default_rng(seed)
    together, start = network(x, bag_of, len(sizes)), 0
    for i, bag in enumerate(bags):
        order = torch.tensor(rng.permutation(len(bag)))
        alone = network(bag[order], torch.zeros(len(bag), dtype=torch.long), 1)
        torch.testing.assert_close(alone.energies[0], together.energies[i], atol=1e-12, rtol=1e-9)
        torch.testing.assert_close(alone.attention, together.attention[order + start], atol=1e-12, rtol=1e-9)
        start += len(bag)


@settings(max_examples=30, deadline=None)
@given(
    sizes=ragged_sizes,
    scale=st.sampled_from([0.0, 1.0, 1e6]),
    dtype=st.sampled_from(["float32", "float64"]),
    pooling=any_pooling,
)
def test_attention_sums_to_one_and_nothing_is_nan_for_extreme_features(sizes, scale, dtype, pooling):
    network = small_network(pooling=pooling).to(getattr(torch, dtype))
    _, x, bag_of = ragged(sizes, seed=1, scale=scale)
    out = network(x.to(getattr(torch, dtype)), bag_of, len(sizes))
    sums = torch.zeros(len(sizes), dtype=out.attention.dtype).index_add(0, bag_of, out.attention)
    torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-5, rtol=0)
    assert torch.isfinite(out.energies).all()
    gradients = torch.autograd.grad(out.energies.log_softmax(1).sum(), network.parameters(), allow_unused=True)
    assert all(g is None or torch.isfinite(g).all() for g in gradients)


def test_instances_no_gate_opens_for_still_share_the_attention():
    """DEMIPL's sigmoids all underflow at −1e6; their ratio must not become 0/0."""
    network = small_network(pooling="sigmoid_normalised")
    logits = network.attention_logits(torch.tensor([-1e6, -1e6], dtype=torch.float64))
    assert logits.softmax(0).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dropout_keeps_the_share_it_should_whatever_is_kept_nearby(dtype):
    for kept in (128, 192, 77, 1, 255):
        bits = keep_bits(200_001, kept, dtype, torch.Generator().manual_seed(1))
        assert len(bits) == 200_001
        assert set(bits.unique().tolist()) == {0, -1}
        assert -bits.double().mean().item() == pytest.approx(kept / 256, abs=5 * np.sqrt(0.25 / 200_000))
        for lag in (1, 2, 31, 32, 64):
            assert abs(np.corrcoef(bits[:-lag], bits[lag:])[0, 1]) < 0.02


def test_dropout_scales_what_it_keeps_and_differentiates_through_it():
    generator = torch.Generator().manual_seed(5)
    shapes = ((7, 3), (40, 3), (40,), (2, 40), (2,))
    x, weight, bias, readers, readers_bias = (torch.randn(*shape, dtype=torch.float64) for shape in shapes)
    weight.requires_grad_()
    out = embed_and_read(x, weight, bias, readers, readers_bias, 0.25, generator)
    keep = -keep_bits(7 * 40, 192, torch.float64, generator.manual_seed(5)).view(7, 40)
    expected = (keep * torch.relu(x @ weight.t() + bias) / 0.75) @ readers.t() + readers_bias
    torch.testing.assert_close(out, expected)
    (found,), (wanted,) = (torch.autograd.grad(y.square().sum(), weight, retain_graph=True) for y in (out, expected))
    torch.testing.assert_close(found, wanted)


def test_without_a_generator_nothing_is_dropped():
    dropping, plain = small_network(dropout=0.5), small_network(dropout=0.0)
    _, x, bag_of = ragged([2, 3])
    torch.testing.assert_close(dropping(x, bag_of, 2).logits, plain(x, bag_of, 2).logits)
    generator = torch.Generator().manual_seed(0)
    assert not torch.allclose(dropping(x, bag_of, 2, generator).logits, plain(x, bag_of, 2).logits)


def test_weights_depend_on_the_seed_alone():
    torch.manual_seed(1)
    first = build_network(Config(hidden=8, seed=4), D, K)
    torch.manual_seed(2)
    second = build_network(Config(hidden=8, seed=4), D, K)
    other = build_network(Config(hidden=8, seed=5), D, K)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.embed.weight, other.embed.weight)
    assert first.embed.weight.abs().max().item() <= 1 / np.sqrt(D)


def test_picture_extractor_is_the_authors_network():
    """Conv 5×5, ReLU, pool, twice: 28×28 → 800 features, computed here layer by layer in the printed order."""
    extractor = PictureExtractor(784).double()
    x = torch.randn(3, 784, dtype=torch.float64)
    functional = torch.nn.functional
    low = functional.max_pool2d(torch.relu(extractor.first(x.view(3, 1, 28, 28))), 2)
    high = functional.max_pool2d(torch.relu(extractor.second(low)), 2)
    assert high.flatten(1).shape == (3, 800)
    assert PictureExtractor.width(784) == 800
    torch.testing.assert_close(extractor(x), high.flatten(1))
    coloured, pixels = PictureExtractor(3 * 784).double(), torch.rand(2, 28, 28, 3, dtype=torch.float64)
    low = functional.max_pool2d(torch.relu(coloured.first(pixels.permute(0, 3, 1, 2))), 2)
    expected = functional.max_pool2d(torch.relu(coloured.second(low)), 2).flatten(1)
    torch.testing.assert_close(coloured(pixels.reshape(2, -1)), expected)
    network = Network(Config(extractor="cnn", hidden=8), dim=784, n_classes=5)
    assert network.embed.in_features == 800
    assert network(torch.randn(3, 784), torch.tensor([0, 0, 1]), 2).logits.shape == (2, 5)
    for dim in (6, 225 - 1, 15 * 15):
        with pytest.raises(InputError, match="square pictures from 16×16 pixels"):
            Network(Config(extractor="cnn"), dim=dim, n_classes=3)


def test_context_is_mean_and_deviation_of_the_own_bag():
    bags, x, bag_of = ragged([3, 1, 2])
    x.requires_grad_()
    out = with_context(x, bag_of, 3)
    for j, row in enumerate(out):
        bag = bags[bag_of[j]]
        expected = torch.cat([x[j], bag.mean(0), (bag.var(0, correction=0) + 1e-6).sqrt()])
        torch.testing.assert_close(row, expected)
    assert torch.autograd.gradcheck(lambda values: with_context(values, bag_of, 3), x)
    same = torch.ones(6, 4, dtype=torch.float64, requires_grad=True)
    with_context(same, bag_of, 3).sum().backward()
    assert torch.isfinite(same.grad).all()
