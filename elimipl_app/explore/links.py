"""What a link to Explore holds beside its widgets: the patches that were removed, and a lens that is a box."""

import re
from collections.abc import Iterable
from functools import partial

import numpy as np
import streamlit as st

from bag_generators.scale import field_size
from elimipl_app.explore.analysis import Analysis, bag_key, drawn_region, removed_patches, set_region, set_removed
from elimipl_app.explore.map_figure import movable
from elimipl_app.inputs.gallery import shows_another
from elimipl_app.shell import address

REMOVED, LENS = "removed", "lens"
LONGEST = 2_000
"""Characters of the removed patches in an address; browsers and mail programs cut longer links."""


def follow_link(analysis: Analysis) -> None:
    """Take out what the link takes out and lay its lens; afterwards let the address say what is set now."""
    key, count = bag_key(analysis), len(analysis.bag)
    for name, label, read in ((REMOVED, "Removed patches", partial(_patches, count=count)), (LENS, "Lens", _box)):
        address.look_at(name, label, read, "none", "which does not fit this picture")
    fits, old = not shows_another(), _old_field(analysis)
    if fits and (asked := address.newly_asked(REMOVED)) is not None:
        set_removed(key, _patches(asked, count) if asked else ())
    if fits and (asked := address.newly_asked(LENS)) is not None:
        set_region(key, [_box(asked)] if asked else ())
    elif fits and old is not None:
        set_region(key, [old])
    gone = as_runs(removed_patches(analysis))
    address.hold(REMOVED, [gone] if gone and len(gone) <= LONGEST else [])
    hold_lens(analysis)


def hold_lens(analysis: Analysis) -> None:
    """Let the address say where the lens lies; free shapes are too long for it."""
    boxes = []
    for polygon in drawn_region(analysis):
        if (box := movable(polygon))["type"] == "rect":
            x, y = max(0, box["x0"]), max(0, box["y0"])
            width, height = round(box["x1"] - x), round(box["y1"] - y)
            if width > 0 and height > 0:
                boxes.append(f"{x:.0f},{y:.0f},{width},{height}")
    address.hold(LENS, boxes[:1])


def as_runs(patches: Iterable[int]) -> str:
    """Numbers in rising order as few words.

    >>> as_runs([3, 4, 5, 9])
    '3-5.9'
    """
    runs: list[list[int]] = []
    for patch in patches:
        if runs and runs[-1][1] == patch - 1:
            runs[-1][1] = patch
        else:
            runs.append([patch, patch])
    return ".".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _patches(asked: list[str], count: int) -> set[int]:
    """The numbers in such words; a `ValueError` where they are none of this bag, or all of them."""
    (text,) = asked
    if not re.fullmatch(r"[0-9.-]{1,2000}", text):
        raise ValueError
    found: set[int] = set()
    for run in text.split("."):
        first, _, last = run.partition("-")
        found.update(range(int(first), min(int(last or first), count) + 1))
    if not found or max(found) >= count or len(found) == count:
        raise ValueError
    return found


def _box(asked: list[str]) -> np.ndarray:
    """Corners (4, 2) of a box that is written as its left, its top, its width and its height."""
    (text,) = asked
    if not re.fullmatch(r"(\d{1,6},){3}\d{1,6}", text):
        raise ValueError
    x, y, width, height = map(float, text.split(","))
    if not width or not height:
        raise ValueError
    return np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def _old_field(analysis: Analysis) -> np.ndarray | None:
    """Older links to a picture that is read whole name a field of it, where the lens lies now; looked at once."""
    if "old_field" in st.session_state:
        return None
    st.session_state["old_field"] = True
    asked = address.everything()
    if analysis.view.whole is not None or not {"x", "y"} & asked.keys():
        return None
    size = field_size(analysis.image)
    corner = [asked.get(name, "") for name in ("x", "y")]
    x, y = (int(at) if at.isdecimal() and len(at) < 7 else 0 for at in corner)
    return _box([f"{x},{y},{size},{size}"])
