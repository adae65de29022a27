"""Which slide: one of the folder, one that the person brought, or a demo drawn here."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
from elimipl_app.slide.own import own_slides

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
            help=texts.FORGET_HELP,
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
    st.info(texts.NOTHING_YET, icon=":material/biotech:")
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
