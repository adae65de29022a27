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
from ui.explore.view_state import shown_now
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
        "png": lambda: painted_png(analysis, shown_now(analysis)),
        "report": lambda: html_report(analysis, shown_now(analysis)),
        "csv": lambda: instances_csv(analysis, shown_now(analysis)),
        "json": lambda: provenance_json(analysis, shown_now(analysis)),
        "geojson": lambda: geojson(analysis, shown_now(analysis)),
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
