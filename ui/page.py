"""The frame of every page: title, navigation, the one line that says what this is not, and errors."""

import streamlit as st

from bag_generators import InputError
from ui import wording


def start_page(title: str) -> None:
    """Call first on every page."""
    st.set_page_config(page_title=f"{title} · {wording.APP_TITLE}", page_icon=":material/biotech:", layout="wide")
    with st.sidebar:
        for path, label, icon in wording.PAGES:
            st.page_link(path, label=label, icon=icon)
    st.title(title)
    st.caption(f":material/info: {wording.NOT_A_DEVICE}")


def show_error(error: InputError) -> None:
    """One sentence on what happened, one on what to do."""
    st.error(f"**{escape(error.what)}** {escape(error.fix)}", icon=":material/error:")


def escape(text: str) -> str:
    """User text as plain text inside Markdown: no formatting, links, HTML, maths or emoji codes."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#+-!|~$:^" else letter for letter in text)
