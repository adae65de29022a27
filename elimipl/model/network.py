"""The network of equations 1–4: extractor, attention and classifier, over many ragged bags at once."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.model.attention import attention_pool, softmax_by_bag, standardise_by_bag
from elimipl.model.embedding import Draws, drop, embed_and_read
from elimipl.registries import ASKED_BY_ATTENTION, ATTENTIONS, POOLING, Attention, asked_by, check_attention

SCORE_WIDTH = 128
"""Width of the MLP that maps gates to ξ in the authors' code."""
SIGMOID_MARGIN = 1e-5
"""How far the sigmoid of the authors' head stays from 0 and 1 while training."""
_TINY = 1e-6  # keeps the slope of the square root finite where a bag's instances are all alike


class BagOutputs(NamedTuple):
    """What the network says about a batch of B bags with N instances and k classes."""

    logits: Tensor  # (B, k) the linear classifier's outputs W_cᵀz + b_c
    energies: Tensor  # (B, k) what the softmax is taken of: the logits, or their sigmoid
    attention: Tensor  # (N,) a_j of eq. 3, one per instance, summing to one in each bag
    scores: Tensor  # (N,) ξ of eq. 2
    embeddings: Tensor | None = None  # (B, l) z of eq. 4, of `as_printed` only


class Network(nn.Module):
    """x (N, d) and the bag of every row → class energies and attention.

    In the paper's symbols `extractor` is ψ1, `embed` is ψ2, `gate_t` and `gate_s` are W_t and W_s, `score` is W,
    `classifier` is f. A module given as `extractor`, (N, d) → (N, d'), takes the place of the one in the settings, and
    an `attention` (`elimipl.registries.Attention`) that of eq. 3.
    """

    epoch: Tensor  # (1,) how far training is; only where the attention asks for it

    def __init__(
        self,
        config: Config,
        dim: int,
        n_classes: int,
        extractor: nn.Module | None = None,
        attention: Attention | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.dim = dim
        self.n_classes = n_classes
        self.has_own_extractor = extractor is not None
        self.extracts = True  # whether instances come as they are, or as features that ψ1 has made of them
        if extractor is not None:
            self.extractor = extractor.to(getattr(torch, config.dtype))
            features = _tried_width(self.extractor, dim, getattr(torch, config.dtype))
        else:
            self.extractor = PictureExtractor(dim) if config.extractor == "cnn" else nn.Identity()
            features = {"identity": dim, "context": 3 * dim}.get(config.extractor) or PictureExtractor.width(dim)
        width = n_classes if config.gate == "shared" else config.gate_width
        self.embed = nn.Linear(features, config.hidden)
        self.gate_t = nn.Linear(config.hidden, width)
        self.gate_s = nn.Linear(config.hidden, width) if config.gate == "two" else None
        self.score = (
            nn.Linear(width, 1, bias=False)
            if config.score == "linear"
            else nn.Sequential(nn.Linear(width, SCORE_WIDTH), nn.ReLU(), nn.Linear(SCORE_WIDTH, 1))
        )
        self.classifier = nn.Linear(config.hidden, n_classes)
        self.own_attention = _own_attention(config, attention)
        self._asked = () if self.own_attention is None else asked_by(self.own_attention, 1, ASKED_BY_ATTENTION)
        if "epoch" in self._asked or self._standardises:
            self.register_buffer("epoch", torch.zeros(1))
        self.to(getattr(torch, config.dtype))

    def forward(self, x: Tensor, bag_of: Tensor, bags: int, generator: Draws | None = None) -> BagOutputs:
        """x (N, d), bag_of (N,) in 0..bags−1. Training is asked for by giving the generator that draws the dropout."""
        if "h" in self._asked:
            return self.as_printed(x, bag_of, bags, generator)
        scores, votes = self.read(x, bag_of, bags, generator)
        # Eq. 3, and eq. 4 behind the linear classifier: W_cᵀ(Σ a_j h_j) + b_c = Σ a_j (W_cᵀh_j + b_c).
        logits, attention = attention_pool(self.attention_logits(scores, bag_of, bags), votes, bag_of, bags)
        return BagOutputs(logits, self.energies(logits, training=generator is not None), attention, scores)

    def read(self, x: Tensor, bag_of: Tensor, bags: int, generator: Draws | None = None) -> tuple[Tensor, Tensor]:
        """What each instance says before the bag is put together: ξ_j of eq. 2, (N,), and W_cᵀh_j + b_c, (N, k)."""
        layers = [layer for layer in (self.gate_t, self.gate_s, self.classifier) if layer is not None]
        read = embed_and_read(
            self._extract(x, bag_of, bags),
            self.embed.weight,
            self.embed.bias,
            torch.cat([layer.weight for layer in layers]),
            torch.cat([layer.bias for layer in layers]),
            self.config.dropout,
            generator,
            half=self.config.amp and generator is not None,
        )  # (N, gates·g + k)
        *gates, votes = read.split([layer.out_features for layer in layers], dim=1)
        return self.score(gates[0].tanh() * gates[-1].sigmoid()).squeeze(1), votes

    @property
    def is_local(self) -> bool:
        """Whether an instance's score and votes stay the same whatever else is in its bag."""
        alone = self.own_attention is None and not self._standardises
        return alone and self.config.extractor != "context" and not self.has_own_extractor

    @property
    def _standardises(self) -> bool:
        """Whether scores are compared within their bag, at a temperature that depends on the epoch."""
        return self.own_attention is None and self.config.pooling == "softmax_standardised"

    def as_printed(self, x: Tensor, bag_of: Tensor, bags: int, generator: Draws | None = None) -> BagOutputs:
        """Equations 1–4 one after the other, left to autograd: what `forward` has to equal, and z in the outputs."""
        h = self.embed(self._extract(x, bag_of, bags)).relu()  # (N, l) eq. 1
        h = drop(h, self.config.dropout, generator)
        for_tanh = self.gate_t(h)
        for_sigmoid = for_tanh if self.gate_s is None else self.gate_s(h)
        scores = self.score(for_tanh.tanh() * for_sigmoid.sigmoid()).squeeze(1).to(x.dtype)  # (N,) eq. 2
        attention = softmax_by_bag(self.attention_logits(scores, bag_of, bags, h), bag_of, bags)  # (N,) eq. 3
        z = x.new_zeros(bags, h.shape[1]).index_add(0, bag_of, attention[:, None] * h)  # (B, l) eq. 4
        logits = self.classifier(z).to(x.dtype)
        return BagOutputs(logits, self.energies(logits, training=generator is not None), attention, scores, z)

    def embeddings(self, x: Tensor, bag_of: Tensor, bags: int) -> Tensor:
        """z of eq. 4, (B, l): what the classifier sees of each bag, without dropout."""
        z = self.as_printed(x, bag_of, bags).embeddings
        assert z is not None
        return z

    def _extract(self, x: Tensor, bag_of: Tensor, bags: int) -> Tensor:
        """ψ1, eq. 1."""
        if not self.extracts:
            return x
        if self.config.extractor == "context" and not self.has_own_extractor:
            return with_context(x, bag_of, bags)
        extracted: Tensor = self.extractor(x)
        return extracted

    def attention_logits(
        self, scores: Tensor, bag_of: Tensor | None = None, bags: int = 1, h: Tensor | None = None
    ) -> Tensor:
        """What eq. 3 takes the softmax of; without `bag_of` the scores are those of one bag.

        DEMIPL's sigm(ξ_j)/Σ sigm(ξ_j') is the softmax of log sigm(ξ).
        """
        if self.own_attention is not None:
            return self._own_logits(scores, bag_of, bags, h)
        if self.config.pooling == "sigmoid_normalised":
            return functional.logsigmoid(scores)
        if self.config.pooling == "softmax":
            return scores
        if self._standardises:
            scores = standardise_by_bag(scores, _one_bag(scores) if bag_of is None else bag_of, bags)
            return scores / (math.sqrt(self.config.hidden) * self.config.tau(int(self.epoch)))
        return scores / math.sqrt(self.config.hidden)

    def _own_logits(self, scores: Tensor, bag_of: Tensor | None, bags: int, h: Tensor | None) -> Tensor:
        """What an attention of others makes of the scores."""
        if h is None and "h" in self._asked:
            raise InputError(
                "This model's attention reads embedded instances, so its bags can't be taken apart.",
                "Predict whole bags, or write the attention as a function of the scores.",
            )
        offered: dict[str, Any] = {
            "h": h,
            "bag_of": _one_bag(scores) if bag_of is None else bag_of,
            "bags": bags,
            "epochs": self.config.epochs,
            "hidden": self.config.hidden,
        }
        if "epoch" in self._asked:
            offered["epoch"] = int(self.epoch)
        assert self.own_attention is not None
        found = self.own_attention(scores, **{name: offered[name] for name in self._asked})
        if not isinstance(found, Tensor) or found.shape != scores.shape:
            made = f"the shape {tuple(found.shape)}" if isinstance(found, Tensor) else f"a {type(found).__name__}"
            raise InputError(
                f"The attention made {made} of {len(scores)} scores.", "Return a tensor with a number for each score."
            )
        return found

    def at_epoch(self, epoch: int) -> None:
        """Note how far training is, for an attention that asks for it."""
        if "epoch" in self._buffers:
            self.epoch.fill_(epoch)

    def energies(self, logits: Tensor, training: bool = False) -> Tensor:
        """What the softmax is taken of: the logits, or with the authors' head their sigmoid."""
        if self.config.head == "softmax":
            return logits
        return logits.sigmoid().clamp(SIGMOID_MARGIN, 1 - SIGMOID_MARGIN) if training else logits.sigmoid()


def _one_bag(scores: Tensor) -> Tensor:
    return torch.zeros(len(scores), dtype=torch.int64, device=scores.device)


def _own_attention(config: Config, given: Attention | None) -> Attention | None:
    """The attention that was given or that the settings name; a module is copied. None for the program's own."""
    if given is None and config.attention != POOLING:
        check_attention(config.attention)
        given = ATTENTIONS[config.attention]
    return copy.deepcopy(given) if isinstance(given, nn.Module) else given


def _tried_width(extractor: nn.Module, dim: int, dtype: torch.dtype) -> int:
    """Features an instance has after a module that somebody gives, found by trying it on two instances of zeros."""
    training = extractor.training
    on_device = next(iter(extractor.parameters()), torch.empty(0)).device
    try:
        with torch.no_grad():
            tried = extractor.eval()(torch.zeros(2, dim, dtype=dtype, device=on_device))
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"The extractor can't read instances of {dim} features: {error}.",
            "Give a module that maps (N, d) instances to (N, d') features.",
        ) from None
    finally:
        extractor.train(training)
    if not isinstance(tried, Tensor) or tried.ndim != 2 or len(tried) != 2 or tried.shape[1] < 1:
        found = f"the shape {tuple(tried.shape)}" if isinstance(tried, Tensor) else f"a {type(tried).__name__}"
        raise InputError(
            f"The extractor made {found} of 2 instances of {dim} features.",
            "Give a module that maps (N, d) instances to (N, d') features.",
        )
    return tried.shape[1]


def with_context(x: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """ψ1 for bags whose instances mean little alone: x_j ↦ [x_j, mean of its bag, standard deviation of its bag].

    x (N, d), bag_of (N,) in 0..bags−1 → (N, 3d). A slide's stain shifts all instances of a bag alike; beside the
    mean an instance can be read as what it is in its picture, not as what it is on that slide.
    """
    count = torch.bincount(bag_of, minlength=bags).to(x.dtype)[:, None]  # (bags, 1)
    mean = x.new_zeros(bags, x.shape[1]).index_add_(0, bag_of, x) / count
    centred = x - mean.index_select(0, bag_of)
    variance = x.new_zeros(bags, x.shape[1]).index_add_(0, bag_of, centred.square()) / count
    bag = torch.cat([mean, (variance + _TINY).sqrt()], dim=1)  # (bags, 2d)
    return torch.cat([x, bag.index_select(0, bag_of)], dim=1)


class PictureExtractor(nn.Module):
    """ψ1 for square pictures, grey or of three colours: two 5×5 convolutions with 2×2 max pooling.

    28×28 pixels → 800 features. A picture lies row by row, the colours of a pixel together.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.width(dim)
        self.channels, self.side = self.shape(dim)
        self.first = nn.Conv2d(self.channels, 20, 5)
        self.second = nn.Conv2d(20, 50, 5)

    @staticmethod
    def width(dim: int) -> int:
        """Features that come out of pictures of `dim` pixels."""
        _, side = PictureExtractor.shape(dim)
        return 50 * (((side - 4) // 2 - 4) // 2) ** 2

    @staticmethod
    def shape(dim: int) -> tuple[int, int]:
        """Colours and side of a picture of `dim` numbers."""
        fitting = [(channels, math.isqrt(dim // channels)) for channels in (1, 3)]
        found = [(channels, side) for channels, side in fitting if channels * side * side == dim and side >= 16]
        if not found:
            raise InputError(
                f"The convolutional extractor reads square pictures from 16×16 pixels, not {dim} features.",
                "Choose extractor 'identity' for these bags.",
            )
        return found[0]

    def forward(self, x: Tensor) -> Tensor:
        """(N, pixels) → (N, features). Pooling before the ReLU gives the same at a quarter of the work."""
        # Laid out with the channel last, which CPU convolutions and pooling are nearly twice as fast in.
        pictures = x.view(-1, self.side, self.side, self.channels).permute(0, 3, 1, 2)
        low = functional.max_pool2d(self.first(pictures), 2).relu_()
        return functional.max_pool2d(self.second(low), 2).relu_().flatten(1)


def build_network(
    config: Config,
    dim: int,
    n_classes: int,
    extractor: nn.Module | None = None,
    attention: Attention | None = None,
) -> Network:
    """A fresh network whose weights depend on `config.seed` alone: uniform in ±1/√fan_in, layer by layer.

    An `extractor` that is given is copied and keeps the weights it has; so does an `attention` that is a module.
    """
    network = Network(config, dim, n_classes, copy.deepcopy(extractor), attention)
    kept = set(network.extractor.modules()) if extractor is not None else set()
    if isinstance(network.own_attention, nn.Module):
        kept |= set(network.own_attention.modules())
    draw_layers(network, torch.Generator().manual_seed(config.seed), kept)
    return network


@torch.no_grad()
def draw_layers(module: nn.Module, generator: torch.Generator, kept: Collection[nn.Module] = ()) -> None:
    """Layers uniform in ±1/√fan_in, except for those `kept` as they are."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d) and layer not in kept:
            bound = 1 / math.sqrt(layer.weight[0].numel())
            for parameter in layer.parameters(recurse=False):
                parameter.uniform_(-bound, bound, generator=generator)
