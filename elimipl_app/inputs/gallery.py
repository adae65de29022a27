"""The gallery: samples, the pictures a person brought to this visit, and links to them."""

import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import streamlit as st

from bag_generators import InputError, TissueImage
from bag_generators.tissue.samples import Sample
from elimipl_app.charts.tissue import display_copy
from elimipl_app.server.log import timed
from elimipl_app.server.pixels import makes_room, read_upload
from elimipl_app.server.visitor import KeptForVisitors, visitor
from elimipl_app.shell import address
from elimipl_app.shell.page import show_error

MOST_KEPT = 8
MOST_BYTES = 64_000_000
"""Of pixels; the picture on the page is kept however large it is."""
MORE_HELP = "Fetches four tiles of CRC-VAL-HE-7K (CC BY 4.0) from Zenodo, about a megabyte. Nothing of yours is sent."
MORE_FAILED = "The tiles could not be fetched from Zenodo."
_KEPT, _SHOWN = "kept_pictures", "shown_kept"
MOST_BYTES_OF_ALL = 512_000_000


@dataclass(frozen=True, eq=False)
class KeptPicture:
    """A picture, what it is called here (never the name of its file), and its class where somebody knows it."""

    image: TissueImage
    title: str
    label: str | None = None


def _size(kept: Mapping[str, KeptPicture]) -> int:
    return sum(one.image.pixels.nbytes for one in kept.values())


_of_browsers: KeptForVisitors[dict[str, KeptPicture]] = KeptForVisitors(MOST_BYTES_OF_ALL, _size)
"""A reload ends the visit; who is back within ten minutes finds the pictures again. Later nothing is kept."""
makes_room(_of_browsers.drop_longest_unused)


def kept_pictures() -> dict[str, KeptPicture]:
    """By sha256, the oldest first."""
    if _KEPT not in st.session_state:
        st.session_state[_KEPT] = dict(_of_browsers.of(visitor()) or {})
    return cast(dict[str, KeptPicture], st.session_state[_KEPT])


def keep_for_reload() -> None:
    """Call in every run: the ten minutes begin again. The tabs of a browser leave each other's pictures alone."""
    if kept := kept_pictures():
        _of_browsers.keep(visitor(), _within_limits({**(_of_browsers.of(visitor()) or {}), **kept}))


def keep(picture: KeptPicture) -> None:
    """Keep a picture for this visit; the oldest make room."""
    kept = kept_pictures()
    kept.pop(picture.image.sha256, None)
    kept[picture.image.sha256] = picture
    _within_limits(kept)


def _within_limits(kept: dict[str, KeptPicture]) -> dict[str, KeptPicture]:
    """The same, without the oldest where they are too many or too large."""
    while len(kept) > MOST_KEPT or (len(kept) > 1 and _size(kept) > MOST_BYTES):
        kept.pop(next(iter(kept)))
    return kept


def show_kept(sha256: str | None) -> None:
    """Show one of the kept pictures from now on; None returns to the samples."""
    st.session_state[_SHOWN] = sha256


def shown_kept() -> KeptPicture | None:
    """The kept picture on the page; None while a sample is shown."""
    return kept_pictures().get(str(st.session_state.get(_SHOWN)))


def forget_all() -> None:
    """Drop every kept picture and return to the samples."""
    kept_pictures().clear()
    _of_browsers.forget(visitor())
    show_kept(None)


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
    return display_copy(TissueImage(image.pixels[y : y + side, x : x + side], image.sha256), SIDE)


CLASSES = ("LYM", "MUC", "NORM", "TUM")


def offer_more_samples() -> None:
    """One button. It is the only thing on the page that asks the internet."""
    if st.button("More real samples", key="more-samples", icon=":material/cloud_download:", help=MORE_HELP):
        try:
            with st.spinner("Fetching four tiles from Zenodo…"), timed("fetch"):
                _fetch()
        except InputError as error:
            show_error(InputError(MORE_FAILED, error.fix))
            return
        st.rerun()


def _fetch() -> None:
    """One tile of each class, kept for the visit like an upload."""
    from elimipl.datasets.fetch import (  # what asks the internet is loaded when it is asked
        DATASETS,
        LICENCE,
        fetch_tiles,
    )

    with tempfile.TemporaryDirectory() as folder:
        for path in fetch_tiles(DATASETS[0], 1, Path(folder), classes=CLASSES):
            label = path.parent.name
            keep(KeptPicture(read_upload(path.read_bytes()), f"{label} tile of CRC-VAL-HE-7K ({LICENCE})", label))


KEY = "picture"
DIGITS = 16
"""Of the sha256 in a link: enough to tell any two pictures apart."""
_WAITS, _OTHER = "link_waits_for", "link_had_other"


def follow_link() -> None:
    """Call when a new upload has been received: show the picture of the link if it is there, else wait for it."""
    state = st.session_state
    address.look_at(KEY, "Picture", _hash, "a sample", "which is not the sha256 of a picture")
    asked = address.newly_asked(KEY)
    if asked is not None:
        state[_WAITS] = asked[0] if asked else None
        if not asked:  # back in the history, where a sample was shown
            show_kept(None)
    state[_OTHER] = None
    wanted = state.get(_WAITS)
    if wanted is not None:
        found = next((sha256 for sha256 in kept_pictures() if sha256.startswith(wanted)), None)
        if found is not None:
            show_kept(found)
        elif shown_kept() is not None:
            state[_OTHER] = wanted
        else:
            address.settle(KEY)
            return
        state[_WAITS] = None
    own = shown_kept()
    address.hold(KEY, [] if own is None else [own.image.sha256[:DIGITS]])


def is_waiting() -> bool:
    """Whether the link names a picture that this visitor has not opened yet."""
    return st.session_state.get(_WAITS) is not None


def shows_another() -> bool:
    """Whether the link names a picture that is not the one on the page."""
    return st.session_state.get(_OTHER) is not None


def show_waiting() -> None:
    """Say which picture the link was made with, or that another one was opened."""
    if is_waiting():
        st.info(
            f"This link was made with a picture you don't have (sha256 {st.session_state[_WAITS]}…). Open it at the "
            "left, and the view is restored.",
            icon=":material/link:",
        )
        st.button("Show a sample instead", key="stop-waiting", on_click=st.session_state.update, args=({_WAITS: None},))
    elif (wanted := st.session_state.get(_OTHER)) is not None:
        other = (
            f"The link was made with another picture (sha256 {wanted}…); its view is used as far as it fits this one."
        )
        st.info(other, icon=":material/link_off:")


def _hash(asked: list[str]) -> str:
    if len(asked) != 1 or not re.fullmatch(rf"[0-9a-f]{{{DIGITS},64}}", asked[0]):
        raise ValueError
    return asked[0]
