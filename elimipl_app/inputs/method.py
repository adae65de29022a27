"""Step 2, the method: which generator makes the bag, and which model reads it."""

import streamlit as st

from bag_generators import GENERATORS, InputError
from elimipl.answers.answer import DRAWINGS_ONLY
from elimipl.answers.predictor import Predictor
from elimipl.cards.card import Card
from elimipl.cards.files import DEFAULT
from elimipl.cards.wording import all_sentences
from elimipl.datasets.pictures import PHANTOMS
from elimipl_app.inputs import picker
from elimipl_app.runs.trained import choose_trained, trained_models
from elimipl_app.shell import address, texts
from elimipl_app.shell.cached import predictor, shipped_models
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error

DEFAULT_GENERATOR = "deep"
DIGITS = 12
"""Of the sha256 of the weights in a link."""
FIRST_MODELS = (DEFAULT, "drawn7-deep-elimipl", "tissue7-deep-elimipl")
"""Ids of the models that read pictures at first, the best one first: of tissue, of drawings."""
_READS_DRAWINGS, _LEFT = "reads_drawings", "models_left"


def fit_to_picture(drawn: bool) -> None:
    """Turn to a model of drawings when a drawing is opened, and to one of tissue when anything else is.

    A link that names a generator or classes, and a person who chooses them afterwards, are not overruled: who comes
    back from the other kind finds the model left there. Who comes from training a model finds its generator.
    """
    state = st.session_state
    before = state.get(_READS_DRAWINGS)
    state[_READS_DRAWINGS] = drawn
    if before == drawn or (before is None and {"generator", "labels"} & {*address.everything(), *state}):
        return
    if before is None and (own := trained_models()):
        state["generator"] = list(own.values())[-1].card.generator
        return
    left = state.setdefault(_LEFT, {})
    if before is not None:
        left[before] = state.get("generator"), state.get("labels")
    usable = [card for card in _shipped()[0] if card.generator in GENERATORS]
    fitting = [card for card in usable if (card.pictures == PHANTOMS) == drawn] or usable
    if left.get(drawn) in [(card.generator, card.label_space.id) for card in fitting]:
        state["generator"], state["labels"] = left[drawn]
        return
    kept = [card for card in fitting if card.generator == state.get("generator", DEFAULT_GENERATOR)]
    wanted = [card for name in FIRST_MODELS for card in fitting if card.id == name]
    order = wanted if before is None else [*(card for card in wanted if card in kept), *kept, *wanted]
    if best := next(iter([*order, *fitting]), None):
        state["generator"], state["labels"] = best.generator, best.label_space.id


def keep_model() -> None:
    """Let the picture that is opened next be read by the model at hand, which it was classified with already."""
    st.session_state[_READS_DRAWINGS] = False


def choose_generator() -> str:
    """Name of the chosen generator."""
    st.subheader(texts.GENERATOR_HEADING, divider="gray")
    chosen = picker.choose_generator("generator", default=DEFAULT_GENERATOR, label_hidden=True)
    st.caption(GENERATORS[chosen].summary)
    return chosen


def choose_model(generator: str) -> Predictor | None:
    """The model for this generator: label space × method. None where none can be used; the reason is shown."""
    st.subheader("Model", divider="gray")
    trained = choose_trained(generator)
    if trained is not None:
        _show_measured(trained.card)
        return trained
    cards, problems = _shipped()
    for problem in problems:
        show_error(problem)
    fitting = [card for card in cards if card.generator == generator]
    if not fitting:
        st.warning(texts.NO_MODEL, icon=":material/warning:")
        return None
    card = _choose_card(fitting)
    try:
        return predictor(card)
    except InputError as error:
        show_error(error)
        return None


def follow_weights(card: Card) -> None:
    """Let the address name the weights that answer, and say so where a link was made with others."""
    digest = card.sha256[:DIGITS]
    other = texts.other_weights(escape(card.id))
    address.look_at("weights", "Model weights", address.named({digest: digest}), f"“{digest}”", other)
    address.hold("weights", [digest])


def _shipped() -> tuple[tuple[Card, ...], tuple[InputError, ...]]:
    try:
        return shipped_models()
    except InputError as error:
        return (), (error,)


def _choose_card(cards: list[Card]) -> Card:
    spaces = {card.label_space.id: card.label_space for card in cards}
    space = picker.choose_space("labels", spaces)
    methods = {card.method: card for card in cards if card.label_space.id == space}
    method = picker.choose_method(
        "method",
        sorted(methods, reverse=True),
        default=max(methods),
        title=str.upper,
        shape="buttons",
        help=texts.METHOD_HELP,
    )
    card = methods[method]
    _show_measured(card)
    return card


def _show_measured(card: Card) -> None:
    """How well the model does, and behind a click everything that was measured of it and on what."""
    first, *more = all_sentences(card)
    drawings = f"{DRAWINGS_ONLY} " if card.pictures == PHANTOMS else ""
    st.caption(escape(f"{drawings}{first}"))
    with st.popover("What was measured", icon=":material/fact_check:"):
        st.markdown("\n".join(f"- {escape(said)}" for said in more))
