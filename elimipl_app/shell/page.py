"""The frame of every page: title, navigation, the one line that says what this is not, and errors."""

import streamlit as st

from bag_generators import InputError
from bag_generators.base.assets import assets
from elimipl_app.server.app import prepare_server
from elimipl_app.server.log import REFUSED, log_event, raised_in
from elimipl_app.server.upload_limit import bound_uploads
from elimipl_app.shell import address, texts
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.style import COMPACT_HEAD, NO_SIDEBAR

ICON = assets("icon.png")


def start_page(title: str, compact: bool = False, navigation: bool = True) -> None:
    """Call first on every page. A `compact` head leaves the first screen to the page itself."""
    prepare_server()
    st.set_page_config(page_title=f"{title} · {texts.APP_TITLE}", page_icon=str(ICON), layout="wide")
    address.start_reading(title)
    bound_uploads()
    if navigation:
        with st.sidebar, st.container(key="pages"):
            for path, label, icon in texts.PAGES:
                st.page_link(path, label=label, icon=icon)
    else:
        st.html(NO_SIDEBAR)
    with st.container(horizontal=compact, vertical_alignment="center", key=COMPACT_HEAD if compact else "head"):
        st.title(title, anchor=False, width="content" if compact else "stretch")
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
