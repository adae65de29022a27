"""The lesson as data: what each step says and asks, what the learner is to do, and how to tell that it was done."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, TypeAdapter

from bag_generators.base.assets import assets
from bag_generators.base.validation import Record

LESSON_FILE = assets("lessons", "dual_inexact_supervision.json")
GLOSSARY_FILE = assets("lessons", "glossary.json")


class Condition(Record):
    """A demand on one of the facts a step reports: that it is exactly something, or at least some number."""

    fact: str
    exactly: bool | float | str | None = Field(None, alias="is")
    at_least: float | None = None

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner has brought this about."""
        value = facts[self.fact]
        return value == self.exactly if self.at_least is None else bool(value >= self.at_least)


class Question(Record):
    """What the learner predicts before looking: one of some options is right, and why."""

    question: str
    options: tuple[str, ...]
    answer: int
    because: str


class Discussion(Record):
    """A question for the class, and what an answer should hold."""

    question: str
    answer: str


class Step(Record):
    """One screen of the lesson."""

    id: str
    title: str
    minutes: int
    """How long a class takes."""
    paragraphs: tuple[str, ...] = Field(alias="text")
    ask: Question
    task: str
    done_when: tuple[Condition, ...]
    notation: tuple[str, ...]
    """Ids of the glossary that this step uses."""
    discuss: tuple[Discussion, ...]

    @property
    def text(self) -> str:
        """What the step says, as Markdown."""
        return "\n\n".join(self.paragraphs)

    def is_done(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner did what the task asks."""
        return all(condition.holds(facts) for condition in self.done_when)


class Lesson(Record):
    """All steps in their order."""

    title: str
    source: str
    steps: tuple[Step, ...]

    @property
    def minutes(self) -> int:
        return sum(step.minutes for step in self.steps)


class Term(Record):
    """A symbol or an abbreviation of the lesson."""

    id: str
    symbol: str
    name: str
    meaning: str


def load_lesson() -> Lesson:
    """The lesson, which ships with the program."""
    return Lesson.model_validate_json(LESSON_FILE.read_bytes())


def load_glossary() -> tuple[Term, ...]:
    """The glossary in its order."""
    return TypeAdapter(tuple[Term, ...]).validate_json(GLOSSARY_FILE.read_bytes())
