"""How the app reads what strangers upload: in a process that is ready for it, within limits of time and memory.

A file that is made to keep a reader busy or to fill the memory ends that process and nothing else: its visitor gets a
sentence, all others notice nothing, and the next file finds a new process.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any, NamedTuple

from bag_generators.base.errors import InputError
from bag_generators.base.formats import (
    MOST_PICTURE_READERS,
    MOST_PICTURE_SECONDS,
    MOST_READER_BYTES,
    MOST_SECONDS_IN_LINE,
)
from bag_generators.base.pool import OUT_OF_TIME, ProcessDiedError, Standbys, limited
from bag_generators.image import TissueImage
from bag_generators.reading.decoding import (
    EXPORT_AGAIN,
    NO_MEMORY,
    Decoded,
    decode,
    refuse_if_too_many_bytes,
    stated_size,
)

_SECONDS_TO_START = 20.0


class ReadTask(NamedTuple):
    """A file, and whether only the size that its header states is asked for."""

    data: bytes
    only_size: bool
    seconds: float


def read_upload(data: bytes, sha256: str | None = None) -> TissueImage:
    """As `bag_generators.load` of bytes, but for files of strangers; any thread may ask.

    `sha256` is that of the bytes, for those who know it already.
    """
    pixels, notes, scale = _ask(data, only_size=False)
    return TissueImage(pixels, sha256 or hashlib.sha256(data).hexdigest(), notes, *scale)


def size_of_upload(data: bytes) -> tuple[int, int] | None:
    """Width and height as the header states them; None where the file is no picture we can read."""
    size: tuple[int, int] | None = _ask(data, only_size=True)
    return size


def start_readers() -> None:
    """Start a process, so that the first visitor need not wait for it; where none can be started, an upload says so."""
    with suppress(OSError):
        _readers.start()


def carry_out(question: ReadTask) -> Decoded | tuple[int, int] | None:
    """What a reading process does."""
    try:
        with limited(question.seconds, MOST_READER_BYTES):
            return stated_size(question.data) if question.only_size else decode(question.data)
    except MemoryError:  # so little was left that not even the sentence could be made
        raise InputError(*NO_MEMORY) from None


_readers = Standbys(carry_out, MOST_PICTURE_READERS, MOST_PICTURE_SECONDS + _SECONDS_TO_START, MOST_SECONDS_IN_LINE)


def _ask(data: bytes, only_size: bool) -> Any:
    refuse_if_too_many_bytes(len(data), data[:64])
    try:
        return _readers.ask(ReadTask(data, only_size, MOST_PICTURE_SECONDS))
    except ProcessDiedError as death:
        if death.code == OUT_OF_TIME:
            raise InputError("Reading this picture takes too long.", EXPORT_AGAIN) from None
        raise InputError("Reading this picture stopped the program that reads it.", EXPORT_AGAIN) from None
    except OSError as error:
        raise InputError(
            f"The program that reads pictures can't be started ({error.strerror}).",
            "Look whether this user may run Python and the machine has memory left.",
        ) from None
