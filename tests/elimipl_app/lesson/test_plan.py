"""The lesson as data: complete, and in step with its panels."""

import numpy as np

from elimipl_app.lesson.plan import Condition, load_glossary, load_lesson
from elimipl_app.lesson.recorded import attention_runs
from elimipl_app.lesson.steps import STEPS


def test_every_step_has_a_panel_and_something_to_do():
    steps = load_lesson().steps
    assert [step.id for step in steps] == list(STEPS)
    terms = {term.id for term in load_glossary()}
    for step in steps:
        assert step.title
        assert len(step.text) > 80
        assert step.task[0].islower()  # it follows “Do this:”
        assert any(condition.fact == "revealed" for condition in step.done_when)
        assert len(step.done_when) > 1
        assert step.discuss
        assert step.minutes > 0
        assert set(step.notation) <= terms
        assert 1 < len(set(step.ask.options)) == len(step.ask.options)
        assert 0 <= step.ask.answer < len(step.ask.options)
        assert all((one.exactly is None) != (one.at_least is None) for one in step.done_when)


def test_answers_that_name_our_numbers_are_what_the_recordings_say():
    asks = {step.id: step.ask for step in load_lesson().steps}
    deep = attention_runs().cuts["deep"]
    assert 0.85 <= np.mean(deep.plain.accuracy_whole) <= 0.95  # “about nine of ten”
    assert np.mean(deep.plain.auroc) < 0.7 < 0.9 < np.mean(deep.composed.auroc)
    assert asks["attention"].options[asks["attention"].answer].startswith("Hardly")


def test_conditions():
    three = Condition(fact="rows", at_least=3)
    hidden = Condition(**{"fact": "hidden", "is": True})
    assert three.holds({"rows": 4})
    assert not three.holds({"rows": 2})
    assert hidden.holds({"hidden": True})
    assert not hidden.holds({"hidden": False})
