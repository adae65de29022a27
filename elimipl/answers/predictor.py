"""A trained model that answers: a bag in, calibrated class probabilities and attention out."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from bag_generators.base.bag_file import plain_json
from bag_generators.base.errors import InputError
from bag_generators.base.threads import one_thread
from elimipl.answers.acceptance import KnownBags, read_bag, signs
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.calibration import temper
from elimipl.cards.card import Card
from elimipl.cards.conformal import USUAL_LEVEL, Conformal
from elimipl.cards.files import check_generator_files, find_card, read_weights, weights_path
from elimipl.config import Config
from elimipl.datasets.dataset import UNLABELLED, BagDataset, InstanceTable
from elimipl.model.inference import infer
from elimipl.model.network import Network
from elimipl.model.scaling import Scaler
from elimipl.training.loop import Fitted

_LARGEST = 1e12
"""Of all numbers of a model; trained ones are a billion times smaller."""


class Instances(Protocol):
    """What a predictor asks of a bag: its (n, d) instances and how they were made. A `Bag` has it."""

    @property
    def features(self) -> np.ndarray: ...
    @property
    def generator(self) -> str: ...
    @property
    def params(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, eq=False)
class FeatureBag:
    """`Instances` and nothing else: a bag of a data set, or a part of one."""

    features: np.ndarray
    generator: str
    params: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model says about one bag of n instances. The arrays are read-only."""

    probabilities: np.ndarray  # (k,) float64, calibrated: the ones to show
    raw: np.ndarray  # (k,) float64, as the head gives them: the ones of the paper's figures
    attention: np.ndarray  # (n,) float64, sums to 1
    label_space: LabelSpace
    model_id: str
    label_sets: Conformal | None = None

    def __post_init__(self) -> None:
        for array in (self.probabilities, self.raw, self.attention):
            array.flags.writeable = False

    @property
    def index(self) -> int:
        """Column of the most probable class; calibration never changes it."""
        return int(self.raw.argmax())

    @property
    def label(self) -> str:
        """Name of the most probable class."""
        return self.label_space.names[self.index]

    @property
    def title(self) -> str:
        """What people read for it."""
        return self.label_space.titles[self.index]

    @property
    def probability(self) -> float:
        """Calibrated probability of the most probable class."""
        return float(self.probabilities[self.index])

    def label_set(self, level: float = USUAL_LEVEL) -> tuple[str, ...] | None:
        """The labels that are possible when the true one shall be among them in a share `level` of all pictures.

        The most probable one is always among them. All of them mean “no answer”; None where the model's card has no
        numbers for it.
        """
        if self.label_sets is None:
            return None
        members = self.label_sets.members(self.probabilities, level)
        return tuple(name for name, possible in zip(self.label_space.names, members, strict=True) if possible)


class Predictor:
    """A model ready for use. It never changes, so any number of threads may share one.

    Inference runs in float64: what a bag gets doesn't depend on the bags it is predicted together with.
    """

    def __init__(self, network: Network, scaler: Scaler, card: Card, known: KnownBags | None = None) -> None:
        self.card = card
        self.known = known
        self.scaler = scaler
        self.network = network.to(device="cpu", dtype=torch.float64).eval().requires_grad_(False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Tensors travel to another process by files that only its parent's family may open; arrays as they are.
        state = {name: tensor.numpy() for name, tensor in self.network.state_dict().items()}
        return _rebuilt, (self.card, state, self.scaler, self.known)

    def with_card(self, card: Card) -> Predictor:
        """The same model with another card."""
        return Predictor(self.network, self.scaler, card, self.known)

    @classmethod
    def load(cls, model_id: str, folder: Path | None = None) -> Predictor:
        """The model called `model_id` in `folder` (default: the models that ship), checked before use."""
        path = find_card(model_id, folder)
        return cls.of_card(Card.read(path), path.parent)

    @classmethod
    def of_card(cls, card: Card, folder: Path | None = None) -> Predictor:
        """The model of a card that was read already; only the weights in `folder` are read."""
        check_generator_files(card)
        arrays = read_weights(card, weights_path(card, folder))
        network = _blank(card)
        expected = {f"network.{name}": tuple(value.shape) for name, value in network.state_dict().items()}
        expected |= {"scaler.shift": (card.dim,), "scaler.scale": (card.dim,), "scaler.limit": (1,)}
        if card.acceptance is not None:
            p = card.acceptance.pictures
            widths = {"embeddings": network.config.hidden, "means": card.dim, "meant": len(card.label_space)}
            expected |= {f"known.{name}": (p, width) for name, width in widths.items()}
        _check_shapes(card, expected, {name: array.shape for name, array in arrays.items()})
        _check_values(card, arrays)
        state = {
            name.removeprefix("network."): torch.from_numpy(array)
            for name, array in arrays.items()
            if name.startswith("network.")
        }
        network.load_state_dict(state, assign=True)
        scaler = Scaler(arrays["scaler.shift"], arrays["scaler.scale"], float(arrays["scaler.limit"][0]))
        known = None if card.acceptance is None else KnownBags.of(arrays)
        return cls(network, scaler, card, known)

    @classmethod
    def from_fitted(cls, fitted: Fitted, card: Card, known: KnownBags | None = None) -> Predictor:
        """A model that was just trained and lies in no file; the fitted model itself stays as it is."""
        return cls(copy.deepcopy(fitted.network), fitted.scaler, card, known)

    def chance(self, features: np.ndarray) -> float | None:
        """How likely the answer for (n, d) instances is right; None where the card has no numbers for it."""
        if self.card.acceptance is None or self.known is None:
            return None
        reading = read_bag(self.network, self.scaler, features)
        return self.card.acceptance.chance(signs(reading, self.known))

    def predict(self, bag: Instances) -> Prediction:
        """The prediction for a bag made by the generator, with the parameters, that the model learned from."""
        self.check_fits(bag.generator, bag.params, bag.features.shape[1])
        return self.predict_features(bag.features)

    def predict_features(self, features: np.ndarray) -> Prediction:
        """The prediction for (n, d) instances, however they were made."""
        return self._predict(np.asarray(features), np.array([len(features)]))[0]

    def predict_bags(self, bags: Sequence[Instances]) -> list[Prediction]:
        """The predictions for many bags at once, the same as one by one."""
        for bag in bags:
            self.check_fits(bag.generator, bag.params, bag.features.shape[1])
        if not bags:
            return []
        rows = [bag.features for bag in bags]
        return self._predict(np.concatenate(rows), np.array([len(features) for features in rows]))

    def predict_dataset(self, dataset: BagDataset) -> list[Prediction]:
        """The predictions for every bag of a data set of the same generator and classes, or one nobody has labelled."""
        self.check_fits(dataset.generator, dataset.params, dataset.dim)
        if dataset.label_space not in (UNLABELLED, self.card.label_space) and (
            dataset.label_space.names != self.card.label_space.names
        ):
            raise InputError(
                f"The model “{self.card.id}” knows the classes {', '.join(self.card.label_space.names)}; the bags "
                f"have {', '.join(dataset.label_space.names)}.",
                "Choose a model of the same label space.",
            )
        return self._predict(dataset.instances, dataset.sizes)

    def probabilities(self, instances: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Calibrated probabilities (m, k) of bags given as (N, d) instances one after the other and (m,) sizes."""
        return temper(infer(self.network, self.scaler, instances, sizes).probabilities, self.card.temperature)

    def instance_logits(
        self, features: np.ndarray, bag_of: np.ndarray | None = None, bags: int = 1
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What eq. 3 takes the softmax of, (n,), and every instance's votes W_cᵀh_j + b_c of eq. 4, (n, k).

        `bag_of` (n,) says which of the `bags` each instance belongs to; without it they are one bag.
        """
        of = torch.from_numpy(np.zeros(len(features), np.int64) if bag_of is None else bag_of)
        with torch.no_grad(), one_thread():
            scores, votes = self.network.read(torch.from_numpy(self.scaler.transform(features)), of, bags)
            return self.network.attention_logits(scores, of, bags), votes

    def check_fits(self, generator: str, params: Mapping[str, Any], dim: int) -> None:
        """Refuse bags that were made in another way than the ones the model learned from."""
        card = self.card
        if generator != card.generator:
            raise InputError(
                f"The model “{card.id}” reads bags of the generator “{card.generator}”, this one is of “{generator}”.",
                f"Choose the generator “{card.generator}” or another model.",
            )
        given, wanted = plain_json(params), plain_json(card.generator_params)
        for name in sorted(given.keys() | wanted.keys()):
            if given.get(name) != wanted.get(name):
                raise InputError(
                    f"The model “{card.id}” reads bags made with {name} = {wanted.get(name)!r}, "
                    f"this one was made with {given.get(name)!r}.",
                    "Make the bag with the parameters on the model's card.",
                )
        if dim != card.dim:
            raise InputError(
                f"The model “{card.id}” reads {card.dim} features per instance, these have {dim}.",
                "Make the bag with the generator on the model's card.",
            )

    def _predict(self, instances: InstanceTable, sizes: np.ndarray) -> list[Prediction]:
        if instances.ndim != 2:
            raise InputError(
                f"A bag has {instances.ndim} dimension(s), its shape is {instances.shape}.",
                "Give it as a table of instances by features, (n, d).",
            )
        if len(instances) == 0:
            raise InputError(f"A bag of the shape {instances.shape} is empty.", "Give at least one instance.")
        if isinstance(instances, np.ndarray) and not np.isfinite(instances).all():
            raise InputError("The bag holds numbers that are not finite.", "Make it again from the picture.")
        outputs = infer(self.network, self.scaler, instances, sizes)
        assert outputs.attention is not None  # a network has it
        calibrated = temper(outputs.probabilities, self.card.temperature)
        attention, sets = np.split(outputs.attention, np.cumsum(sizes)[:-1]), self.card.label_sets
        return [
            Prediction(chances.copy(), raw.copy(), looked.copy(), self.card.label_space, self.card.id, sets)
            for chances, raw, looked in zip(calibrated, outputs.probabilities, attention, strict=True)
        ]


def _blank(card: Card) -> Network:
    """The network of a card without weights: only the shapes are wanted."""
    with torch.device("meta"):
        return Network(_config(card), card.dim, len(card.label_space))


def _rebuilt(card: Card, state: Mapping[str, np.ndarray], scaler: Scaler, known: KnownBags | None = None) -> Predictor:
    network = _blank(card)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()}, assign=True)
    return Predictor(network, scaler, card, known)


def _config(card: Card) -> Config:
    try:
        config = Config.from_dict(card.config)
    except InputError as error:
        raise InputError(f"The settings in “{card.id}.json” are damaged: {error.what}", error.fix) from None
    if config.method != card.method:
        raise InputError(
            f"“{card.id}.json” names the method “{card.method}”, its settings are of “{config.method}”.",
            "Restore the file or train the model again.",
        )
    return config


def _check_values(card: Card, arrays: Mapping[str, np.ndarray]) -> None:
    """Only finite numbers give an answer; the scaling divides by `scale`, and only its limit may be infinite.

    Finite numbers can be so large that what is computed from them is not finite any more.
    """
    for name, array in arrays.items():
        usable = array.dtype.kind == "f" and not np.isnan(array).any()
        if name != "scaler.limit":
            usable = usable and bool((np.abs(array) <= _LARGEST).all())
        if name in ("scaler.scale", "scaler.limit"):
            usable = usable and bool((array >= 1 / _LARGEST).all())
        if not usable:
            raise InputError(
                f"“{card.id}.safetensors” holds numbers in “{name}” that no model can work with.",
                "Restore both files of the model, or train it again.",
            )


def _check_shapes(card: Card, expected: Mapping[str, tuple[int, ...]], found: Mapping[str, tuple[int, ...]]) -> None:
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            wanted, there = (
                "×".join(map(str, shapes[name])) if name in shapes else "nothing" for shapes in (expected, found)
            )
            raise InputError(
                f"“{card.id}.safetensors” doesn't fit its card: “{name}” should be {wanted} for {card.dim} features "
                f"and {len(card.label_space)} classes, but is {there}.",
                "Restore both files of the model, or train it again.",
            )
