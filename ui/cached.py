"""Answers kept between reruns, looked up by the picture's sha256 (never by array: large arrays are sampled)."""

import streamlit as st

from bag_generators import Bag, TissueImage, generate


@st.cache_resource(max_entries=64, show_spinner=False)
def _bag(sha256: str, generator: str, params: tuple[tuple[str, object], ...], _image: TissueImage) -> Bag:
    return generate(generator, _image, **dict(params))


def bag_of(image: TissueImage, generator: str, **params: object) -> Bag:
    """The bag of a picture. Bags are read-only, so one copy can serve every visitor with the same picture."""
    return _bag(image.sha256, generator, tuple(sorted(params.items())), image)
