"""The few processes that read slides for everybody in this program, one question each at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bag_generators.errors import InputError
from bag_generators.formats import MOST_OVERVIEW_SECONDS, MOST_SECONDS_IN_LINE, MOST_SLIDE_READERS
from bag_generators.pool import OUT_OF_TIME, ProcessDiedError, Standbys
from bag_generators.slide.reader import Question, answer

_readers = Standbys(answer, MOST_SLIDE_READERS, 2 * MOST_OVERVIEW_SECONDS, MOST_SECONDS_IN_LINE)


def ask(question: Question) -> Any:
    """What a reading process answers; any thread may ask, and waits while all of them are busy."""
    try:
        return _readers.ask(question)
    except ProcessDiedError as death:
        raise unreadable(question.path, death.code) from None


def unreadable(path: str, code: int) -> InputError:
    """The sentence for a slide that ended the process that read it."""
    name = Path(path).name
    if code == OUT_OF_TIME:
        return InputError(f"Reading the slide “{name}” takes too long.", "Export it again as a pyramidal TIFF.")
    return InputError(
        f"Reading the slide “{name}” stopped the program that reads it.", "Export it again as a pyramidal TIFF."
    )
