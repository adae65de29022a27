"""How many decoded pixels of uploads the server holds at once, whoever brought them.

A picture of some megabytes becomes a hundred when it is read, so that limits on what is uploaded (`upload_limit`) say
little about the memory it takes.
"""

import gc
import threading
import weakref
from collections.abc import Callable
from itertools import count

from bag_generators import InputError, TissueImage, uploads
from bag_generators.base.formats import MAX_PIXELS

MOST_BYTES = 10 * 3 * MAX_PIXELS  # ten of the largest pictures
_reserving = threading.Lock()
_keys = count()
_held: dict[int, int] = {}
_ways_to_make_room: list[Callable[[], bool]] = []


def makes_room(drop: Callable[[], bool]) -> None:
    """Have `drop` called when memory is short: it lets go of a picture that nobody looks at, if it has one."""
    _ways_to_make_room.append(drop)


def read_upload(data: bytes, sha256: str | None = None) -> TissueImage:
    """As `bag_generators.uploads.read_upload`, where there is room for one more picture of its size."""
    needed = 3 * MAX_PIXELS
    if held_bytes() + needed > MOST_BYTES:  # otherwise the header need not be read apart
        width, height = uploads.size_of_upload(data) or (0, 0)
        needed = 3 * width * height
    key = _reserve(needed)
    try:
        image = uploads.read_upload(data, sha256)
    except BaseException:
        _release(key)
        raise
    _held[key] = image.pixels.nbytes
    weakref.finalize(image.pixels, _release, key)
    return image


def held_bytes() -> int:
    """Of all pictures that live or are being read."""
    return sum(list(_held.values()))


def _reserve(needed: int) -> int:
    with _reserving:
        if held_bytes() + needed > MOST_BYTES:
            gc.collect()  # what is held in circles is gone only then
        while held_bytes() + needed > MOST_BYTES and any(drop() for drop in _ways_to_make_room):
            pass  # what nothing else holds is gone at once
        if held_bytes() + needed > MOST_BYTES:
            raise InputError(
                "The server holds as many large pictures as it can.",
                "Try again in some minutes, or upload a smaller part.",
            )
        key = next(_keys)
        _held[key] = needed
        return key


def _release(key: int) -> None:
    _held.pop(key, None)  # without the lock, for garbage is collected anywhere
