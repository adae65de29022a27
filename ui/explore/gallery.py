"""The gallery: small pictures to click, in groups that say what they are."""

import base64
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import cv2
import streamlit as st

from bag_generators import TissueImage
from bag_generators.tissue.samples import Sample

SIDE = 72  # px of a thumbnail, twice what the screen shows
STYLE = """
[class*="st-key-thumb-"] button:hover, [class*="st-key-thumb-"] button:focus-visible {{border-color: {accent}}}
{shown} button {{border-color: {accent}; box-shadow: 0 0 0 2px {accent}}}
"""
ACCENT = "#D81B60"


@dataclass(frozen=True)
class Thumbnail:
    """One picture of the gallery; `name` is safe in a CSS class."""

    name: str
    title: str
    source: str
    use: Callable[[], None]
    shown: bool


def show_gallery(groups: Mapping[str, list[Thumbnail]], folded: str) -> None:
    """Thumbnails under the heading of their group; each is a button, so that the keyboard reaches it, too.

    The group `folded` opens by a click, unless one of its pictures is shown.
    """
    thumbnails = [thumbnail for group in groups.values() for thumbnail in group]
    shown = next((f".st-key-thumb-{item.name}" for item in thumbnails if item.shown), ".st-key-thumb-none")
    pictures = "".join(
        f'.st-key-thumb-{item.name} button {{background-image: url("{item.source}")}}' for item in thumbnails
    )
    st.html(f"<style>{STYLE.format(accent=ACCENT, shown=shown)}{pictures}</style>")
    for heading, members in groups.items():
        if not members:
            continue
        with ExitStack() as place:
            if heading == folded:
                place.enter_context(st.expander(heading, expanded=any(item.shown for item in members)))
            else:
                st.caption(heading)
            place.enter_context(st.container(horizontal=True, gap="xxsmall"))
            for item in members:
                st.button(item.title, key=f"thumb-{item.name}", on_click=item.use, help=item.title)


@st.cache_resource(max_entries=64, show_spinner=False)
def sample_thumbnail(sha256: str, _sample: Sample) -> str:
    """A sample as a data URI, made once for everybody."""
    return thumbnail_of(_sample.load())


def thumbnail_of(image: TissueImage) -> str:
    """A picture as a small JPEG in a data URI: its middle, square."""
    side = min(image.width, image.height)
    x, y = (image.width - side) // 2, (image.height - side) // 2
    small = cv2.resize(image.pixels[y : y + side, x : x + side], (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 75])
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode("ascii")
