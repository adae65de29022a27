"""Figures that are written down unchecked are what Plotly would have accepted, to the last property."""

import itertools
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from elimipl.candidates.labels import TISSUE7
from elimipl_app.charts.bars import BarGroup, class_bars, instance_bars, score_histogram, three_bars
from elimipl_app.charts.drawing import Drawing
from elimipl_app.explore.analysis import MAPS, ViewState, panels_for
from elimipl_app.explore.map_figure import map_figure
from elimipl_app.explore.maps import map_scores
from elimipl_app.shell.palette import DARK, LIGHT
from tests.elimipl_app.explore.large_sample import analysis_of

SCORES = np.array([0.1, 0.4, 0.2, 0.3])
TRUTH = np.array([False, True, False, True])
PROBABILITIES = np.full(7, 1 / 7)
CANDIDATES = np.arange(7) < 3


def check(figure: go.Figure) -> None:
    """Plotly reads every property anew, raises where it knows none of that name, and sends the same to a browser."""
    checked = go.Figure(figure.to_dict())
    assert json.loads(checked.to_json()) == json.loads(figure.to_json())


def test_unknown_properties_and_short_forms_are_found_and_what_is_none_is_not_set():
    drawing = Drawing()
    drawing.add_heatmap(z=[[1]], colorbar=None)
    assert "colorbar" not in drawing.traces[0]
    drawing.update_xaxes(title="instance")  # Plotly's program in the browser no longer knows this short form
    with pytest.raises(AssertionError):
        check(drawing.figure())
    drawing.add_bar(x=[1], y=[2], colour="red")
    with pytest.raises(ValueError, match="colour"):
        check(drawing.figure())


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("truth", [None, 2])
def test_bars(palette, truth):
    words = [f"class {name} in so many words that they take two lines" for name in TISSUE7.names]
    for grey, before, spelled in itertools.product((False, True), (None, PROBABILITIES), ((), words)):
        groups = [BarGroup("in", CANDIDATES, palette.in_set), BarGroup("out", ~CANDIDATES, palette.outside_set)]
        check(class_bars(PROBABILITIES, TISSUE7, groups, palette, truth, before, grey, spelled))
    for candidates in (CANDIDATES, np.ones(7, dtype=bool)):
        check(three_bars(PROBABILITIES, candidates, palette, truth))


def test_scores_of_instances():
    for truth, even_share in itertools.product((None, TRUTH), (False, True)):
        check(instance_bars(SCORES, LIGHT, "attention", truth, even_share))
    check(score_histogram(SCORES, LIGHT, "attention"))


@pytest.mark.parametrize("kind", MAPS)
def test_every_map_with_everything_on_it(kind):
    analysis = analysis_of("row")
    region = (((40.0, 80.0), (90.0, 80.0), (90.0, 120.0)),)
    for panels in panels_for(kind):
        view = ViewState(kind=kind, class_index=2, outlined=True, panels=panels, region=region, removed=(1, 3))
        check(map_figure(analysis, view, map_scores(analysis, view), LIGHT))
    hidden = ViewState(kind=kind, hidden=True)
    check(map_figure(analysis, hidden, map_scores(analysis, hidden), DARK))
