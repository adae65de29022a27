"""Inner parts of Streamlit and uvicorn that are replaced or relied on: each is looked for before the server answers.

A guard that is put under a name that no longer exists guards nothing, and nobody would notice. So a version that has
renamed such a part is refused when the server starts.
"""

from collections.abc import Iterable
from typing import Any

from bag_generators import InputError


def inner(place: Any, name: str) -> Any:
    """The part called `name` of a module or object, or of a class itself: an abstract one that it inherits is none."""
    if name not in vars(place) if isinstance(place, type) else not hasattr(place, name):
        called = getattr(place, "__qualname__", None) or getattr(place, "__name__", None) or type(place).__qualname__
        raise refused(f"“{called}” has no “{name}”")
    return getattr(place, name)


def replace_inner(place: Any, name: str, ours: Any) -> None:
    """Put something of ours in the place of a part that is there."""
    inner(place, name)
    setattr(place, name, ours)


def check_set_by_init(kind: type, names: Iterable[str]) -> None:
    """Make sure that objects of a class have these attributes from the beginning."""
    set_there = {*inner(inner(kind, "__init__"), "__code__").co_names}
    if missing := sorted({*names} - set_there):
        raise refused(f"“{kind.__qualname__}” sets no “{missing[0]}”")


def refused(what: str) -> InputError:
    """Why the server doesn't start."""
    return InputError(
        f"The server was not started, for one of its guards would not hold: {what}.",
        "Install the versions of Streamlit, Starlette and uvicorn in requirements.txt.",
    )
