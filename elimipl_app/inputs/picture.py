"""Step 1, the picture: a sample in one click, an upload, or one of this visit again; and the field of a large one."""

import hashlib
import io
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bag_generators import InputError, TissueImage
from bag_generators.base.formats import extensions, slide_extensions
from bag_generators.scale import MICRONS, ScaleDecision, decide_scale, field_size, is_large
from bag_generators.tissue.samples import Sample, list_samples
from elimipl_app.inputs.gallery import (
    KeptPicture,
    Thumbnail,
    follow_link,
    forget_all,
    is_waiting,
    keep,
    keep_for_reload,
    kept_pictures,
    offer_more_samples,
    sample_thumbnail,
    show_gallery,
    show_kept,
    shown_kept,
    thumbnail_of,
)
from elimipl_app.inputs.method import keep_model
from elimipl_app.server.log import picture_name, timed
from elimipl_app.server.pixels import read_upload
from elimipl_app.shell import choices
from elimipl_app.shell import texts as shared
from elimipl_app.shell.cached import scale_of
from elimipl_app.shell.handover import forget_handed_over, handed_over
from elimipl_app.shell.page import show_error
from elimipl_app.shell.texts import EXPECTED_SCALE

FIRST_SAMPLE = "real-gland"
"""Id of the sample shown first: a real field that the model answers and whose map bears being tested by removal.

`tests/elimipl_app/explore/test_first_visit.py` says which samples do when another model is trained.
"""

STILL_SHOWN = "The previous picture is still shown."
WHOLE_SLIDE = InputError("This is a whole slide.", "Open it on the Slide page, which reads slides piece by piece.")
GALLERY_GROUPS = {
    "real": "Real tissue, H&E",
    "restained": "Real colon tissue, re-stained",
    "phantom": "Drawings with known truth",
}
FIELD_HEADING = "Field and scale"
WHOLE_HELP = (
    "Deep reads all of it in cells at its own scale, however long that takes; the other generators shrink it to one "
    "tile. “elimipl predict” and Batch do so, too."
)
MAGNIFICATIONS = {"10×": 1.0, "20×": 0.5, "40×": 0.25}
"""µm per pixel of what scanners call so."""
SCALE_HELP = "How large a pixel is: of a 40× scan about 0.25 µm. The picture is read again at once."


@dataclass(frozen=True, eq=False)
class View:
    """The part of a picture the model sees, and where its upper left corner lies in the whole (px)."""

    image: TissueImage
    x: int = 0
    y: int = 0
    whole: TissueImage | None = None
    """The picture the field of view was cut from; None where the field is the whole picture."""
    scale: ScaleDecision | None = None
    """The scale that was decided on for the whole picture."""

    @property
    def picture(self) -> TissueImage:
        """The whole picture; its sha256 is that of the file."""
        return self.image if self.whole is None else self.whole


@dataclass(frozen=True, eq=False)
class Picture:
    """The chosen picture and, when it is one of ours, the sample it came from."""

    image: TissueImage
    sample: Sample | None
    label: str | None = None
    """The class of a fetched tile."""

    @property
    def is_drawn(self) -> bool:
        """Whether it is a drawing; such pictures are read by models of drawings."""
        return self.sample is not None and self.sample.kind == "phantom"


def choose_picture() -> Picture | None:
    """Ask for the picture; one that can't be used is refused and the one before stays. None where there is none yet."""
    st.subheader("Picture", divider="gray")
    try:
        samples = {sample.id: sample for sample in list_samples()}
    except InputError as error:
        show_error(error)
        samples = {}
    upload = st.file_uploader(
        "Upload a picture",
        type=[*extensions(), *(ending for ending in slide_extensions() if ending not in extensions())],
        help=f"{shared.UPLOAD_HELP} Whole slides open on the Slide page.",
        key="upload",
        on_change=_let_go_of_upload,
    )
    if upload is None:
        _forget_upload()
    else:
        _receive(upload.file_id, upload)
    follow_link()
    if (handed := handed_over()) is not None:
        keep(KeptPicture(handed.image, handed.title))
        show_kept(handed.image.sha256)
        keep_model()
        forget_handed_over()
    keep_for_reload()
    if is_waiting():
        return None
    chosen = _choose_sample(samples) if samples else None
    own = shown_kept()
    try:
        if own is not None:
            return Picture(own.image, None, own.label)
        return Picture(chosen.load(), chosen) if chosen else None
    except InputError as error:
        show_error(error)
        return None


def _choose_sample(samples: dict[str, Sample]) -> Sample:
    own = shown_kept()
    start = FIRST_SAMPLE if FIRST_SAMPLE in samples else next(iter(samples))
    gallery = st.container(gap="xxsmall")
    chosen = choices.one_of(
        "or take a sample",
        list(samples),
        "sample",
        start,
        title=lambda key: samples[key].title,
        shape="list",
        help="Ready pictures that ship with the app. Phantoms are drawn, so we know which parts carry the class.",
        on_change=partial(show_kept, None),
    )
    current = chosen if own is None else None
    with gallery:
        show_gallery(
            {
                "Yours in this visit": [
                    _own_thumbnail(kept, kept is own) for kept in reversed(kept_pictures().values())
                ],
                **{
                    heading: [_thumbnail(sample, current) for sample in samples.values() if sample.kind == kind]
                    for kind, heading in GALLERY_GROUPS.items()
                },
            },
            folded=GALLERY_GROUPS["phantom"],
        )
    st.caption(
        samples[chosen].description
        if own is None
        else f"Shown: {own.title}. Choose a sample to return to it; your picture stays in the gallery."
    )
    with st.container(horizontal=True):
        offer_more_samples()
        if kept_pictures():
            st.button(
                "Forget mine",
                key="forget",
                on_click=forget_all,
                type="tertiary",
                help="Drops the pictures you brought to this visit from the server's memory.",
            )
    return samples[chosen]


def _thumbnail(sample: Sample, current: str | None) -> Thumbnail:
    source = sample_thumbnail(sample.sha256, sample)
    return Thumbnail(sample.id, sample.title, source, partial(_use, sample.id), sample.id == current)


def _own_thumbnail(kept: KeptPicture, shown: bool) -> Thumbnail:
    sha256 = kept.image.sha256
    return Thumbnail(sha256[:12], kept.title, thumbnail_of(kept.image), partial(show_kept, sha256), shown)


def _use(sample_id: str) -> None:
    st.session_state["sample"] = sample_id
    show_kept(None)


@dataclass(frozen=True, eq=False)
class _Seen:
    """What became of an upload: the picture to show, or the one before and why the upload can't be used."""

    file_id: str
    sha256: str | None
    refusal: InputError | None = None


def _receive(file_id: str, upload: io.BytesIO) -> None:
    """Decode an upload once and show it; where it can't be used, say so and show the upload before it."""
    st.session_state["upload_gone"] = None
    seen: _Seen | None = st.session_state.get("upload_seen")
    if seen is None or seen.file_id != file_id:
        seen = _look_at(file_id, upload, seen.sha256 if seen else None)
        if seen.sha256 is not None:
            show_kept(seen.sha256)
        # Last: a run may be broken off for a newer one wherever it touches the state, and what is seen is not shown.
        st.session_state["upload_seen"] = seen
    if seen.refusal is not None:
        show_error(seen.refusal)
        st.caption(STILL_SHOWN)
        if seen.refusal is WHOLE_SLIDE:
            st.page_link("pages/slide.py", label="Open the Slide page", icon=":material/zoom_in_map:")


def _let_go_of_upload() -> None:
    """Return to the samples when a person takes the upload away; who visits another page takes nothing away."""
    seen: _Seen | None = st.session_state.get("upload_seen")
    own = shown_kept()
    if st.session_state["upload"] is None and seen is not None:
        st.session_state["upload_gone"] = "now"
        if own is not None and own.image.sha256 == seen.sha256:
            show_kept(None)


def _forget_upload() -> None:
    """Forget an upload that was taken away when the page runs once more without one.

    A browser that replaces a file takes the old one away first, and the page runs once in between.
    """
    if st.session_state.get("upload_gone") == "before":
        st.session_state.pop("upload_seen", None)
    elif st.session_state.get("upload_gone") == "now":
        st.session_state["upload_gone"] = "before"


def _look_at(file_id: str, upload: io.BytesIO, before: str | None) -> _Seen:
    ending = Path(getattr(upload, "name", "")).suffix.lower()
    if ending in slide_extensions() and ending not in extensions():
        return _Seen(file_id, before, WHOLE_SLIDE)
    data = upload.getvalue()
    try:
        sha256 = hashlib.sha256(data).hexdigest()
        with timed("load", **picture_name(sha256), bytes=len(data)):
            image = read_upload(data, sha256)
            _ = image.working_copy  # refuses what is too small or too long for a bag
    except InputError as refusal:
        return _Seen(file_id, before, refusal)
    keep(KeptPicture(image, f"upload {sha256[:6]}"))
    return _Seen(file_id, sha256)


MOST_AT_ONCE = 65_536 * 14**2
"""Pixels at the models' scale that cells read without being asked, about 3,500 px square; Slide reads more."""
TOO_LARGE = (
    "Larger than what is read at once (about 1.8 mm square): one field of it is read. The Slide page reads all of it."
)


def choose_field(picture: Picture, generator: str, below: DeltaGenerator) -> View:
    """The part of the picture the model sees: all of it, as `elimipl predict` reads it, or one field of a large one.

    What there is to say of it is said `below`.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="scale", gap="small"):
        chips = st.container(width="content")
        with st.popover(FIELD_HEADING, icon=":material/crop_free:"):
            scale = _choose_scale(picture.image, chips)
            view = replace(_part_of(scale.apply_to(picture.image), generator), scale=scale)
    moved = "" if view.whole is None else f" at {view.x}, {view.y}; click beside it to move it"
    below.caption(f"{view.image.width} × {view.image.height} px{moved} · {scale.sentence}")
    return view


def _part_of(image: TissueImage, generator: str) -> View:
    if not is_large(image):
        return View(image)
    if generator == "deep":
        factor = (image.microns_per_pixel or MICRONS) / MICRONS
        if image.width * image.height * factor**2 <= MOST_AT_ONCE:
            return View(image)
    if choices.switch("Whole picture", "whole", help=WHOLE_HELP):
        return View(image)
    if generator == "deep":
        st.caption(TOO_LARGE)
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


def _choose_scale(image: TissueImage, chips: DeltaGenerator) -> ScaleDecision:
    """The scale that a person sets, by a chip or in numbers, else the one decided on for every page and command."""
    state, decided = st.session_state, scale_of(image)
    start = min(4.0, max(0.05, round(decided.microns_per_pixel, 4)))
    key = "microns" if decided.origin == "assumed" else f"microns_{start:.6g}"
    microns = choices.number("µm per pixel", 0.05, 4.0, start, key, 0.05, help=SCALE_HELP)
    state["magnification"] = next((name for name, of in MAGNIFICATIONS.items() if abs(of - microns) < 1e-3), None)

    def take() -> None:
        state[key] = MAGNIFICATIONS.get(state["magnification"], start)

    chips.segmented_control(
        "Scale",
        list(MAGNIFICATIONS),
        key="magnification",
        on_change=take,
        help=SCALE_HELP,
        label_visibility="collapsed",
    )
    return decided if abs(microns - start) < 1e-9 else decide_scale(image, by_hand=microns)


def _position(image: TissueImage, size: int) -> tuple[int, int]:
    """Where the field lies: in another picture where it was left there, at first in its middle."""
    state = st.session_state
    left = state.setdefault("fields_left", {})
    before, state["field_of"] = state.get("field_of", image.sha256), image.sha256
    corner = []
    for key, label, length in (("x", "Left edge (px)", image.width), ("y", "Top edge (px)", image.height)):
        room = length - size
        if before != image.sha256:
            left[before, key] = state.get(key)
            state[key] = room // 2 if (kept := left.get((image.sha256, key))) is None else kept
        if state.get(key, 0) > room:
            state[key] = room
        if room == 0:
            corner.append(0)
            continue
        corner.append(choices.slider(label, 0, room, room // 2, key))
    return corner[0], corner[1]
