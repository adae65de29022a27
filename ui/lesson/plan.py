"""The lesson as data: what each step says, what the learner is to do, and how to tell that it was done."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bag_generators import InputError
from bag_generators.assets import assets

LESSON_FILE = assets("lessons", "dual_inexact_supervision.json")


@dataclass(frozen=True)
class Condition:
    """A demand on one of the facts a step reports: that it is exactly something, or at least some number."""

    fact: str
    wanted: Any
    at_least: bool

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner has brought this about."""
        value = facts[self.fact]
        return bool(value >= self.wanted) if self.at_least else value == self.wanted


@dataclass(frozen=True)
class Step:
    """One screen of the lesson."""

    id: str
    title: str
    text: str
    task: str
    done_when: tuple[Condition, ...]

    def is_done(self, facts: Mapping[str, Any]) -> bool:
        """Whether the learner did what the task asks."""
        return all(condition.holds(facts) for condition in self.done_when)


def load_lesson(path: Path = LESSON_FILE) -> tuple[Step, ...]:
    """The steps in their order. A file that is missing or damaged is an `InputError`."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["steps"]
        return tuple(_step(entry) for entry in entries)
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"The lesson “{path.name}” is missing or damaged.", "Get the project's files again.") from None


def _step(entry: Mapping[str, Any]) -> Step:
    conditions = tuple(
        Condition(item["fact"], item["at_least"] if "at_least" in item else item["is"], "at_least" in item)
        for item in entry["done_when"]
    )
    return Step(entry["id"], entry["title"], "\n\n".join(entry["text"]), entry["task"], conditions)
