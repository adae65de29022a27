"""The address of every page: what fits is used, anything else is named once and never breaks the page."""

from itertools import cycle
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from elimipl_app.lesson.plan import load_lesson
from elimipl_app.shell.address import KEYS, unknown_keys

ROOT = Path(__file__).resolve().parents[2]
NASTY = (
    "", "inf", "-inf", "nan", "1e400", "9" * 400, "-1", "Ω≠ü\u202e\u0000", "<script>alert(1)</script>",
    ["same", "same"], ["", ""], "[x](http://example.org)", "None", "true false",
)  # fmt: skip
PAGES = [
    ("app.py", {}),
    ("app.py", {"candidates_from": "By hand", "sample": "Tumour (phantom)"}),
    ("app.py", {"candidates_from": "crowd"}),
    ("pages/batch.py", {}),
    ("pages/generators.py", {}),
    *(("pages/lesson.py", {"step": step.id}) for step in load_lesson().steps),
    ("pages/lesson.py", {"step": "attention", "bags": "digits"}),
    ("pages/class.py", {}),
    ("pages/compare.py", {}),
    ("pages/results.py", {}),
    ("pages/train.py", {}),
    ("pages/train.py", {"train_data": "Digits"}),
    ("pages/doctor.py", {}),
]


def opened(page: str, query: dict[str, str | list[str]]) -> AppTest:
    visit = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    if page != "app.py":
        visit.switch_page(page)
    visit.query_params.update(query)
    return visit.run()


def notices(visit: AppTest) -> list[str]:
    return [line for item in visit.info for line in item.value.split("  \n") if line.startswith("The link ")]


def assert_in_order(visit: AppTest) -> None:
    assert not visit.exception
    assert not visit.error


@pytest.mark.parametrize(("page", "settings"), PAGES, ids=lambda value: str(value))
def test_no_value_of_any_key_breaks_a_page(page, settings):
    first = opened(page, settings)
    assert_in_order(first)
    assert notices(first) == []
    read = first.session_state["address_looked_at"]
    assert unknown_keys(first.session_state["address_page"], sorted(read)) == []
    assert first.session_state["address_page"] in KEYS or not read
    keys = sorted(read - settings.keys())
    if page == "pages/lesson.py":
        keys += ["done", "hide", "class", f"say_{settings['step']}", f"open_{settings['step']}"]
    asked = dict(zip(keys, cycle(NASTY), strict=False))
    visit = opened(page, {**asked, **settings})
    assert_in_order(visit)
    assert 0 < len(notices(visit)) <= len(keys) or not keys
    assert len(set(notices(visit))) == len(notices(visit))
    assert not any("<script" in notice.replace("\\<", "") for notice in notices(visit))


EVERY_KIND = """
from elimipl_app.shell import address, choices
address.start_reading("test")
address.show_notices()
import streamlit as st
chosen = (
    choices.one_of("Buttons", ["a", "b"], "buttons", "b"),
    choices.one_of("List", ["a", "b"], "list", shape="list"),
    choices.some_of("Some", ["a", "b"], "some", ["a"]),
    choices.number("Whole", 1, 9, 3, "whole"),
    choices.number("Broken", 0.5, 9.5, 3.0, "broken"),
    choices.slider("Slider", 0, 9, 3, "slider"),
    choices.switch("Switch", "switch"),
)
st.session_state["chosen"] = chosen
"""
DEFAULTS = ("b", "a", ["a"], 3, 3.0, 3, False)
WIDGETS = ("buttons", "list", "some", "whole", "broken", "slider", "switch")


def run(script: str, query: dict[str, str | list[str]]) -> AppTest:
    visit = AppTest.from_string(script, default_timeout=60)
    visit.query_params.update(query)
    return visit.run()


@pytest.mark.parametrize("nasty", NASTY, ids=lambda value: str(value)[:12].encode("unicode_escape").decode())
def test_every_kind_of_widget_keeps_its_default(nasty):
    visit = run(EVERY_KIND, dict.fromkeys(WIDGETS, nasty))
    assert_in_order(visit)
    empty_is_a_choice = {"some"} if nasty == "" else set()
    expected = [[] if key == "some" and nasty == "" else start for key, start in zip(WIDGETS, DEFAULTS, strict=True)]
    assert list(visit.session_state["chosen"]) == expected
    assert len(notices(visit)) == len(WIDGETS) - len(empty_is_a_choice)
    assert set(visit.query_params) <= empty_is_a_choice


def test_what_fits_is_used_and_nothing_is_said():
    asked = ("a", "b", ["a", "b"], "9", "0.75", "0", "true")
    visit = run(EVERY_KIND, dict(zip(WIDGETS, asked, strict=True)))
    assert_in_order(visit)
    assert visit.session_state["chosen"] == ("a", "b", ["a", "b"], 9, 0.75, 0, True)
    assert notices(visit) == []


def test_a_notice_says_what_was_asked_for_and_what_is_shown_and_goes_with_the_next_run():
    visit = run(EVERY_KIND, {"buttons": "xyz", "whole": "12", "list": ""})
    assert notices(visit) == [
        "The link asks for “xyz” under “Buttons”, which this version does not have here; b is shown.",
        "The link leaves “List” empty; a is shown.",
        "The link asks for “12” under “Whole”, which this version does not have here; 3 is shown.",
    ]
    visit.toggle(key="switch").set_value(True).run()
    assert notices(visit) == []


def test_keys_that_no_page_reads_are_named_and_left_out():
    visit = opened("pages/results.py", {"results_cost": "nonsense", "generatr": "SBN", "<b>x</b>": "1"})
    assert_in_order(visit)
    assert notices(visit)[0] == (
        "The link also sets “generatr”, “\\<b\\>x\\</b\\>”, which this page does not know; they are left out."
    )
    assert len(notices(visit)) == 2
    assert "generatr" not in visit.query_params
    many = opened("pages/doctor.py", {f"key{number}": "" for number in range(300)})
    assert notices(many) == [
        "The link also sets “key0”, “key1”, “key2” and 297 more, which this page does not know; they are left out."
    ]


TITLED = """
from elimipl_app.shell import address, choices
address.start_reading("test")
address.show_notices()
import streamlit as st
titles = {"a": "Alpha", "b": "Beta (old)", "c": "Gamma"}
st.session_state["chosen"] = (
    choices.one_of("Buttons", list(titles), "buttons", "a", titles.get),
    choices.one_of("List", list(titles), "list", "c", titles.get, shape="list"),
    choices.some_of("Some", list(titles), "some", ["a"], titles.get),
)
"""


def held(visit: AppTest) -> dict[str, list[str]]:
    """What stands in the address; a new link and one written by the page have values of either shape."""
    return {key: [value] if isinstance(value, str) else value for key, value in visit.query_params.items()}


def test_links_hold_ids_and_the_titles_of_older_links_still_work():
    ids = {"buttons": ["b"], "list": ["b"], "some": ["a", "b"]}
    old = {"buttons": "Beta (old)", "list": "Beta (old)", "some": ["Alpha", "Beta (old)"]}
    for asked in (ids, old):
        visit = run(TITLED, asked)
        assert_in_order(visit)
        assert notices(visit) == []
        assert visit.session_state["chosen"] == ("b", "b", ["a", "b"])
        assert held(visit) == ids


def test_what_is_chosen_stands_in_the_address_unless_it_is_the_default():
    visit = run(TITLED, {"list": "a"})
    visit.selectbox(key="list").set_value("b").run()
    assert held(visit) == {"list": ["b"]}
    visit.selectbox(key="list").set_value("c").run()
    assert held(visit) == {}
    visit.button_group(key="some").set_value([]).run()
    assert held(visit) == {"some": [""]}
    assert visit.session_state["chosen"] == ("a", "c", [])
    assert run(TITLED, {"some": ""}).session_state["chosen"] == ("a", "c", [])


def test_a_choice_survives_a_visit_to_another_page():
    visit = opened("app.py", {"generator": "kmeansseg"})
    visit.switch_page("pages/doctor.py").run()
    visit.query_params.clear()  # as the browser does on its way to another page
    visit.switch_page("app.py").run()
    assert_in_order(visit)
    assert visit.session_state["generator"] == "kmeansseg"
    assert held(visit)["generator"] == ["kmeansseg"]


def test_a_link_to_lesion_models_names_their_successors_and_the_weights_that_changed():
    visit = opened("app.py", {"labels": "lesion5", "weights": "0123456789ab"})
    assert_in_order(visit)
    assert "whose models no longer ship (their successors are those of “12 classes of the colon”)" in notices(visit)[0]
    assert "“0123456789ab” under “Model weights”" in notices(visit)[1]
    assert "has been trained again since" in notices(visit)[1]
    assert visit.query_params["weights"] != ["0123456789ab"]
    assert notices(opened("app.py", dict(visit.query_params))) == []
