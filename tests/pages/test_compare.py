"""The Compare page without a browser: every recording, any two methods, one trained here."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from elimipl.training.figure_two import NAMES, FigureTwo
from elimipl.training.trajectories import read_trajectories, recordings
from elimipl_app.compare.page import PAPERS_OWN
from elimipl_app.compare.texts import KINDS, STATEMENT_TITLES, verdict
from tests.elimipl_app.figure_json import drawn_chart, numbers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page():
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/compare.py").run()


def test_first_visit_is_the_typical_bag_of_the_papers_own_data(page):
    assert not page.exception
    recorded = read_trajectories(recordings()[PAPERS_OWN])
    bag = recorded.about.typical
    assert page.pills(key=f"compare_bag_{PAPERS_OWN}").value == bag
    for side, method in (("side-0", "DEMIPL"), ("side-1", "ELIMIPL")):
        true, *_ = numbers(drawn_chart(page, f"{side}-bars")["data"][0]["y"])
        last = recorded.probabilities[recorded.method(method), -1, bag, recorded.labels[bag]]
        assert true == pytest.approx(float(last))
        curves = drawn_chart(page, f"{side}-curves")["data"]
        assert [trace["name"] for trace in curves] == list(NAMES)
        assert all(len(numbers(trace["x"])) == recorded.epochs + 1 for trace in curves)


def test_it_says_when_figure_two_holds_and_under_which_settings(page):
    said = " ".join(item.value for item in (*page.markdown, *page.caption))
    recorded = read_trajectories(recordings()[PAPERS_OWN])
    for kind in recorded.about.measured:
        assert verdict(recorded.figure_two("DEMIPL", "ELIMIPL", kind), KINDS[kind].lower()) in said
    assert "Preset “published”: ℓ1 sparsity, μ = 10, γ = 10, l = 512, T = 100" in said
    for name in recordings():
        assert f"- {read_trajectories(recordings()[name]).about.title}: " in said
    page.segmented_control(key="compare_measured").set_value("held_out").run()
    shares = recorded.figure_two("DEMIPL", "ELIMIPL", "held_out").median
    lines = {trace["name"]: trace for trace in drawn_chart(page, "shares")["data"] if trace.get("name")}
    assert list(lines) == list(STATEMENT_TITLES)
    for place, title in enumerate(STATEMENT_TITLES):
        assert numbers(lines[title]["y"]) == pytest.approx(shares[:, place])
    panels = " ".join(item.body for item in page.get("html"))
    assert panels.count("role='img'") == 14  # two of each class


def test_the_sentence_names_the_window_and_what_is_left_at_the_end():
    shares = np.zeros((3, 9, 5))
    shares[:, 3:6] = 0.6
    shares[:, 4, 4] = 0.52
    said = verdict(FigureTwo(shares), "training bags")
    assert "from epoch 3 to 5" in said
    assert "all of it of 52 to 60 %" in said
    assert said.endswith("after epoch 8 on 0 %.")
    never = verdict(FigureTwo(shares / 2), "training bags")
    assert never == (
        "Figure 2 holds at no time: all it says is true of at most 30 % of the training bags (epoch 3); after epoch 8 "
        "on 0 %."
    )


@pytest.mark.parametrize("name", sorted(recordings()))
def test_every_recording_and_bag_can_be_looked_at(page, name):
    page.selectbox(key="compare_data").set_value(name).run()
    recorded = read_trajectories(recordings()[name])
    page.selectbox(key="compare_left").set_value(recorded.about.methods[-1]).run()
    for bag in (0, len(recorded.labels) - 1):  # a bag is a row of the same tables
        page.session_state[f"compare_bag_{name}"] = bag
        page.run()
        assert not page.exception
        bars = drawn_chart(page, "all-methods")["data"]
        assert bars[0]["x"] == list(recorded.about.methods)


def test_a_method_that_was_not_recorded_gives_way(page):
    page.selectbox(key="compare_data").set_value("phantoms-kmeansseg").run()
    page.selectbox(key="compare_right").set_value("CE").run()
    assert drawn_chart(page, "side-1-curves") != drawn_chart(page, "side-0-curves")
    page.selectbox(key="compare_data").set_value(PAPERS_OWN).run()
    assert not page.exception
    assert page.selectbox(key="compare_right").value == "ELIMIPL"


def test_the_epoch_moves_bars_and_attention(page):
    charts = ("side-1-bars", "side-1-attention")
    before = [drawn_chart(page, key)["data"][0]["y"] for key in charts]
    page.slider(key="compare_epoch").set_value(0).run()
    assert not page.exception
    after = [drawn_chart(page, key)["data"][0]["y"] for key in charts]
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_what_does_not_ship_can_not_be_trained_here_and_a_method_says_why_not(page):
    assert any("don't ship" in item.value for item in page.caption)
    page.selectbox(key="compare_data").set_value("phantoms-row").run()
    page.selectbox(key="live_method").set_value("ProMIPL").run()
    page.button(key="live_start").click().run()
    assert not page.exception
    assert any("ProMIPL doesn't train the network" in item.value for item in page.error)


def test_train_it_here_trains_the_recorded_bags_with_another_seed(page):
    page.selectbox(key="compare_data").set_value("phantoms-kmeansseg").run()
    page.number_input(key="live_seed").set_value(3)
    page.selectbox(key="live_method").set_value("MA+IN").run()
    page.button(key="live_start").click().run()
    assert not page.exception
    run = page.session_state["compare_run"]
    about = read_trajectories(recordings()["phantoms-kmeansseg"]).about
    assert run.plan.training.subset(run.plan.watched).names == about.bag_names
    assert (run.plan.config.seed, run.plan.config.mu) == (3, 0.0)
    while run.progress.done < 2:
        run.join(0.05)
    page.run()
    assert len(numbers(drawn_chart(page, "live-curves")["data"][0]["y"])) >= 2
    page.button(key="live_stop").click().run()
    run.join(30)
    assert run.progress.state == "stopped"
    page.run()
    assert not page.exception
