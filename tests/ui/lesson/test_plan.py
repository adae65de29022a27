"""The lesson as data: complete, in step with its panels, and refused in a sentence when damaged."""

import json
from pathlib import Path

import pytest

from bag_generators import InputError
from ui.lesson.plan import LESSON_FILE, Condition, load_lesson
from ui.lesson.steps import STEPS


def test_every_step_has_a_panel_and_something_to_do():
    steps = load_lesson()
    assert [step.id for step in steps] == list(STEPS)
    for step in steps:
        assert step.title
        assert len(step.text) > 80
        assert step.task[0].islower()  # it follows “Do this:”
        assert step.done_when


def test_conditions():
    assert Condition("rows", 3, at_least=True).holds({"rows": 4})
    assert not Condition("rows", 3, at_least=True).holds({"rows": 2})
    assert Condition("hidden", True, at_least=False).holds({"hidden": True})
    assert not Condition("hidden", True, at_least=False).holds({"hidden": False})


@pytest.mark.parametrize("damage", ["missing", "no json", "a step without a task"])
def test_a_damaged_lesson_is_refused_in_a_sentence(tmp_path: Path, damage: str):
    path = tmp_path / "lesson.json"
    if damage == "no json":
        path.write_text("steps: 9", encoding="utf-8")
    elif damage != "missing":
        lesson = json.loads(LESSON_FILE.read_text(encoding="utf-8"))
        del lesson["steps"][3]["task"]
        path.write_text(json.dumps(lesson), encoding="utf-8")
    with pytest.raises(InputError, match="missing or damaged"):
        load_lesson(path)
