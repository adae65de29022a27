"""Step 1, the picture: a sample in one click, or an upload."""

import hashlib
from dataclasses import dataclass

import streamlit as st

from bag_generators import InputError, TissueImage, load
from bag_generators.formats import extensions
from bag_generators.tissue.samples import Sample, list_samples
from ui.explore import texts
from ui.frame import choices
from ui.frame import texts as shared
from ui.frame.log import picture_name, timed
from ui.frame.page import show_error


@dataclass(frozen=True, eq=False)
class Picture:
    """The chosen picture and, when it is one of ours, the sample it came from."""

    image: TissueImage
    sample: Sample | None


def choose_picture() -> Picture | None:
    """Ask for the picture; one that can't be used is refused and the one before stays. None where there is none."""
    st.subheader(texts.PICTURE_HEADING, divider="gray")
    try:
        samples = {sample.id: sample for sample in list_samples()}
    except InputError as error:
        show_error(error)
        samples = {}
    upload = st.file_uploader(texts.UPLOAD_LABEL, type=list(extensions()), help=shared.UPLOAD_HELP, key="upload")
    _forget_upload(gone=upload is None)
    own = None if upload is None else _uploaded(upload.file_id, upload.getvalue())
    chosen = _choose_sample(samples, disabled=own is not None) if samples else None
    try:
        if own is not None:
            return Picture(own, None)
        return Picture(chosen.load(), chosen) if chosen else None
    except InputError as error:
        show_error(error)
        return None


def _choose_sample(samples: dict[str, Sample], disabled: bool) -> Sample:
    chosen = choices.one_of(
        texts.SAMPLE_LABEL,
        list(samples),
        "sample",
        title=lambda key: samples[key].title,
        shape="list",
        help=texts.SAMPLE_HELP,
        disabled=disabled,
    )
    with st.popover(texts.GALLERY_LABEL, icon=":material/grid_view:", disabled=disabled, width="stretch"):
        _gallery(samples)
    st.caption(texts.UPLOAD_IN_USE if disabled else samples[chosen].description)
    return samples[chosen]


def _gallery(samples: dict[str, Sample]) -> None:
    columns = st.columns(3)
    for number, sample in enumerate(samples.values()):
        with columns[number % 3]:
            # As they are: Streamlit would turn them all into JPEGs each time the page is run.
            st.image(str(sample.folder / sample.file), width="stretch", output_format="PNG", alt=sample.title)
            st.button(
                sample.title, key=f"use-{sample.id}", on_click=_use, args=(sample.id,), type="tertiary", width="stretch"
            )


def _use(sample_id: str) -> None:
    st.session_state["sample"] = sample_id


@dataclass(frozen=True, eq=False)
class _Seen:
    """What became of an upload: its picture, or the one before and why the upload can't be used."""

    file_id: str
    image: TissueImage | None
    refusal: InputError | None = None


def _uploaded(file_id: str, data: bytes) -> TissueImage | None:
    """The upload, decoded once. It is kept in the visitor's own session, one picture at a time."""
    seen: _Seen | None = st.session_state.get("upload_seen")
    if seen is None or seen.file_id != file_id:
        seen = _look_at(file_id, data, seen.image if seen else None)
        st.session_state["upload_seen"] = seen
    if seen.refusal is not None:
        show_error(seen.refusal)
        st.caption(texts.STILL_SHOWN)
    return seen.image


def _forget_upload(gone: bool) -> None:
    """Forget the upload when the page runs a second time without one.

    A browser that replaces a file takes the old one away first, and the page runs once in between.
    """
    if gone and st.session_state.get("upload_gone"):
        st.session_state.pop("upload_seen", None)
    st.session_state["upload_gone"] = gone


def _look_at(file_id: str, data: bytes, before: TissueImage | None) -> _Seen:
    try:
        sha256 = hashlib.sha256(data).hexdigest()
        with timed("load", **picture_name(sha256), bytes=len(data)):
            image = load(data, sha256)
            _ = image.working_copy  # refuses what is too small or too long for a bag
    except InputError as refusal:
        return _Seen(file_id, before, refusal)
    return _Seen(file_id, image)
