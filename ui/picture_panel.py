"""Where a person chooses the picture: a sample in one click, or an upload."""

import streamlit as st

from bag_generators import InputError, TissueImage, load
from bag_generators.samples import Sample, list_samples
from ui import wording
from ui.page import show_error

GALLERY_COLUMNS = 3


def choose_picture() -> tuple[TissueImage | None, Sample | None]:
    """The chosen picture and, when it is one of ours, the sample it came from."""
    st.subheader(wording.PICTURE_HEADING)
    upload = st.file_uploader(
        wording.UPLOAD_LABEL, type=list(wording.UPLOAD_TYPES), help=wording.UPLOAD_HELP, key="upload"
    )
    sample = _choose_sample(disabled=upload is not None)
    try:
        if upload is not None:
            return load(upload.getvalue()), None
        return sample.load(), sample
    except InputError as error:
        show_error(error)
        return None, None


def _choose_sample(disabled: bool) -> Sample:
    samples = {sample.id: sample for sample in list_samples()}
    chosen = st.selectbox(
        wording.SAMPLE_LABEL,
        options=list(samples),
        format_func=lambda key: samples[key].title,
        help=wording.SAMPLE_HELP,
        disabled=disabled,
        key="sample",
        bind="query-params",
    )
    if disabled:
        st.caption(wording.UPLOAD_IN_USE)
    else:
        st.caption(samples[chosen].description)
    return samples[chosen]
