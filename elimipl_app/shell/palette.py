"""Colours that stay apart for colour-blind readers, for the light and the dark theme."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Palette:
    """Figure colours of one theme. Candidate, true and non-candidate colours are the same in both."""

    text: str
    muted: str
    grid: str
    outline: str
    veil: str
    """Lies below what stands on a picture; the colour of the page."""
    in_set: str
    """Labels in the model's own 90 % set; without a hue, for those stand for what people said."""
    outside_set: str
    true: str = "#009E73"
    candidate: str = "#E69F00"
    non_candidate: str = "#6C8EAD"
    chosen: str = "#D81B60"
    positive: str = "#D62728"
    negative: str = "#4682B4"  # the paper's steelblue (70, 130, 180)


LIGHT = Palette(
    text="#1F1B24", muted="#6B6475", grid="#E4DEE9", outline="#00204D", veil="rgba(255,255,255,0.75)",
    in_set="#4A4257", outside_set="#968EA2",
)  # fmt: skip
DARK = Palette(
    text="#EFEAF3", muted="#A79FB1", grid="#3A3244", outline="#00204D", veil="rgba(20,17,26,0.75)",
    in_set="#DCD5E6", outside_set="#6F667D",
)  # fmt: skip


def current_palette() -> Palette:
    """The palette of the theme this visitor sees."""
    return DARK if st.context.theme.type == "dark" else LIGHT
