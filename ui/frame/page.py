"""The frame of every page: title, navigation, the one line that says what this is not, and errors."""

import re
from pathlib import Path

import streamlit as st

from bag_generators import InputError
from ui.frame import texts
from ui.frame.log import REFUSED, log_event, raised_in
from ui.frame.server import prepare_server
from ui.frame.upload_limit import bound_uploads

ICON = Path(__file__).resolve().parents[2] / "assets" / "icon.png"
# Streamlit leaves much room around the page and keeps columns side by side down to the width of a phone. Panels (a
# container whose key begins with “panels”) stand below each other already in a narrow window.
STYLE = """<style>
.stMainBlockContainer {padding-top: 2.2rem; padding-bottom: 3rem}
@media (max-width: 1200px) {
  .stMainBlockContainer {padding-left: 1.5rem; padding-right: 1.5rem}
  [class*="st-key-panels"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {flex-wrap: wrap}
  [class*="st-key-panels"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > .stColumn
    {flex: 1 1 100%; min-width: 100%}
}
</style>"""


WORD_JOINER = "\u2060"  # takes no room and breaks no line
_FOUND_ANYWAY = re.compile(r"(?<=www)(?=\.)|(?<=:)(?=//|[\w+-]+[:/])|(?<=@)(?=\w)", re.IGNORECASE)


def start_page(title: str) -> None:
    """Call first on every page."""
    st.set_page_config(page_title=f"{title} · {texts.APP_TITLE}", page_icon=str(ICON), layout="wide")
    st.html(STYLE)
    prepare_server()
    bound_uploads()
    with st.sidebar:
        for path, label, icon in texts.PAGES:
            st.page_link(path, label=label, icon=icon)
    st.title(title)
    st.caption(f":material/info: {texts.NOT_A_DEVICE}")


def show_error(error: InputError) -> None:
    """One sentence on what happened, one on what to do; the log is told where, not what."""
    log_event("told", REFUSED, where=raised_in(error))
    st.error(f"**{escape(error.what)}** {escape(error.fix)}", icon=":material/error:")


def show_notes(notes: tuple[str, ...]) -> None:
    """What was converted on loading."""
    for note in notes:
        st.info(escape(note), icon=":material/info:")


def escape(text: str) -> str:
    """User text as plain text inside Markdown: no formatting, links, HTML, maths, icons or emoji codes."""
    return _marked(text, "\\`*_{}[]()<>#+-!|~$:^&")


def option_text(text: str) -> str:
    """The same for an option of pills or a segmented control, whose text is also what stands in a link.

    Only what can begin markup is marked, so that ordinary names read in the address as they are.
    """
    return _marked(text, "\\`*[]<>~$:&")


def _marked(text: str, letters: str) -> str:
    """Backslashes before `letters`; addresses and icons, which Streamlit finds in spite of them, are broken up."""
    broken = _FOUND_ANYWAY.sub(WORD_JOINER, text)
    return "".join(f"\\{letter}" if letter in letters else letter for letter in broken)
