"""The page of the generators without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators import GENERATORS
from tests.elimipl_app.figure_json import drawn_chart

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page() -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/generators.py")
    page.session_state["sample"] = "phantom-tum"
    return page.run()


def heat(page: AppTest, name: str) -> dict:
    return next(trace for trace in drawn_chart(page, f"map-{name}")["data"] if trace["type"] == "heatmap")


def test_all_maps_share_one_scale(page):
    assert not page.exception
    page.segmented_control(key="unit").set_value("share").run()
    ends = {heat(page, name)["zmax"] for name in GENERATORS}
    assert len(ends) == 1
    page.segmented_control(key="unit").set_value("even").run()
    even = {heat(page, name)["zmax"] for name in GENERATORS}
    assert len(even) == 1
    assert even != ends


@pytest.mark.parametrize("name", GENERATORS)
def test_following_an_instance_changes_all_its_steps(page, name):
    page.segmented_control(key="follow").set_value(name).run()
    chosen = page.selectbox if name == "deep" else page.pills  # of 256 cells one is chosen from a list
    chosen(key="instance").set_value(1).run()
    last = max(chart.key for chart in page.get("plotly_chart") if str(chart.key).startswith("station-"))
    numbers = drawn_chart(page, last)
    chosen(key="instance").set_value(0).run()
    assert not page.exception
    assert any(heading.value.endswith("instance 0") for heading in page.subheader)
    assert drawn_chart(page, last) != numbers


def test_changing_the_generator_stays_at_the_place(page, monkeypatch):
    page.segmented_control(key="follow").set_value("sift").run()
    page.pills(key="instance").set_value(22).run()  # the middle of the lowest row
    page.segmented_control(key="follow").set_value("row").run()
    assert page.pills(key="instance").value == 7
    monkeypatch.setattr("streamlit.elements.lib.policies._shown_default_value_warning", False)
    page.session_state["follow"] = "sbn"  # as a click in a map does
    page.run()
    assert page.segmented_control(key="follow").value == "sbn"
    assert not page.warning  # Streamlit complains where a widget has both a start and a value that was set
