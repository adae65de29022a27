"""How students come in: the square to scan, the code to type, the link, and how phones get to reach it."""

import io
from urllib.parse import urlsplit

import segno
import streamlit as st

from ui.classroom import texts
from ui.classroom.store.records import ClassSession
from ui.classroom.store.secrets import as_shown

LOCAL = {"localhost", "127.0.0.1", "::1"}
SQUARE = 230  # px on the screen


def show_invitation(session: ClassSession) -> None:
    """All ways in."""
    link = join_link(st.context.url or "", session.link_key)
    st.subheader(texts.INVITE_HEADING, anchor=False)
    st.image(square(link), width=SQUARE, alt=texts.square_alt(link))
    st.markdown(f"## :primary[{as_shown(session.code)}]")
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in LOCAL:
        with st.expander(texts.SAFELY_HEADING, icon=":material/wifi_off:"):
            st.markdown(texts.SAFELY)


def join_link(url: str, key: str) -> str:
    """The address that students open: this page as the teacher's browser reached it, with the key."""
    parts = urlsplit(url)
    return f"{parts.scheme or 'http'}://{parts.netloc or 'localhost:8501'}{parts.path or '/class'}?join={key}"


def square(link: str) -> bytes:
    """The link as a QR code, a PNG, on white in every theme."""
    buffer = io.BytesIO()
    segno.make(link, error="m", micro=False).save(buffer, kind="png", scale=8, border=3)
    return buffer.getvalue()
