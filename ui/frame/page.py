"""The frame of every page: title, navigation, the one line that says what this is not, and errors."""

import streamlit as st

from bag_generators import InputError
from bag_generators.assets import assets
from ui.frame import address, texts
from ui.frame.log import REFUSED, log_event, raised_in
from ui.frame.markdown import escape
from ui.frame.server import prepare_server
from ui.frame.upload_limit import bound_uploads

ICON = assets("icon.png")
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


def start_page(title: str) -> None:
    """Call first on every page."""
    st.set_page_config(page_title=f"{title} · {texts.APP_TITLE}", page_icon=str(ICON), layout="wide")
    address.start_reading(title)
    st.html(STYLE)
    prepare_server()
    bound_uploads()
    with st.sidebar:
        for path, label, icon in texts.PAGES:
            st.page_link(path, label=label, icon=icon)
    st.title(title)
    st.caption(f":material/info: {texts.NOT_A_DEVICE}")
    address.show_notices()


def show_error(error: InputError) -> None:
    """One sentence on what happened, one on what to do; the log gets where, not what."""
    log_event("shown", REFUSED, where=raised_in(error))
    st.error(f"**{escape(error.what)}** {escape(error.fix)}", icon=":material/error:")


def show_notes(notes: tuple[str, ...]) -> None:
    """What was converted on loading."""
    for note in notes:
        st.info(escape(note), icon=":material/info:")
