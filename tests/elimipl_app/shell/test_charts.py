"""One chart house: one place that draws, one look per theme."""

import ast
from pathlib import Path

import plotly.graph_objects as go
import pytest

from elimipl_app.shell.charts import CLEAR, look
from elimipl_app.shell.palette import DARK, LIGHT

ROOT = Path(__file__).resolve().parents[3]
HOUSE = ROOT / "elimipl_app" / "shell" / "charts.py"
ELSEWHERE = [path for path in (*(ROOT / "elimipl_app").rglob("*.py"), *(ROOT / "pages").rglob("*.py")) if path != HOUSE]


def test_only_the_chart_house_draws_and_says_how_figures_look():
    for path in ELSEWHERE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert "plotly_chart" not in called, path
        set_here = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
        set_here |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not set_here & {"paper_bgcolor", "plot_bgcolor", "gridcolor"}, path


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_figure_takes_the_look_of_the_theme_but_keeps_what_it_sets_itself(palette):
    figure = go.Figure().update_layout(template=look(palette), margin={"b": 65}).update_xaxes(title="epoch")
    drawn = figure.to_plotly_json()["layout"]
    shared = drawn["template"]["layout"]
    assert shared["font"]["color"] == palette.text
    assert shared["paper_bgcolor"] == shared["plot_bgcolor"] == CLEAR
    assert shared["xaxis"]["gridcolor"] == shared["yaxis"]["gridcolor"] == palette.grid
    assert drawn["margin"]["b"] == 65
