"""How far a map can be trusted: what was measured of maps like it, and what happens to this answer by its order."""

import streamlit as st

from elimipl.cards.wording import kept_sentence
from elimipl.trust import FlippingCurve, flipping_curve
from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.figures.flipping import flipping_figure
from ui.explore.maps import map_scores
from ui.explore.view_state import ViewState, bag_key, shown_now
from ui.frame import charts
from ui.frame.markdown import escape
from ui.frame.palette import current_palette


def show_trust_line(analysis: Analysis, view: ViewState) -> None:
    """One line from the model's card about this kind of map; nothing was measured of older models."""
    st.caption(f":material/verified: {sentences.trust_line(analysis.predictor.card, view.kind)}")


@st.fragment
def show_flipping(analysis: Analysis) -> None:
    """What becomes of the answer while the patches the map names first are taken away, against random orders."""
    view = shown_now(analysis)
    curve = _curve(bag_key(analysis), analysis.predictor.card.fingerprint, view.kind, view.class_index, analysis, view)
    name = analysis.labels.titles[_about(analysis, view)]
    charts.show(
        flipping_figure(curve, name, current_palette()), key="flipping", alt=sentences.flipping_alt(curve, name)
    )
    st.caption(sentences.flipping_sentence(curve, texts.SOURCE_TITLES[view.kind], name))
    if (kept := kept_sentence(analysis.predictor.card)) is not None:
        st.caption(escape(kept))


def _about(analysis: Analysis, view: ViewState) -> int:
    """The class whose probability is followed: the map's own, or the first choice for maps about all classes."""
    return analysis.prediction.index if view.kind in ("attention", "vote") else view.class_index


@st.cache_resource(max_entries=64, show_spinner=False)
def _curve(bag: str, model: str, kind: str, class_index: int, _analysis: Analysis, _view: ViewState) -> FlippingCurve:
    scores = map_scores(_analysis, _view)
    return flipping_curve(_analysis.predictor, _analysis.bag, scores, _about(_analysis, _view))
