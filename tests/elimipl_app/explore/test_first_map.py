"""The map that the page opens with, and how it is painted."""

from dataclasses import replace

import numpy as np

from elimipl.answers.predictor import Predictor
from elimipl_app.explore.analysis import FILLED, ViewState, first_map_of
from elimipl_app.explore.map_figure import map_figure
from elimipl_app.explore.maps import map_scores
from elimipl_app.explore.picture_export import painted_panels
from elimipl_app.shell.palette import DARK, LIGHT
from tests.elimipl_app.explore.large_sample import analysis_of
from tests.pages.test_explore import drawn_chart, opened


def test_the_first_map_is_the_one_measured_best_else_what_speaks_for_the_answer():
    card = Predictor.load("colon-deep-elimipl").card
    assert card.first_map is not None
    assert first_map_of(replace(card, first_map=None)) == "contribution"
    best = replace(card.first_map, auroc=0.9, darkness=0.6)
    for name, kind in {"attention": "attention", "contribution": "contribution", "vote": "single"}.items():
        assert first_map_of(replace(card, first_map=replace(best, name=name))) == kind
    other = replace(best, name="attention of the answer", others={"attention": 0.7, "contribution": 0.8})
    assert first_map_of(replace(card, first_map=other)) == "contribution"
    assert first_map_of(replace(card, first_map=replace(best, auroc=0.55))) == "contribution"


def test_links_without_a_map_open_it_and_old_links_keep_theirs():
    page = opened(sample="phantom-tum", generator="row", labels="tissue7")
    assert page.segmented_control(key="map").value == "contribution"
    old = opened(sample="phantom-tum", generator="row", labels="tissue7", map="attention")
    assert old.segmented_control(key="map").value == "attention"
    assert not any(trace["type"] == "heatmap" for trace in drawn_chart(page, "overlay")["data"])
    filled = opened(sample="phantom-tum", generator="row", labels="tissue7", painted="filled")
    assert any(trace["type"] == "heatmap" for trace in drawn_chart(filled, "overlay")["data"])


def test_lines_leave_the_tissue_as_it_is_in_both_themes_and_in_the_file():
    analysis = analysis_of("deep")
    view = ViewState(kind="contribution", class_index=analysis.prediction.index)
    for palette in (LIGHT, DARK):
        figure = map_figure(analysis, view, map_scores(analysis, view), palette)
        assert any(str(trace.name).startswith("contour") for trace in figure.data)
        assert not any(trace.type == "heatmap" or trace.fill for trace in figure.data)
    lines, filled = (painted_panels(analysis, one)[0][1] for one in (view, replace(view, painted=FILLED)))
    changed = [(one != analysis.image.pixels).any(axis=-1).mean() for one in (lines, filled)]
    assert 0 < changed[0] < 0.35 < changed[1]
    assert np.isfinite(changed).all()
