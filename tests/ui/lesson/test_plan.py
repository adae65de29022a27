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
    three = Condition(fact="rows", at_least=3)
    hidden = Condition(**{"fact": "hidden", "is": True})
    assert three.holds({"rows": 4})
    assert not three.holds({"rows": 2})
    assert hidden.holds({"hidden": True})
    assert not hidden.holds({"hidden": False})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("missing", "does not exist"),
        ("no json", "is not JSON"),
        ("a step without a task", "lacks the entry “steps.3.task”"),
        ("a step without a demand", "damaged at “steps.3.done_when.0”: it needs one of"),
    ],
)
def test_a_damaged_lesson_is_refused_in_a_sentence(tmp_path: Path, damage: str, said: str):
    path = tmp_path / "lesson.json"
    if damage == "no json":
        path.write_text("steps: 9", encoding="utf-8")
    elif damage != "missing":
        lesson = json.loads(LESSON_FILE.read_text(encoding="utf-8"))
        if damage == "a step without a task":
            del lesson["steps"][3]["task"]
        else:
            lesson["steps"][3]["done_when"] = [{"fact": "shown"}]
        path.write_text(json.dumps(lesson), encoding="utf-8")
    with pytest.raises(InputError, match=f"The lesson “lesson.json” .*{said}|The lesson “lesson.json” {said}"):
        load_lesson(path)
