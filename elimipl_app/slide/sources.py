"""Which slide: one of the folder, one that the person uploaded, which is kept as a file for a while, or a demo."""

import hashlib
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import streamlit as st

from bag_generators import InputError
from bag_generators.base.errors import shown_name
from bag_generators.base.formats import slide_extensions
from bag_generators.slide import Slide, list_slides, open_slide, slide_path
from bag_generators.slide.demo import write_demo_slide
from elimipl import jobs
from elimipl.slides.regions.region import kept_regions
from elimipl_app.server.log import timed
from elimipl_app.server.visitor import visitor
from elimipl_app.server.work_folder import work_folder
from elimipl_app.shell import choices
from elimipl_app.shell.page import show_error
from elimipl_app.slide import texts

MOST_OWN = 3
"""Slides of one visitor; the oldest makes room."""
MOST_KEPT = 20
"""Slides of all visitors."""


@dataclass(frozen=True)
class OwnSlide:
    """A slide of one visitor: its number in the visit, what the person calls it, and the file."""

    visitor: str
    number: int
    name: str
    path: Path


class OwnSlides:
    """All slides that visitors brought, in a folder that goes with the program."""

    def __init__(self, folder: Path, most_own: int = MOST_OWN, most_kept: int = MOST_KEPT) -> None:
        self._folder, self._most_own, self._most_kept = folder, most_own, most_kept
        self._slides: OrderedDict[str, OwnSlide] = OrderedDict()
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, visitor: str) -> tuple[OwnSlide, ...]:
        """One visitor's slides, the oldest first."""
        with self._lock:
            return tuple(slide for slide in self._slides.values() if slide.visitor == visitor)

    def add(self, visitor: str, name: str, ending: str, write: Callable[[Path], object]) -> OwnSlide:
        """Keep a slide that `write` puts into a file and that can be opened; otherwise nothing stays behind.

        `ending` is one of ours, never a part of a visitor's text.
        """
        key = secrets.token_hex(16)
        path = self._folder / key / f"slide{ending}"
        try:
            path.parent.mkdir(parents=True)
            write(path)
            open_slide(path)
        except OSError:
            self._delete(path)
            raise InputError(
                "The slide could not be kept: the server's disk is full, or may not be written to.",
                "Forget slides you no longer need, or tell who runs the server.",
            ) from None
        except BaseException:
            self._delete(path)
            raise
        with self._lock:
            self._counts[visitor] = self._counts.get(visitor, 0) + 1
            added = self._slides[key] = OwnSlide(visitor, self._counts[visitor], name, path)
            mine = [one for one, slide in self._slides.items() if slide.visitor == visitor]
            too_many = mine[: -self._most_own] + list(self._slides)[: -self._most_kept]
            dropped = [self._slides.pop(one) for one in dict.fromkeys(too_many)]
        for slide in dropped:
            self._delete(slide.path)
        return added

    def forget(self, visitor: str) -> None:
        """Delete all slides of a visitor."""
        with self._lock:
            mine = [one for one, slide in self._slides.items() if slide.visitor == visitor]
            dropped = [self._slides.pop(one) for one in mine]
        for slide in dropped:
            self._delete(slide.path)

    def _delete(self, path: Path) -> None:
        shutil.rmtree(path.parent, ignore_errors=True)


@cache
def own_slides() -> OwnSlides:
    """The slides of all visitors of this server."""
    return OwnSlides(work_folder() / "slides")


_CHOSEN, _SEEN = "slide", "slide_upload_seen"
_ALONE = (".mrxs", ".vms", ".vmu")
"""Endings of slides that lie in several files, which a browser does not send together."""
_SALT = secrets.token_bytes(16)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A slide, what it is called, and its pixels for tiles. `id` tells nothing about the file."""

    id: str
    title: str
    slide: Slide

    @property
    def width(self) -> int:
        return self.slide.width

    @property
    def height(self) -> int:
        return self.slide.height

    def shrunken(self, x: int, y: int, size: int, by: int) -> np.ndarray:
        """A square of the slide made smaller, for a tile."""
        return self.slide.pixels(x, y, size * by, size * by, (size, size))


@dataclass(frozen=True)
class Offered:
    """A slide that can be chosen: what the page calls it, and how it is opened."""

    title: str
    path: Callable[[], Path]

    def open(self) -> Chosen:
        """The slide, or a refusal."""
        slide = open_slide(self.path())
        facts = repr((str(slide.path), slide.state)).encode()
        return Chosen(hashlib.sha256(_SALT + facts).hexdigest()[:24], self.title, slide)


def choose_slide() -> Offered | None:
    """Ask for the slide; None where there is none at all."""
    st.subheader("Slide", divider="gray")
    _take_upload()
    offered = _offered()
    chosen = choices.one_of("Which slide", list(offered), _CHOSEN, shape="list") if offered else None
    st.caption(texts.LARGER)
    if own_slides().of(visitor()) or jobs.SERVER.of(visitor(), "slide"):
        st.button(
            "Forget my slides and maps",
            icon=":material/delete:",
            help="Deletes what you uploaded here and the maps of it. Otherwise both stay until the server ends.",
            on_click=_forget,
            key="slide_forget",
        )
    return None if chosen is None else offered[chosen]


def _offered() -> dict[str, Offered]:
    """All slides there are, by what the address calls them: the names of uploads stay out of it."""
    offered: dict[str, Offered] = {}
    try:
        for name in list_slides():
            offered[name] = Offered(shown_name(name), partial(slide_path, name))
    except InputError as error:
        show_error(error)
    if (demo := _demo_path()).exists():
        offered[texts.DEMO_TITLE] = Offered(texts.DEMO_TITLE, lambda: demo)
    for kept in own_slides().of(visitor()):
        offered[texts.own_title(kept.number)] = Offered(kept.name, partial(attrgetter("path"), kept))
    return offered


def offer_demo() -> None:
    """What the page shows where there is no slide at all."""
    st.info(
        (
            "There is no slide here yet: upload one, or start the app with a folder of slides. "
            "To look around first, make a small demo slide of drawn tissue."
        ),
        icon=":material/biotech:",
    )
    if st.button("Make a demo slide", icon=":material/draw:", type="primary", key="slide_demo"):
        try:
            with st.spinner("Drawing the demo slide…"), timed("demo slide"):
                _make_demo()
        except InputError as error:
            show_error(error)
            return
        st.rerun()


def _take_upload() -> None:
    """Keep a new upload and choose it; one that can't be used is refused and what was chosen stays."""
    endings = slide_extensions()
    upload = st.file_uploader("Your own slide", type=endings, help=texts.UPLOAD_HELP, key="slide_upload")
    if upload is None:
        st.session_state.pop(_SEEN, None)
        return
    seen = st.session_state.get(_SEEN)
    if seen is None or seen[0] != upload.file_id:
        refusal = None
        ending = next((one for one in endings if upload.name.lower().endswith(one)), endings[0])
        try:
            if ending in _ALONE:
                raise InputError(*texts.SEVERAL_FILES)
            with timed("slide upload", bytes=upload.size):
                data = upload.getvalue()
                kept = own_slides().add(visitor(), shown_name(upload.name), ending, lambda path: path.write_bytes(data))
            st.session_state[_CHOSEN] = texts.own_title(kept.number)
        except InputError as error:
            refusal = error
        seen = st.session_state[_SEEN] = (upload.file_id, refusal)
    if seen[1] is not None:
        show_error(seen[1])


def _forget() -> None:
    jobs.SERVER.forget(visitor(), "slide")
    own_slides().forget(visitor())
    kept_regions.forget(visitor())


def _demo_path() -> Path:
    return work_folder() / "demo" / "demo.tif"


@st.cache_resource(show_spinner=False)
def _make_demo() -> None:
    """Once for the whole server: it is the same for everybody."""
    write_demo_slide(_demo_path())
