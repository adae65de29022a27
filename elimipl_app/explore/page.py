"""The page itself: picture and answer on the first screen, everything else below."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import streamlit as st

from bag_generators import InputError
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import Analysis, ViewState, analyse, keep_shown, shown_now
from elimipl_app.explore.answer import choose_candidates, show_answer
from elimipl_app.explore.exports import geojson, instances_csv, provenance_json
from elimipl_app.explore.links import follow_link
from elimipl_app.explore.map_panel import show_map
from elimipl_app.explore.picture_export import figure_png, figure_svg
from elimipl_app.explore.report import html_report
from elimipl_app.explore.tabs import show_bag_alone, show_below
from elimipl_app.inputs.gallery import show_waiting
from elimipl_app.inputs.method import choose_generator, choose_model, fit_to_picture, follow_weights
from elimipl_app.inputs.picture import choose_field, choose_picture
from elimipl_app.server.log import model_name, picture_name
from elimipl_app.shell.download import download_button
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error, show_notes, start_page

SLOW_FROM = 500_000
"""Pixels of a picture that takes long enough to be told so."""
Build: TypeAlias = Callable[[Analysis, ViewState], str | bytes]
DOWNLOADS: dict[str, tuple[Build, str, str, str, str, str]] = {
    "png": (figure_png, "PNG", "image", "png", "image/png", texts.ABOUT_PNG),
    "svg": (figure_svg, "SVG", "draw", "svg", "image/svg+xml", texts.ABOUT_SVG),
    "report": (html_report, "Report", "description", "html", "text/html", texts.ABOUT_REPORT),
    "csv": (instances_csv, "CSV", "table", "csv", "text/csv", "One row per instance: place, scores, features."),
    "json": (provenance_json, "JSON", "data_object", "json", "application/json", texts.ABOUT_JSON),
    "geojson": (geojson, "GeoJSON", "polyline", "geojson", "application/geo+json", texts.ABOUT_GEOJSON),
}
"""Who builds each file, what its button is called, its icon, ending and kind, and what it holds."""


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
        field_place, map_place = st.container(), st.container(gap="xsmall", key="map-place")
        said_place = st.container(key="field")
    with right:
        answer_place, candidates_place = st.container(gap="xsmall", key="answer-place"), st.container(horizontal=True)
    for place in (map_place, answer_place):
        place.empty()  # a container without anything in it takes no room
    try:
        with field_place:
            view = choose_field(picture, predictor.card.generator, said_place)
        image = view.image
        slow = f"Reading {image.width:,} × {image.height:,} px…" if image.width * image.height > SLOW_FROM else ""
        with map_place, st.spinner(slow, show_time=True) if slow else nullcontext():
            analysis = analyse(view, picture.sample, predictor, true_label=picture.label)
    except InputError as error:
        show_error(error)
        st.stop()
    follow_link(analysis)
    with candidates_place:
        said = st.container(width="stretch")
        with st.popover(texts.CANDIDATES_HEADING, icon=":material/groups:"):
            analysis = replace(analysis, candidates=choose_candidates(analysis))
        said.caption(escape(texts.candidates_sentence(analysis)))

    keep_shown(analysis)
    with map_place:
        show_map(analysis)
    with answer_place:
        show_answer(analysis)
    _show_downloads(analysis)
    show_below(analysis)


def _built(build: Build, analysis: Analysis) -> str | bytes:
    return build(analysis, shown_now(analysis))


def _show_downloads(analysis: Analysis) -> None:
    """A button per file, built when asked for. Names are made of the picture's hash, never of what it was called."""
    st.subheader("Take away", divider="gray")
    facts = picture_name(analysis.image.sha256) | model_name(analysis.predictor.card)
    stem = f"elimipl-{analysis.image.sha256[:12]}-{analysis.predictor.card.id}"
    with st.container(horizontal=True):
        for key, (build, label, icon, ending, mime, about) in DOWNLOADS.items():
            download_button(
                label,
                partial(_built, build, analysis),
                f"{stem}.{ending}",
                mime,
                facts,
                icon=f":material/{icon}:",
                key=f"download-{key}",
                help=about,
            )
