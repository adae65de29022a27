"""The page itself: picture and answer on the first screen, everything else below."""

import streamlit as st

from bag_generators import InputError
from ui.explore.analysis import analyse
from ui.explore.answer_panel import show_answer
from ui.explore.bag import show_bag_alone
from ui.explore.below import show_below
from ui.explore.candidates import choose_candidates
from ui.explore.field import choose_field
from ui.explore.map_panel import show_map
from ui.explore.method import choose_generator, choose_model, fit_to_picture, follow_weights
from ui.explore.picture import choose_picture
from ui.explore.sentences import candidates_sentence
from ui.explore.take_away import show_take_away
from ui.explore.texts import CANDIDATES_HEADING
from ui.explore.upload_link import show_waiting
from ui.frame.markdown import escape
from ui.frame.page import show_error, show_notes, start_page


def show_page() -> None:
    """Upload a picture, get the class, see and question what the model looked at."""
    start_page("Explore", compact=True)
    with st.sidebar:
        picture = choose_picture()
        if picture is not None:
            show_notes(picture.image.notes)
            fit_to_picture(picture.is_drawn)
        generator = choose_generator()
        predictor = choose_model(generator)
    if predictor is not None:
        follow_weights(predictor.card)
    show_waiting()
    if picture is not None and predictor is None:
        show_bag_alone(picture.image, generator)
    if picture is None or predictor is None:
        st.stop()

    with st.container(key="panels"):
        left, right = st.columns([1.15, 1], gap="medium")
    with left:
        map_place, field_place = st.container(gap="xsmall", key="map-place"), st.container()
    with right:
        answer_place, candidates_place = st.container(gap="xsmall", key="answer-place"), st.container(horizontal=True)
    for place in (map_place, answer_place):
        place.empty()  # a container without anything in it takes no room
    try:
        with field_place:
            view = choose_field(picture, predictor.card.generator)
        analysis = analyse(view, picture.sample, predictor, true_label=picture.label)
    except InputError as error:
        show_error(error)
        st.stop()
    with candidates_place:
        said = st.container(width="stretch")
        with st.popover(CANDIDATES_HEADING, icon=":material/groups:"):
            analysis = analysis.with_candidates(choose_candidates(analysis))
        said.caption(escape(candidates_sentence(analysis)))

    with map_place:
        show_map(analysis)
    with answer_place:
        show_answer(analysis)
    show_take_away(analysis)
    show_below(analysis)
