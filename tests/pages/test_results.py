"""The Results page without a browser: what the results file says, in part and missing, too."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from elimipl.benchmark.cells import VIEWS, Cell
from elimipl.benchmark.records import Records
from elimipl.config import Config
from elimipl_app.results import page as results_page
from tests.elimipl_app.figure_json import drawn_chart, numbers

ROOT = Path(__file__).resolve().parents[2]


def open_page() -> AppTest:
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/results.py").run()


def add(records: Records, cell: Cell, accuracies: list[float]) -> None:
    for index, accuracy in enumerate(accuracies):
        kept = {"accuracy": accuracy, "seconds": 3.0, "peak_mb": 600, "train_bags": 70, "test_bags": 30}
        records.add(cell, Config(), {"sha256": ""}, index, kept | {"notes": [f"{cell.method} says so."]})


@pytest.fixture(scope="module")
def results_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Few results."""
    path = tmp_path_factory.mktemp("results") / "benchmark.json"
    found = Records(path)
    for r in (1, 2):
        add(found, Cell("birdsong", r, "ELIMIPL"), [0.70, 0.71, 0.72, 0.70, 0.71, 0.72])
        add(found, Cell("birdsong", r, "DEMIPL"), [0.60, 0.60, 0.60, 0.60, 0.60, 0.60])
    add(found, Cell("lesion5-row", 0, "RC-Mean"), [0.4])
    failed = Cell("birdsong", 1, "MIPLGP")
    found.add_failure(failed, Config(), {"sha256": ""}, 3, "Memory ran out.")
    return path


@pytest.fixture
def records(results_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few results in the place of those that are installed."""
    monkeypatch.setattr(results_page, "RESULTS_FILE", results_file)


@pytest.fixture(scope="module")
def opened(results_file: Path) -> AppTest:
    """The page of few results as it opens, for tests that only look at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results_page, "RESULTS_FILE", results_file)
        return open_page()


def markdown(page: AppTest) -> str:
    return "\n".join(item.value for item in page.markdown)


def test_every_table_of_the_installed_results_can_be_looked_at() -> None:
    page = open_page()
    for view in VIEWS:
        page.selectbox(key="results_view").set_value(view).run()
        assert not page.exception, view
        data = page.selectbox(key=f"results_data_{view.replace(' ', '')}")
        shown = drawn_chart(page, "results-bars")["layout"]["yaxis"]["ticktext"]
        assert [name.removesuffix(" (not run)") for name in shown] == list(VIEWS[view].methods), view
        assert data.value in VIEWS[view].data, view


def test_data_with_runs_comes_first_and_bars_are_its_means(opened: AppTest) -> None:
    page = opened
    assert page.selectbox(key="results_data_table2").value == "birdsong"
    assert page.selectbox(key="results_data_table2").options == ["Birdsong", "MNIST", "FMNIST", "PathMNIST"]
    bars = next(trace for trace in drawn_chart(page, "results-bars")["data"] if trace["name"] == "learns from bags")
    np.testing.assert_allclose(numbers(bars["x"]), [0.71, 0.60])
    assert any("Accuracy on Birdsong, r = 1" in heading.value for heading in page.subheader)


def test_choosing_r_and_methods_changes_the_figures_and_the_table(records: None) -> None:
    page = open_page()
    page.session_state["results_r_table2"] = 2
    page.session_state["results_methods_table2"] = ["DEMIPL", "RC-Mean"]
    page.run()
    assert not page.exception
    assert drawn_chart(page, "results-bars")["layout"]["yaxis"]["ticktext"] == ["DEMIPL", "RC-Mean (not run)"]
    assert set(page.dataframe[0].value["Method"]) == {"DEMIPL", "RC-Mean"}
    page.session_state["results_methods_table2"] = []
    page.run()
    assert not page.exception
    assert "Choose at least one method." in [item.value for item in page.info]


def test_table_remarks_failures_curves_and_claims_are_told(opened: AppTest) -> None:
    table, told = opened.dataframe[0].value.set_index(["r", "Method"]), markdown(opened)
    assert table.loc[(1, "ELIMIPL"), "Ours"] == ".710±.008"
    assert table.loc[(1, "ELIMIPL"), "Paper"] == ".771±.018"
    assert table.loc[(1, "ELIMIPL"), "Mark"] == "below"
    assert table.loc[(3, "MIPLGP"), "Ours"] == "not run"
    assert "**MIPLGP**, r = 1, split 3 failed: Memory ran out." in told
    assert "**ELIMIPL**: ELIMIPL says so." in told
    curves = drawn_chart(opened, "results-curves")["data"]
    assert [trace["name"] for trace in curves] == ["ELIMIPL", "the paper", "DEMIPL", "the paper"]
    np.testing.assert_allclose(numbers(curves[0]["x"]), [1, 2])
    (claim, growing) = opened.expander
    assert claim.label == "ELIMIPL is more accurate than DEMIPL: holds in 2 of 2"
    assert "**Birdsong**: ELIMIPL − DEMIPL, r = 1: +.110 (the paper: +.027) over 6 splits" in told
    assert "open in 1 of 1" in growing.label


def test_the_page_opens_with_elimipl_against_demipl_and_the_sentence_it_supports(opened: AppTest) -> None:
    rows = drawn_chart(opened, "results-forest")["layout"]["yaxis"]["ticktext"]
    assert rows == ["Birdsong, r = 1 · 6 splits", "Birdsong, r = 2 · 6 splits"]
    assert "ELIMIPL is clearly better than DEMIPL in 2 of 2 rows" in markdown(opened)
    own = [heading.value for heading in opened.main.subheader]
    assert own[0] == "ELIMIPL − DEMIPL"
    assert "SIVAL, CRC-KMeansSeg, CRC-SIFT" in markdown(opened)
    assert "UAMIPL" in markdown(opened)


def test_any_two_methods_can_be_compared_and_a_link_restores_them(records: None) -> None:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/results.py")
    page.query_params["results_first"] = "DEMIPL"
    page.query_params["results_second"] = "ELIMIPL"
    page.run()
    assert not page.exception
    assert "DEMIPL − ELIMIPL" in [heading.value for heading in page.subheader]
    page.selectbox(key="results_second").set_value("DEMIPL").run()
    assert "Choose two different methods." in [item.value for item in page.info]
    page.selectbox(key="results_second").set_value("RC-Mean").run()
    assert "These two have not been run on the same splits." in [item.value for item in page.info]
    assert page.query_params["results_second"] == "RC-Mean"


def test_memory_instead_of_time(records: None) -> None:
    page = open_page()
    page.session_state["results_cost"] = "peak_mb"
    page.run()
    assert drawn_chart(page, "results-cost")["layout"]["xaxis"]["title"]["text"] == "peak MB a split"
    page.session_state["results_cost"] = "cpu_seconds"
    page.run()
    assert not page.exception
    assert "This was not recorded for these runs." in [item.value for item in page.caption]


def test_tissue_says_that_the_papers_numbers_are_about_other_tiles(records: None) -> None:
    page = open_page()
    page.selectbox(key="results_view").set_value("table 3").run()
    assert not page.exception
    assert page.selectbox(key="results_data_table3").value == "lesion5-row"
    assert "the paper, on CRC-MIPL" in [trace["name"] for trace in drawn_chart(page, "results-bars")["data"]]
    assert "Difference" not in page.dataframe[0].value.columns


def test_a_table_of_which_nothing_was_run_shows_the_paper(records: None) -> None:
    page = open_page()
    page.selectbox(key="results_view").set_value("table 5").run()
    page.selectbox(key="results_data_table5").set_value("mnist").run()
    assert not page.exception
    assert any("Nothing of this has been run yet" in item.value for item in page.info)
    assert [trace["name"] for trace in drawn_chart(page, "results-bars")["data"]] == ["one split", "the paper"]
    assert not [
        item for item in page.get("plotly_chart") if item.proto.id.endswith(("-results-cost", "-results-curves"))
    ]


def test_figure_four_stands_beside_what_the_paper_sees_in_it(records: None) -> None:
    page = open_page()
    page.selectbox(key="results_view").set_value("figure 4").run()
    assert not page.exception
    assert "at every r. *Not all of them have been run here.*" in markdown(page)
    assert "*Here not all r have been run.*" in markdown(page)
    moved = json.loads(page.get("bidi_component")[0].proto.json)
    assert [slider["key"] for slider in moved["sliders"]] == ["results_r"]
    assert {"ELIMIPL", "DEMIPL"} <= {one["name"] for one in moved["panels"][0]["series"]}


def test_missing_results_and_a_damaged_file_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_page, "RESULTS_FILE", tmp_path / "benchmark.json")
    page = open_page()
    assert not page.exception
    assert "python -m elimipl benchmark" in page.warning[0].value
    (tmp_path / "benchmark.json").write_text(json.dumps({"cells": 3}))
    page.run()
    assert not page.exception
    assert "The entry “cells” of the results file" in page.error[0].value.replace("\\", "")
