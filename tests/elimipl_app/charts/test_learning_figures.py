"""Curves, weights and the probabilities of Figure 2: what the figures' JSON says."""

import json

import numpy as np
import pytest

from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.config import Config
from elimipl.training.loop import fit
from elimipl_app.charts.curves import accuracy_curves, loss_curves
from elimipl_app.compare.figures import final_bars, four_curves, method_bars, small_multiples
from elimipl_app.shell.palette import DARK, LIGHT
from elimipl_app.train.figures import weight_bars
from tests.elimipl.toy_bags import toy_bags
from tests.elimipl_app.figure_json import numbers


@pytest.fixture(scope="module")
def reports():
    bags = toy_bags()
    config = Config.preset("default", hidden=8, epochs=15, batch=16)
    return fit(bags.subset(np.arange(80)), config, held_out=bags.subset(np.arange(80, 120))).history


def drawn(figure):
    return json.loads(figure.to_json())


def test_loss_curves_are_finite_and_the_total_falls(reports):
    curves = {trace["name"]: numbers(trace["y"]) for trace in drawn(loss_curves(reports, 15, LIGHT))["data"]}
    assert set(curves) == {"mapping", "sparsity", "inhibition", "total"}
    assert all(len(curve) == 15 and np.isfinite(curve).all() for curve in curves.values())
    assert curves["total"][-1] < curves["total"][0]
    assert drawn(loss_curves((), 60, LIGHT))["layout"]["xaxis"]["range"] == [0, 60.5]  # before the first epoch


def test_accuracy_curves_are_shares_and_leave_out_what_is_not_known(reports):
    curves = {trace["name"]: numbers(trace["y"]) for trace in drawn(accuracy_curves(reports, 15, DARK))["data"]}
    assert set(curves) == {"training bags", "held-out bags", "true label found"}
    assert all(((curve >= 0) & (curve <= 1)).all() for curve in curves.values())
    unlabelled = toy_bags()
    unlabelled = type(unlabelled)(
        unlabelled.instances, unlabelled.offsets, unlabelled.candidates, np.full(120, -1), unlabelled.label_space
    )
    history = fit(unlabelled, Config.preset("default", hidden=4, epochs=1)).history
    assert drawn(accuracy_curves(history, 1, LIGHT))["data"] == []


def test_weight_bars_are_distributions_over_the_candidates():
    candidates = np.zeros((5, 7), bool)
    candidates[:, [1, 4]] = True
    weights = candidates * np.array([0, 0.3, 0, 0, 0.7, 0, 0])
    figure = drawn(weight_bars(weights, candidates, np.array([1, 4, 4, -1, 1]), TISSUE7, LIGHT))
    assert len(figure["data"]) == 5
    for number, trace in enumerate(figure["data"]):
        assert numbers(trace["y"]).sum() == pytest.approx(1)
        axis = figure["layout"]["xaxis" + trace["xaxis"][1:]]
        bold = [text.startswith("<b>") for text in axis["ticktext"]]
        assert bold == candidates[number].tolist()
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert titles[:4] == ["true label LYM", "true label NORM", "true label NORM", "true label unknown"]
    assert figure["data"][0]["marker"]["color"][1] == LIGHT.true
    assert figure["data"][3]["marker"]["color"] == [LIGHT.candidate] * 7


def test_panels_of_the_weight_bars_do_not_overlap():
    candidates = np.ones((6, 7), bool)
    layout = drawn(weight_bars(candidates / 7, candidates, np.zeros(6, int), TISSUE7, LIGHT))["layout"]
    axes = ["axis", *(f"axis{number}" for number in range(2, 7))]
    boxes = [(layout["x" + axis]["domain"], layout["y" + axis]["domain"]) for axis in axes]
    for i, (across, upwards) in enumerate(boxes):
        assert 0 <= across[0] < across[1] <= 1.0001
        assert 0 <= upwards[0] < upwards[1] <= 1.0001
        for other_across, other_upwards in boxes[i + 1 :]:
            apart = across[1] <= other_across[0] or other_across[1] <= across[0]
            above = upwards[1] <= other_upwards[0] or other_upwards[1] <= upwards[0]
            assert apart or above


def test_a_class_name_is_text_not_markup():
    space = LabelSpace.of(["<b>a</b>", "a very long class name", "c"])
    figure = drawn(weight_bars(np.eye(3), np.ones((3, 3), bool), np.arange(3), space, LIGHT))
    ticks = figure["layout"]["xaxis"]["ticktext"]
    assert "&lt;" in ticks[0]
    assert ticks[1] == f"<b>{space.codes[1]}</b>"


def test_the_figures_of_the_comparison_show_the_four_numbers():
    four = np.array([[0.2, 0.3, 0.25, 0.1], [0.9, 0.4, 0.1, 0.0]])
    curves = drawn(four_curves(four, LIGHT, epochs=60, marked=1))
    assert [numbers(trace["y"]).tolist() for trace in curves["data"]] == four.T.tolist()
    assert curves["layout"]["shapes"][0]["x0"] == 1
    assert numbers(drawn(final_bars(four[1], LIGHT))["data"][0]["y"]).tolist() == four[1].tolist()
    bars = drawn(method_bars(four, ("A", "B"), DARK))
    assert [numbers(trace["y"]).tolist() for trace in bars["data"]] == four.T.tolist()


def test_small_multiples_have_a_panel_a_bag_with_both_methods_and_no_markup_of_strangers():
    four = np.array([[0.2, 0.3, np.nan, 0.1], [0.9, 0.4, 0.1, 0.0]])
    html = small_multiples([("1 · <b>", four, False), ("2 · LYM", four, True)], ("DEMIPL", "ELIMIPL"), LIGHT)
    assert html.count("role='img'") == 2
    assert html.count("width:90.0%") == 2
    assert "<b>" not in html
    assert "DEMIPL: true label 20%" in html
    assert html.count(f"2px solid {LIGHT.chosen}") == 1
