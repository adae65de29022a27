"""Answers kept between reruns, looked up by the picture's sha256 (never by array: large arrays are sampled).

Everything kept here is read-only, so one copy can serve every visitor who has the same picture.
"""

import hashlib

import numpy as np
import streamlit as st

from bag_generators import Bag, InputError, TissueImage, generate
from bag_generators.scale import ScaleDecision, decide_scale
from elimipl.answers import explain
from elimipl.answers.predictor import Predictor
from elimipl.cards.card import Card
from elimipl.cards.files import card_paths, usable_models
from elimipl.datasets.benchmark_sets import build_digits
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl_app.server.log import picture_name, timed

FEWEST_STEPS, MOST_STEPS, ROWS = 8, 64, 4096
"""Of the path of integrated gradients: as many steps as make so many rows."""


def shipped_models() -> tuple[tuple[Card, ...], tuple[InputError, ...]]:
    """The models that can be used and what is wrong with the others; read again when a card has changed."""
    cards = [(str(path), path.stat()) for path in card_paths().values()]
    return _models(tuple((path, card.st_mtime_ns, card.st_size) for path, card in cards))


@st.cache_resource(max_entries=2, show_spinner=False)
def _models(stamps: tuple[tuple[str, int, int], ...]) -> tuple[tuple[Card, ...], tuple[InputError, ...]]:
    return usable_models()


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={Card: lambda card: card.fingerprint})
def predictor(card: Card) -> Predictor:
    """The shipped model of a card that was read already; one whose card or weights have changed is read anew."""
    with timed("model", model=card.id):
        return Predictor.of_card(card)


@st.cache_resource(max_entries=64, show_spinner=False)
def _bag(
    sha256: str, microns: float | None, generator: str, params: tuple[tuple[str, object], ...], _image: TissueImage
) -> Bag:
    with timed("bag", **picture_name(sha256), generator=generator):
        return generate(generator, _image, **dict(params))


def bag_of(image: TissueImage, generator: str, **params: object) -> Bag:
    """The bag of a picture; the same pixels at another scale are another bag."""
    return _bag(image.sha256, image.microns_per_pixel, generator, tuple(sorted(params.items())), image)


@st.cache_resource(max_entries=256, show_spinner=False)
def _scale(sha256: str, _image: TissueImage) -> ScaleDecision:
    return decide_scale(_image)


def scale_of(image: TissueImage) -> ScaleDecision:
    """The scale to read a picture at where no person sets it; nuclei are measured once."""
    return decide_scale(image) if image.microns_per_pixel is not None else _scale(image.sha256, image)


@st.cache_resource(max_entries=256, show_spinner=False)
def _explanation(
    features: str, model: str, kind: str, column: int | None, _predictor: Predictor, _bag: Bag
) -> np.ndarray:
    if column is None:
        scores: np.ndarray = getattr(explain, kind)(_predictor, _bag)
    else:
        steps = max(FEWEST_STEPS, min(MOST_STEPS, ROWS // len(_bag)))
        scores = explain.integrated_gradients(_predictor, _bag, steps, [column])[:, 0]
    scores.flags.writeable = False
    return scores


def explanation(kind: str, model: Predictor, bag: Bag) -> np.ndarray:
    """What the function of `elimipl.answers.explain` called `kind` says of every instance and class, (n, k)."""
    return _explanation(_sum(bag), model.card.fingerprint, kind, None, model, bag)


def gradients(model: Predictor, bag: Bag, column: int) -> np.ndarray:
    """Integrated gradients for one class, (n,): all of them would keep a person waiting. Large bags get fewer steps."""
    return _explanation(_sum(bag), model.card.fingerprint, "integrated_gradients", column, model, bag)


def _sum(bag: Bag) -> str:
    return hashlib.sha256(bag.features.data).hexdigest()


@st.cache_resource(max_entries=9, show_spinner=False)
def named_bags(name: str) -> BagDataset:
    """A bag set that ships, or “digits”, in which no picture comes twice; read-only, so all visitors share it."""
    return build_digits() if name == "digits" else load_bag_set(name)
