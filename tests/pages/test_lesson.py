"""The whole lesson without a browser: doing what each step asks completes it, and a link brings all of it back."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from elimipl.benchmark.cells import Cell
from elimipl.benchmark.records import FILE, Records
from elimipl.config import Config
from elimipl_app.lesson.case import FIRST, REAL, make_case
from elimipl_app.lesson.plan import load_lesson
from elimipl_app.lesson.progress import ANSWERS
from tests.elimipl_app.figure_json import drawn_chart

ROOT = Path(__file__).resolve().parents[2]
STEPS = [step.id for step in load_lesson().steps]
QUESTIONS = {step.id: step.ask for step in load_lesson().steps}


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/lesson.py")
    for key, value in query.items():
        page.query_params[key] = value
    return looked_at(page.run())


def looked_at(page: AppTest) -> AppTest:
    assert not page.exception
    assert not page.error
    return page


def figures(page: AppTest) -> dict[str, str]:
    """What the browser is sent to draw, to the byte."""
    charts = {chart.key: chart.proto.spec for chart in page.get("plotly_chart")}
    return charts | {f"moving {i}": found.proto.json for i, found in enumerate(page.get("bidi_component"))}


def query(page: AppTest) -> dict[str, str]:
    return {key: value if isinstance(value, str) else value[-1] for key, value in page.query_params.items()}


def done(page: AppTest) -> list[str]:
    return [name for name in query(page).get("done", "").split(",") if name]


def carrying() -> int:
    return int(make_case(REAL, FIRST).truth.argmax())


def moved(page: AppTest, key: str, value: float) -> None:
    """Stop a slider somewhere, as the browser reports it."""
    page.session_state[f"at-{key}"] = value
    page.run()


def do_picture(page: AppTest) -> None:
    page.selectbox(key="pick-widget").set_value(carrying()).run()
    assert any("carries the class" in item.value for item in page.markdown)


def do_instances(page: AppTest) -> None:
    page.toggle(key="hide_instances-widget").set_value(True).run()
    page.pills(key="marks-widget").set_value([0, carrying()]).run()
    page.toggle(key="check_marks-widget").set_value(True).run()
    assert any("You found **1 of" in item.value for item in page.markdown)


def do_labels(page: AppTest) -> None:
    page.slider(key="r-widget").set_value(3).run()
    page.toggle(key="hide_true-widget").set_value(True).run()
    assert any("no instance is of a false positive label" in item.value for item in page.markdown)


def do_both(page: AppTest) -> None:
    page.button(key="add").click().run()
    page.button(key="add").click().run()
    assert "both" not in done(page)
    page.toggle(key="as_machine-widget").set_value(True).run()


def do_attention(page: AppTest) -> None:
    moved(page, "epoch_attention", 60)
    page.segmented_control(key="bags-widget").set_value("digits").run()
    assert any(chart.key == "lesson-contrast" for chart in page.get("plotly_chart"))


def do_scores(page: AppTest) -> None:
    moved(page, "temperature", 0.5)
    moved(page, "temperature", 2.0)
    moved(page, "instance", 0 if carrying() else 1)


def do_losses(page: AppTest) -> None:
    for loss in ("sparsity", "inhibition", "total"):
        page.segmented_control(key="loss-widget").set_value(loss).run()
    moved(page, "mu", 10.0)
    moved(page, "gamma", 10.0)
    moved(page, "steps", 20)


def do_sparsity(page: AppTest) -> None:
    moved(page, "steps_down", 80)
    page.segmented_control(key="from-widget").set_value("close").run()
    page.toggle(key="inhibit-widget").set_value(True).run()


def do_weights(page: AppTest) -> None:
    moved(page, "epoch", 60)
    page.pills(key="bag-widget").set_value("2 60").run()


def do_ambiguity(page: AppTest) -> None:
    page.slider(key="guess-widget").set_value(80).run()
    page.toggle(key="shown-widget").set_value(True).run()
    assert any("Birdsong" in item.value for item in page.markdown)


DEEDS = {
    "picture": do_picture,
    "instances": do_instances,
    "labels": do_labels,
    "both": do_both,
    "attention": do_attention,
    "scores": do_scores,
    "losses": do_losses,
    "sparsity": do_sparsity,
    "weights": do_weights,
    "ambiguity": do_ambiguity,
}


def predicted(page: AppTest, step: str) -> None:
    """Answer the question rightly and reveal."""
    assert page.button(key=f"reveal-{step}").disabled
    page.pills(key=f"ask-{step}").set_value(QUESTIONS[step].answer).run()
    assert not any(QUESTIONS[step].because in item.value for item in page.markdown)
    page.button(key=f"reveal-{step}").click().run()
    assert any(QUESTIONS[step].because in item.value for item in page.markdown)


def test_the_whole_lesson_can_be_done_left_and_taken_elsewhere():
    page = opened()
    for place, step in enumerate(STEPS):
        assert page.header[0].value.startswith(f"{place + 1} ·")
        assert done(page) == STEPS[:place]
        before = figures(page)
        assert before
        assert not any(QUESTIONS[step].because in item.value for item in page.markdown)
        assert page.button(key="next").disabled == (step == STEPS[-1])
        predicted(page, step)
        assert done(page) == STEPS[:place], "a prediction alone does not complete a step"
        DEEDS[step](page)
        looked_at(page)
        assert done(page) == STEPS[: place + 1]
        after = figures(page)
        assert any(after[key] != before.get(key) for key in after), f"step {step} shows what it showed before"

        own, for_class = (dict(parse_qsl(code.value.lstrip("?"))) for code in reversed(page.get("code")[:2]))
        elsewhere = opened(**own)
        assert figures(elsewhere) == after, f"the link to step {step} shows something else"
        assert query(elsewhere) == {"step": step} | query(page)
        assert for_class["class"] == "1"
        assert not [key for key in for_class if key in ANSWERS or key.startswith(("say_", "open_"))]
        assert not {"TUM", "STR", "LYM"} & set(for_class.values()), "the tissue stands in the link"
        if step != STEPS[-1]:
            page.button(key="next").click().run()
    assert any("every step" in item.value for item in page.success)

    kept, shown = query(page), figures(page)
    page.query_params.clear()
    page.switch_page("pages/doctor.py").run()
    page.query_params.clear()
    page.switch_page("pages/lesson.py").run()
    looked_at(page)
    assert query(page) == kept
    assert figures(page) == shown

    page.button(key="start_over").click().run()
    assert done(page) == []
    assert query(page) == {}


def test_a_class_sees_no_navigation_and_no_controls_around_the_step():
    page = opened(step="losses", **{"class": "1"})
    assert not [block for block in page.sidebar.children.values() if block.children]
    assert not [button for button in page.button if button.key in ("back", "next") or button.key.startswith("go-")]
    assert not page.get("code")
    assert page.get("download_button"), "answers can be handed in"
    assert figures(page)


def test_answers_can_be_taken_away():
    script = (
        "import streamlit as st\nfrom elimipl_app.lesson.plan import load_lesson\n"
        "from elimipl_app.lesson.progress import as_csv\nst.text(as_csv(load_lesson().steps))"
    )
    visit = AppTest.from_string(script, default_timeout=60)
    visit.query_params.update(say_losses="2", open_losses="1", say_labels="0")
    rows = list(csv.DictReader(io.StringIO(visit.run().text[0].value)))
    assert [(row["step"], row["right"], row["revealed"]) for row in rows] == [
        ("Hide the label", "", "no"),
        ("Three losses", "yes", "yes"),
    ]
    assert rows[0]["right answer"] == "", "what is not revealed stays secret"


def test_the_address_remembers_what_is_done():
    page = opened(step="labels", done="picture,instances,nonsense")
    assert any("Do this" in item.value for item in page.info)
    page.button(key="back").click().run()
    assert any("Done" in item.value for item in page.success)


def test_a_link_can_hide_the_frame():
    page = opened(step="losses", hide="steps,text,task,question")
    assert not [button for button in page.button if button.key in ("back", "next") or button.key.startswith("go-")]
    assert not page.info
    assert not page.pills
    assert figures(page)


def test_what_a_question_asks_for_is_not_shown_before_it_is_revealed(tmp_path, monkeypatch):
    monkeypatch.setattr("elimipl_app.lesson.recorded.RESULTS", tmp_path)
    records = Records(tmp_path / FILE)
    records.add(Cell("birdsong", 1, "ELIMIPL"), Config(), {"sha256": ""}, 0, {"accuracy": 0.7})
    hidden, shown = (
        opened(step="ambiguity", shown="true"),
        opened(step="ambiguity", shown="true", say_ambiguity="0", open_ambiguity="1"),
    )
    assert len(hidden.get("bidi_component")) == 1
    assert len(shown.get("bidi_component")) == 2
    assert not opened(step="attention").get("plotly_chart")


def test_an_unknown_step_is_the_first():
    assert opened(step="nonsense").header[0].value.startswith("1 ·")


@pytest.mark.parametrize("cut", ["sbn", "kmeansseg", "sift"])
def test_a_drawing_in_other_cuts_works_in_every_step_that_shows_the_picture(cut):
    page = opened(step="picture", kind="drawn", cut=cut)
    for step in ("instances", "labels", "both", "attention"):
        page.button(key=f"go-{step}").click().run()
        looked_at(page)
        assert page.segmented_control(key="cut-widget").value == cut


def test_a_real_section_without_a_known_label_is_a_picture_of_the_steps_that_need_no_truth():
    page = opened(step="labels", field="restained-section")
    assert not any(chart.key == "lesson-strip" for chart in page.get("plotly_chart"))
    assert any("Nobody has labelled this picture" in item.value for item in page.markdown)
    assert any("FHL2" in item.value for item in page.caption)
    page.pills(key="named-widget").set_value([0, 4, 6]).run()
    assert any("S = {DEB, NORM, TUM}. You rule out LYM" in item.value for item in page.markdown)
    strip = drawn_chart(page, "lesson-strip")
    assert [note["text"] for note in strip["layout"]["annotations"]] == ["?", "not", "not", "not", "?", "not", "?"]
    predicted(page, "labels")
    assert "labels" in done(page)

    page.button(key="go-both").click().run()
    looked_at(page)
    assert page.button(key="add").disabled
    _, members, outside, *_ = drawn_chart(page, "lesson-matrices")["data"]
    assert members["customdata"] == [[1, 0, 0, 0, 1, 0, 1]]
    assert outside["customdata"] == [[0, 1, 1, 1, 0, 1, 0]]
    assert "ground truth" not in str(figures(page)["lesson-matrices"])
    link = page.code[0].value
    assert "field=restained-section" in link
    assert "named" not in link

    page.pills(key="named-widget").set_value([]).run()
    looked_at(page)
    page.selectbox(key="field-widget").set_value("bag").run()
    looked_at(page)
    assert page.button(key="add").disabled is False
