"""The pictures a person brought to this visit: uploads and fetched tiles, kept so that one click shows them again."""

from dataclasses import dataclass

import streamlit as st

from bag_generators import TissueImage

MOST_KEPT = 8
MOST_BYTES = 64_000_000
"""Of pixels; the picture on the page is kept however large it is."""
_KEPT, _SHOWN = "kept_pictures", "shown_kept"


@dataclass(frozen=True, eq=False)
class KeptPicture:
    """A picture, what it is called here (never the name of its file), and its class where somebody knows it."""

    image: TissueImage
    title: str
    label: str | None = None


def kept_pictures() -> dict[str, KeptPicture]:
    """By sha256, the oldest first."""
    return st.session_state.setdefault(_KEPT, {})


def keep(picture: KeptPicture) -> None:
    """Keep a picture for this visit; the oldest make room."""
    kept = kept_pictures()
    kept.pop(picture.image.sha256, None)
    kept[picture.image.sha256] = picture
    while len(kept) > MOST_KEPT or (len(kept) > 1 and _bytes(kept) > MOST_BYTES):
        kept.pop(next(iter(kept)))


def show_kept(sha256: str | None) -> None:
    """Show one of the kept pictures from now on; None returns to the samples."""
    st.session_state[_SHOWN] = sha256


def shown_kept() -> KeptPicture | None:
    """The kept picture on the page; None while a sample is shown."""
    return kept_pictures().get(str(st.session_state.get(_SHOWN)))


def forget_all() -> None:
    """Drop every kept picture and return to the samples."""
    kept_pictures().clear()
    show_kept(None)


def _bytes(kept: dict[str, KeptPicture]) -> int:
    return sum(picture.image.pixels.nbytes for picture in kept.values())
