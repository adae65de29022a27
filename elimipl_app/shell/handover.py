"""A picture that one page hands to Explore: a field of a slide with its scale, a file of a batch."""

from dataclasses import dataclass

import streamlit as st

from bag_generators import TissueImage
from bag_generators.scale import is_large
from elimipl_app.shell import address

_KEY = "handed_over"
EXPLORE = "app.py"
_MODEL = ("generator", "labels", "method")
"""What the address says of the model, which goes along."""


@dataclass(frozen=True, eq=False)
class HandedOver:
    """A picture and what it is called; never the name of a file."""

    image: TissueImage
    title: str


def open_in_explore(image: TissueImage, title: str, whole: bool = False) -> None:
    """Show a picture, or all of a large one (`whole`), on Explore, read by the same model."""
    st.session_state[_KEY] = HandedOver(image, title)
    asked = {key: value for key, value in address.everything().items() if key in _MODEL}
    st.switch_page(EXPLORE, query_params={**asked, "whole": "true"} if whole and is_large(image) else asked)


def handed_over() -> HandedOver | None:
    """What another page handed over and this one has not shown yet."""
    return st.session_state.get(_KEY)


def forget_handed_over() -> None:
    """Call when it is shown: not before, for a run that is broken off would lose it."""
    st.session_state.pop(_KEY, None)
