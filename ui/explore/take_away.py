"""Step 8, take away: everything on the page as files, built only when somebody asks for them."""

from collections.abc import Callable

import streamlit as st

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.exports.geojson import geojson
from ui.explore.exports.instances_csv import instances_csv
from ui.explore.exports.painted import painted_png
from ui.explore.exports.provenance import provenance_json
from ui.explore.exports.report import html_report
from ui.figures.score_scale import SCALES, coloured
from ui.frame.download import download_button
from ui.frame.log import model_name, picture_name

# What each file is: key, icon, ending, kind. The words are in `texts`.
FILES = (
    ("png", ":material/image:", "png", "image/png"),
    ("report", ":material/description:", "html", "text/html"),
    ("csv", ":material/table:", "csv", "text/csv"),
    ("json", ":material/data_object:", "json", "application/json"),
    ("geojson", ":material/polyline:", "geojson", "application/geo+json"),
)


def show_take_away(analysis: Analysis) -> None:
    """One button per file. Names are made of the picture's hash, never of what the person called it."""
    st.subheader(texts.TAKE_AWAY_HEADING, divider="gray")
    facts = picture_name(analysis.image.sha256) | model_name(analysis.predictor.card)
    stem = f"elimipl-{analysis.image.sha256[:12]}-{analysis.predictor.card.id}"
    builders: dict[str, Callable[[], str | bytes]] = {
        "png": lambda: _shown_map(analysis),
        "report": lambda: html_report(analysis),
        "csv": lambda: instances_csv(analysis),
        "json": lambda: provenance_json(analysis),
        "geojson": lambda: geojson(analysis),
    }
    with st.container(horizontal=True):
        for key, icon, ending, mime in FILES:
            download_button(
                texts.TAKE_AWAY_LABELS[key],
                builders[key],
                f"{stem}.{ending}",
                mime,
                facts,
                icon=icon,
                key=f"download-{key}",
                help=texts.TAKE_AWAY_HELP[key],
            )


def _shown_map(analysis: Analysis) -> bytes:
    """The map as it is set on the page."""
    state = st.session_state
    source = state.get("map", "attention")
    name = state.get("map_class", texts.PREDICTED_CLASS)
    index = analysis.prediction.index if name == texts.PREDICTED_CLASS else analysis.labels.index(name)
    signed = source != "attention"
    scores = coloured(analysis.scores(source, index), state.get("scale", SCALES[0]), signed, state.get("fixed", False))
    return painted_png(analysis, scores, state.get("colours", "Cividis"))
