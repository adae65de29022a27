"""The Compare page without a browser: every recording, any two methods, one trained here."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from elimipl.methods.networks import SUMMARIES as METHODS
from elimipl.training.trajectories import read_trajectories, recordings
from tests.ui.figure_json import drawn_chart, numbers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page():
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/compare.py").run()


def test_first_visit_is_figure_two(page):
    assert not page.exception
    recorded = read_trajectories(recordings()["tissue-row"])
    for side, method in (("side-0", "DEMIPL"), ("side-1", "ELIMIPL")):
        true, _, _ = numbers(drawn_chart(page, f"{side}-bars")["data"][0]["y"])
        assert true == pytest.approx(float(recorded.probabilities[recorded.method(method), -1, 0, recorded.labels[0]]))
        curves = drawn_chart(page, f"{side}-curves")["data"]
        assert [trace["name"] for trace in curves] == ["true label", "average candidate", "average non-candidate"]
        assert all(len(numbers(trace["x"])) == recorded.epochs + 1 for trace in curves)


@pytest.mark.parametrize("name", sorted(recordings()))
def test_every_recording_and_bag_can_be_looked_at(page, name):
    page.selectbox(key="compare_data").set_value(name).run()
    for bag in range(len(read_trajectories(recordings()[name]).labels)):
        page.session_state[f"compare_bag_{name}"] = bag
        page.run()
        assert not page.exception
        bars = drawn_chart(page, "all-methods")["data"]
        assert bars[0]["x"] == list(METHODS)


def test_the_epoch_moves_bars_and_attention(page):
    before = drawn_chart(page, "side-1-bars")["data"][0]["y"], drawn_chart(page, "side-1-attention")["data"][0]["y"]
    page.slider(key="compare_epoch").set_value(0).run()
    assert not page.exception
    after = drawn_chart(page, "side-1-bars")["data"][0]["y"], drawn_chart(page, "side-1-attention")["data"][0]["y"]
    assert before[0] != after[0]
    assert before[1] != after[1]
    page.selectbox(key="compare_right").set_value("CE").run()
    assert drawn_chart(page, "side-1-curves") != drawn_chart(page, "side-0-curves")


def test_train_it_here_trains_the_recorded_bags_with_another_seed(page):
    page.number_input(key="live_seed").set_value(3)
    page.selectbox(key="live_method").set_value("MA+IN").run()
    page.button(key="live_start").click().run()
    assert not page.exception
    run = page.session_state["compare_run"]
    about = read_trajectories(recordings()["tissue-row"]).about
    assert run.plan.training.subset(run.plan.watched).names == about.bag_names
    assert (run.plan.config.seed, run.plan.config.mu) == (3, 0.0)
    while run.progress.epoch < 2:
        run.join(0.05)
    page.run()
    assert len(numbers(drawn_chart(page, "live-curves")["data"][0]["y"])) >= 2
    page.button(key="live_stop").click().run()
    run.join(30)
    assert run.progress.state == "stopped"
    page.run()
    assert not page.exception
