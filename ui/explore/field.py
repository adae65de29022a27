"""The field of view of a large picture: a click in the picture moves it, one line sets the scale."""

from dataclasses import replace

import streamlit as st

from bag_generators import TissueImage
from bag_generators.scale import MICRONS, ScaleDecision, decide_scale, field_size, is_large
from ui.explore import texts
from ui.explore.analysis import View
from ui.explore.picture import Picture
from ui.frame import address, choices
from ui.frame.cached import scale_of
from ui.frame.texts import EXPECTED_SCALE

QUICK = 4_000_000
"""Pixels at the models' scale of a picture that cells read as a whole before anybody asks for it."""


def choose_field(picture: Picture, generator: str) -> View:
    """The part of the picture the model sees: all of it, as `elimipl predict` reads it, or one field of a large one."""
    with st.container(horizontal=True, vertical_alignment="center", key="field"):
        said = st.container(width="stretch")
        with st.popover(texts.FIELD_HEADING, icon=":material/crop_free:"):
            scale = _choose_scale(picture.image)
            view = replace(_part_of(scale.apply_to(picture.image), generator), scale=scale)
        moved = "" if view.whole is None else f" at {view.x}, {view.y}; click beside it to move it"
        said.caption(f"{view.image.width} × {view.image.height} px{moved} · {scale.sentence}")
    return view


def _part_of(image: TissueImage, generator: str) -> View:
    if not is_large(image):
        return View(image)
    factor = (image.microns_per_pixel or MICRONS) / MICRONS
    if generator == "deep" and image.width * image.height * factor**2 <= QUICK:
        if "part" not in st.session_state and {"x", "y"} & address.everything().keys():
            st.session_state["part"] = True  # the link is one to a field
        whole = not choices.switch("One field only", "part", help=texts.PART_HELP)
    else:
        whole = choices.switch("Whole picture", "whole", help=texts.WHOLE_HELP)
    if whole:
        return View(image)
    size = field_size(image)
    x, y = _position(image, size)
    st.caption(
        f"{EXPECTED_SCALE} Here that is a tile of {size} × {size} px. Click beside it in the picture to move it."
    )
    return View(image.tile(x, y, size), x, y, image)


def move_to(x: float, y: float, size: int, image: TissueImage) -> None:
    """Centre the field of view at a point of the picture, as far as it goes."""
    st.session_state["x"] = max(0, min(image.width - size, round(x - size / 2)))
    st.session_state["y"] = max(0, min(image.height - size, round(y - size / 2)))


def _choose_scale(image: TissueImage) -> ScaleDecision:
    """The scale that a person sets, else the one decided on for every page and command."""
    decided = scale_of(image)
    start = min(4.0, max(0.05, round(decided.microns_per_pixel, 4)))
    key = "microns" if decided.origin == "assumed" else f"microns_{start:.6g}"
    microns = choices.number("µm per pixel", 0.05, 4.0, start, key, 0.05, help=texts.SCALE_HELP)
    return decided if abs(microns - start) < 1e-9 else decide_scale(image, by_hand=microns)


def _position(image: TissueImage, size: int) -> tuple[int, int]:
    corner = []
    for key, label, length in (("x", "Left edge (px)", image.width), ("y", "Top edge (px)", image.height)):
        room = length - size
        if st.session_state.get(key, 0) > room:
            st.session_state[key] = room
        if room == 0:
            corner.append(0)
            continue
        corner.append(choices.slider(label, 0, room, room // 2, key))
    return corner[0], corner[1]
