"""The app. `streamlit run app.py` loads this file once to serve it, and runs it for every look at its first page."""

from contextlib import suppress

import streamlit as st

if __name__ == "__main__":
    from ui.explore.page import show_page

    show_page()
else:
    from ui.frame.starting import starting

    with suppress(ImportError):  # a page that lacks something says what; the Doctor lacks nothing
        import ui.explore.page  # noqa: F401 - seconds that nobody has to wait for later

    app = st.App(__file__, lifespan=starting)
