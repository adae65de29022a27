"""Maps in lines: around at most a quarter, one hue and one stroke for each side, nothing where nothing stands out."""

import numpy as np
import pytest

from elimipl_app.charts.contours import add_contours, contours_of, dashes
from elimipl_app.charts.drawing import Drawing
from elimipl_app.charts.map_layer import COLOUR_PAIRS, Layer, diverging

EDGES = np.arange(0, 170, 10)
NAMES = ("for", "against")


def layer_of(cells: np.ndarray) -> Layer:
    return Layer(EDGES, EDGES, cells, diverging("Teal"), "")


def test_both_sides_have_their_line_hue_and_stroke():
    cells = np.zeros((16, 16))
    cells[2:6, 2:6], cells[10:14, 10:14] = 0.8, -0.6
    high, low = contours_of(layer_of(cells), "Teal", NAMES)
    assert (high.called, low.called, high.dashed, low.dashed) == ("for", "against", False, True)
    assert (low.colour, high.colour) == COLOUR_PAIRS["Teal"]
    assert high.share == low.share == pytest.approx(16 / 256)
    assert np.concatenate(high.lines).max() < 80 < np.concatenate(low.lines).min()
    drawing = Drawing()
    add_contours(drawing, (high, low), 0.75, x=1000)
    assert all(trace["type"] == "scatter" and "fill" not in trace for trace in drawing.traces)
    assert {trace["line"]["dash"] for trace in drawing.traces if trace["line"]["color"] == low.colour} == {
        "dash",
        "solid",
    }
    assert np.nanmin(drawing.traces[0]["x"]) > 1000


def test_a_line_goes_around_a_quarter_at_most():
    cells = np.random.default_rng(0).uniform(0.2, 1, (16, 16))
    (only,) = contours_of(layer_of(cells), "Teal", NAMES)
    assert only.called == "for"
    assert 0.2 < only.share <= 0.26


@pytest.mark.parametrize("cells", [np.zeros((16, 16)), np.full((16, 16), 0.9), np.full((16, 16), np.nan)])
def test_where_nothing_stands_out_there_is_no_line(cells):
    assert contours_of(layer_of(cells), "Teal", NAMES) == ()


def test_dashes_are_half_of_the_line():
    pieces = dashes(np.array([[0.0, 0.0], [60.0, 0.0]]), 6)
    assert len(pieces) == 5
    assert sum(np.ptp(piece[:, 0]) for piece in pieces) == pytest.approx(30)
