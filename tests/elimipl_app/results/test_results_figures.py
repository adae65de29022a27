"""The figures of the comparison: what their JSON says."""

import json
from itertools import product

import numpy as np
import pytest

from elimipl.benchmark.claims import PairedTest
from elimipl_app.results.comparison_figures import (
    MOST_LINES,
    Row,
    accuracy_bars,
    cost_scatter,
    curves_over_r,
    forest,
    kept_apart,
    line_colours,
)
from elimipl_app.shell.palette import DARK, LIGHT
from tests.elimipl_app.figure_json import numbers

ROWS = [
    Row("ELIMIPL", "MIPL", {0: 0.7, 1: 0.9}, (0.77, 0.02), 10.0),
    Row("ELIMIPL-entropy", "ours", {0: 0.85}, None, 20.0),
    Row("RC-Mean", "PLL", {0: 0.4, 1: 0.4}, (0.36, 0.01), None),
    Row("MIPLGP", "MIPL", {}, (0.72, 0.03)),
]


def traces(figure):
    return {trace["name"]: trace for trace in json.loads(figure.to_json())["data"]}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_bars_are_means_with_deviation_points_are_splits_and_marks_the_papers(palette):
    figure = accuracy_bars(ROWS, palette, "the paper")
    assert figure.layout.yaxis.ticktext == ("ELIMIPL", "ELIMIPL-entropy", "RC-Mean", "MIPLGP (not run)")
    drawn = traces(figure)
    bar = drawn["learns from bags"]
    np.testing.assert_allclose(numbers(bar["x"]), [0.8])
    np.testing.assert_allclose(numbers(bar["error_x"]["array"]), [0.1])
    assert sorted(numbers(drawn["one split"]["x"])) == [0.4, 0.4, 0.7, 0.85, 0.9]
    np.testing.assert_allclose(numbers(drawn["the paper"]["x"]), [0.77, 0.36, 0.72])
    np.testing.assert_allclose(numbers(drawn["the paper"]["y"]), [0, 2, 3])
    assert set(drawn) == {"learns from bags", "learns from bag features", "our change", "one split", "the paper"}


def test_a_forest_has_a_row_for_each_test_hollow_and_without_interval_where_splits_are_too_few():
    tests = [
        PairedTest("", "birdsong", (0.1, 0.2, 0.3), 3 / 7, 0.05, 1),
        PairedTest("", "crc-row", (-0.1,), 3 / 7),
    ]
    figure = forest(tests, LIGHT)
    assert figure.layout.yaxis.ticktext == ("Birdsong, r = 1 · 3 splits", "CRC-MIPL Row, rebuilt · 1 split")
    drawn = traces(figure)
    full, hollow = drawn["mean difference, 95 % interval"], drawn["one or two splits"]
    np.testing.assert_allclose(numbers(full["x"]), [0.2])
    np.testing.assert_allclose(numbers(full["error_x"]["array"]), [tests[0].interval[1] - 0.2])
    assert (hollow["marker"]["symbol"], numbers(hollow["x"]).tolist(), numbers(hollow["y"]).tolist()) == (
        "circle-open", [-0.1], [1],
    )  # fmt: skip
    np.testing.assert_allclose(numbers(hollow["error_x"]["array"]), [0])
    np.testing.assert_allclose(numbers(drawn["the paper"]["x"]), [0.05])
    low, high = figure.layout.xaxis.range
    assert low < -0.1 < tests[0].interval[1] < high


def test_no_colour_comes_twice_in_a_figure_with_lines():
    others = ["MIPLGP", "CE", "MA", "MA+SP", "MA+IN", "ABMIL"]
    for palette, names in product((LIGHT, DARK), (others, ["CE", "DEMIPL", *others[3:], "ELIMIPL"])):
        colours = line_colours(names, palette)
        assert len(set(colours.values())) == len(names) == MOST_LINES
        assert colours.get("ELIMIPL", palette.candidate) == palette.candidate
        assert colours.get("DEMIPL", palette.negative) == palette.negative


def test_the_points_of_a_method_stay_on_its_bar():
    ten = Row("CE", "MIPL", dict.fromkeys(range(10), 0.5))
    points = numbers(traces(accuracy_bars([ten], LIGHT, ""))["one split"]["y"])
    assert np.abs(points).max() < 0.33
    assert len(set(points)) == 10


def test_cost_is_on_a_logarithmic_axis_and_unknown_costs_are_left_out():
    figure = cost_scatter(ROWS, LIGHT, "seconds per split")
    drawn, layout = traces(figure), json.loads(figure.to_json())["layout"]
    assert set(drawn) == {"learns from bags", "our change"}
    assert layout["xaxis"]["type"] == "log"
    assert [(note["text"], note["x"]) for note in layout["annotations"]] == [
        ("ELIMIPL", pytest.approx(1)),
        ("ELIMIPL-entropy", pytest.approx(np.log10(20))),
    ]
    assert traces(cost_scatter(ROWS[2:], LIGHT, "seconds per split")) == {}


def test_names_are_moved_apart_and_keep_their_order():
    places = np.array([3.0, 1.0, 2.0, 40.0, 1.5])
    moved = kept_apart(places, 10.0)
    np.testing.assert_array_equal(np.argsort(moved), np.argsort(places))
    assert np.diff(np.sort(moved)).min() == pytest.approx(10)
    assert moved[3] == 40.0


def test_curves_have_a_point_for_each_r_that_was_run_and_the_papers_marks_once_in_the_legend():
    curves = {
        "ELIMIPL": {r: Row("ELIMIPL", "MIPL", {0: 0.9 - r / 10}, (0.7, 0.1) if r < 4 else None) for r in (1, 2, 4)},
        "DEMIPL": {1: Row("DEMIPL", "MIPL", {}, (0.6, 0.1)), 2: Row("DEMIPL", "MIPL", {0: 0.5})},
    }
    drawn = json.loads(curves_over_r(curves, DARK).to_json())["data"]
    by_name = {trace["name"]: trace for trace in drawn if trace["name"] != "the paper"}
    np.testing.assert_allclose(numbers(by_name["ELIMIPL"]["y"]), [0.8, 0.7, 0.5])
    np.testing.assert_allclose(numbers(by_name["DEMIPL"]["x"]), [2])
    assert [trace["showlegend"] for trace in drawn if trace["name"] == "the paper"] == [True, False]
