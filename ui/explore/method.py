"""Step 2, the method: which generator makes the bag, and which model reads it."""

import streamlit as st

from bag_generators import GENERATORS, InputError
from elimipl.cards.card import Card
from elimipl.predictor import Predictor
from ui.frame import picker, texts
from ui.frame.cached import predictor, shipped_models
from ui.frame.markdown import escape
from ui.frame.page import show_error
from ui.train.trained import choose_trained


def choose_generator() -> str:
    """Name of the chosen generator."""
    st.subheader(texts.GENERATOR_HEADING, divider="gray")
    chosen = picker.choose_generator("generator", label_hidden=True)
    st.caption(GENERATORS[chosen].summary)
    return chosen


def choose_model(generator: str) -> Predictor | None:
    """The model for this generator: label space × method. None where none can be used; the reason is shown."""
    st.subheader(texts.MODEL_HEADING, divider="gray")
    trained = choose_trained(generator)
    if trained is not None:
        st.caption(_measured(trained.card))
        return trained
    try:
        cards, problems = shipped_models()
    except InputError as error:
        cards, problems = (), (error,)
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
    st.caption(_measured(card))
    return card


def _measured(card: Card) -> str:
    accuracy = card.accuracy
    if accuracy is None:
        return texts.NO_ACCURACY
    spread = f" ± {accuracy.std:.3f}" if accuracy.std is not None else ""
    return f"Accuracy {accuracy.value:.3f}{spread} (n = {accuracy.n}, {escape(accuracy.split)})."
