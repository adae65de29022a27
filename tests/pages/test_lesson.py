"""The whole lesson without a browser: doing what each step asks completes it and changes its figure."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui.lesson.case import make_case
from ui.lesson.plan import load_lesson

ROOT = Path(__file__).resolve().parents[2]
STEPS = [step.id for step in load_lesson()]


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
    return {chart.key: chart.proto.spec for chart in page.get("plotly_chart")}


def done(page: AppTest) -> list[str]:
    named = page.query_params.get("done", [])
    return (named if isinstance(named, str) else ",".join(named)).split(",") if named else []


def carrying() -> int:
    return int(make_case("TUM", 1, "row").truth.argmax())


def do_picture(page: AppTest) -> None:
    page.pills(key="pick").set_value(carrying()).run()


def do_instances(page: AppTest) -> None:
    page.toggle(key="hide_instances").set_value(True).run()
    page.pills(key="marks").set_value([0, carrying()]).run()
    page.toggle(key="check_marks").set_value(True).run()
    assert any("You found **1 of" in item.value for item in page.markdown)


def do_labels(page: AppTest) -> None:
    page.slider(key="r").set_value(3).run()
    page.toggle(key="hide_true").set_value(True).run()


def do_both(page: AppTest) -> None:
    page.button(key="add").click().run()
    page.button(key="add").click().run()
    assert done(page)[-1] != "both"
    page.toggle(key="as_machine").set_value(True).run()


def do_attention(page: AppTest) -> None:
    page.select_slider(key="epoch_digits").set_value(60).run()
    page.segmented_control(key="bags").set_value("phantom").run()
    page.select_slider(key="epoch_phantom").set_value(60).run()


def do_losses(page: AppTest) -> None:
    for loss in ("sparsity", "inhibition", "total"):
        page.segmented_control(key="loss").set_value(loss).run()
    page.slider(key="mu").set_value(2.0).run()
    page.slider(key="gamma").set_value(0.2).run()
    page.button(key="walk").click().run()


def do_sparsity(page: AppTest) -> None:
    page.slider(key="steps_down").set_value(80).run()
    page.segmented_control(key="from").set_value("close").run()
    page.toggle(key="inhibit").set_value(True).run()


def do_weights(page: AppTest) -> None:
    page.slider(key="epoch").set_value(60).run()
    page.pills(key="bag").set_value("2 60").run()


def do_ambiguity(page: AppTest) -> None:
    page.slider(key="guess").set_value(80).run()
    page.toggle(key="shown").set_value(True).run()


DEEDS = {
    "picture": do_picture,
    "instances": do_instances,
    "labels": do_labels,
    "both": do_both,
    "attention": do_attention,
    "losses": do_losses,
    "sparsity": do_sparsity,
    "weights": do_weights,
    "ambiguity": do_ambiguity,
}


def test_the_whole_lesson_can_be_done():
    page = opened()
    for place, step in enumerate(STEPS):
        assert page.header[0].value.startswith(f"{place + 1} ·")
        assert done(page) == STEPS[:place]
        before = figures(page)
        assert before
        DEEDS[step](page)
        looked_at(page)
        assert done(page) == STEPS[: place + 1]
        after = figures(page)
        assert any(after[key] != before.get(key) for key in after), f"step {step} shows what it showed before"
        if step != STEPS[-1]:
            page.button(key="next").click().run()
    assert any("every step" in item.value for item in page.success)


@pytest.mark.parametrize("step", STEPS)
def test_a_link_opens_a_step_and_nothing_is_done_by_looking(step):
    page = opened(step=step)
    assert page.header[0].value.startswith(f"{STEPS.index(step) + 1} ·")
    assert done(page) == []


def test_the_address_remembers_what_is_done():
    page = opened(step="labels", done="picture,instances,nonsense")
    assert any("Do this" in item.value for item in page.info)
    page.button(key="back").click().run()
    assert any("Done" in item.value for item in page.success)


def test_a_teacher_can_move_on_without_doing_anything():
    page = opened()
    for step in STEPS[1:]:
        page.button(key="next").click().run()
        looked_at(page)
        assert page.query_params["step"] in (step, [step])
    assert page.button(key="next").disabled
    page.button(key=f"go-{STEPS[4]}").click().run()
    assert page.header[0].value.startswith("5 ·")


def test_a_link_can_hide_the_frame():
    page = opened(step="losses", hide="steps,text,task")
    assert not [button for button in page.button if button.key in ("back", "next") or button.key.startswith("go-")]
    assert not page.info
    assert figures(page)


def test_an_unknown_step_is_the_first():
    assert opened(step="nonsense").header[0].value.startswith("1 ·")


def test_the_offered_link_leads_to_this_step_and_hides_what_was_ticked():
    page = opened(step="sparsity", done="picture")
    page.checkbox(key="hide-task").set_value(True).run()
    link = page.get("code")[0].value
    assert "step=sparsity" in link
    assert "hide=task" in link
    assert "done" not in link


@pytest.mark.parametrize("cut", ["sbn", "kmeansseg", "sift"])
def test_other_cuts_work_in_every_step_that_shows_the_picture(cut):
    page = opened(step="picture")
    page.segmented_control(key="cut").set_value(cut).run()
    for step in ("instances", "labels", "both", "attention"):
        page.button(key=f"go-{step}").click().run()
        looked_at(page)
        assert page.segmented_control(key="cut").value == cut
