"""The lesson as data: what each step says, what the learner is to do, and how to tell that it was done."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from bag_generators.assets import assets
from bag_generators.validation import Record, read_json, validated

LESSON_FILE = assets("lessons", "dual_inexact_supervision.json")
_REPAIR = "Get the project's files again."


class Condition(Record):
    """A demand on one of the facts a step reports: that it is exactly something, or at least some number."""

    fact: str
    exactly: bool | float | str | None = Field(None, alias="is")
    at_least: float | None = None

    @model_validator(mode="after")
    def _one_demand(self) -> "Condition":
        if (self.exactly is None) == (self.at_least is None):
            raise ValueError("it needs one of “is” and “at_least”")
        return self

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner has brought this about."""
        value = facts[self.fact]
        return value == self.exactly if self.at_least is None else bool(value >= self.at_least)


class Step(Record):
    """One screen of the lesson."""

    id: str
    title: str
    paragraphs: tuple[str, ...] = Field(alias="text")
    task: str
    done_when: tuple[Condition, ...]

    @property
    def text(self) -> str:
        """What the step says, as Markdown."""
        return "\n\n".join(self.paragraphs)

    def is_done(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner did what the task asks."""
        return all(condition.holds(facts) for condition in self.done_when)


class _Lesson(Record):
    title: str
    source: str
    steps: tuple[Step, ...]


def load_lesson(path: Path = LESSON_FILE) -> tuple[Step, ...]:
    """The steps in their order. A file that is missing or damaged is an `InputError`."""
    called = f"The lesson “{path.name}”"
    return validated(_Lesson, read_json(path, called, _REPAIR), called, _REPAIR).steps
