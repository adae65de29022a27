"""Moving figures: all positions are sent at once, where a slider stands is kept and checked."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from elimipl_app.shell.moving.panels import Bars, Words, as_data

PAGE = """
import streamlit as st
from elimipl_app.shell import address, moving
address.start_reading("test")
address.show_notices()
sliders = (moving.Slider("heat", "Heat", (0.5, 1.0, 2.0), 1.0), moving.Slider("row", "Row", range(2), plays=True))
words = moving.Words(("heat", "row"), [f"line {i}" for i in range(6)])
st.session_state["stands"] = moving.show("figure", sliders, (words,), "a figure")
"""


def opened(**query: str) -> AppTest:
    visit = AppTest.from_string(PAGE, default_timeout=60)
    visit.query_params.update(query)
    visit.run()
    assert not visit.exception
    return visit


def sent(visit: AppTest) -> dict:
    return json.loads(visit.get("bidi_component")[0].proto.json)


def test_every_position_is_sent_and_the_start_is_not_in_the_address():
    visit = opened()
    assert visit.session_state["stands"] == {"heat": 1.0, "row": 0}
    assert [slider["at"] for slider in sent(visit)["sliders"]] == [1, 0]
    assert sent(visit)["panels"][0]["lines"] == [f"line {i}" for i in range(6)]
    assert not visit.query_params


def test_a_place_is_kept_and_stands_in_the_address():
    visit = opened()
    visit.session_state["at-heat"] = 2.0
    visit.run()
    assert visit.query_params["heat"] in ("2", ["2"])
    again = opened(heat="2")
    assert sent(again) == sent(visit)


@pytest.mark.parametrize("asked", ["", "3", "nan", "1e400", "<b>"])
def test_a_place_that_is_none_is_named_and_the_start_is_shown(asked):
    visit = opened(heat=asked)
    assert visit.session_state["stands"]["heat"] == 1.0
    assert "Heat" in visit.info[0].value


def test_a_panel_with_too_few_positions_is_a_fault():
    visit = AppTest.from_string(PAGE.replace("range(6)", "range(5)"), default_timeout=60).run()
    assert visit.exception


def test_numbers_are_sent_with_few_digits():
    bars = Bars(("heat",), ["a"], ["red"], np.array([[1 / 3], [2 / 3]]))
    assert as_data(bars)["values"] == [[0.3333], [0.6667]]
    assert as_data(Words(("heat",), ["x"]))["kind"] == "words"
