"""The few processes that read slides for everybody in this program, one question each at a time."""

from __future__ import annotations

from pathlib import Path
from queue import LifoQueue
from typing import Any

from bag_generators.errors import InputError
from bag_generators.formats import MOST_SLIDE_READERS
from bag_generators.pool import ProcessDiedError, Standby
from bag_generators.slide.reader import Question, answer

_idle: LifoQueue[Standby] = LifoQueue()  # the one that answered last has its slides open
for _ in range(MOST_SLIDE_READERS):
    _idle.put(Standby(answer))

_OUT_OF_TIME = -14
"""Exit code of a process that its alarm clock ended."""


def ask(question: Question) -> Any:
    """What a reading process answers; any thread may ask, and waits while all of them are busy."""
    reader = _idle.get()
    try:
        return reader.ask(question)
    except ProcessDiedError as death:
        raise unreadable(question.path, death.code) from None
    finally:
        _idle.put(reader)


def unreadable(path: str, code: int) -> InputError:
    """The sentence for a slide that ended the process that read it."""
    name = Path(path).name
    if code == _OUT_OF_TIME:
        return InputError(f"Reading the slide “{name}” takes too long.", "Export it again as a pyramidal TIFF.")
    return InputError(
        f"Reading the slide “{name}” stopped the program that reads it.", "Export it again as a pyramidal TIFF."
    )
