"""The app. `streamlit run app.py` loads this file once to serve it, and runs it for every look at its first page."""

import streamlit as st

if __name__ == "__main__":
    from ui.explore.page import show_page

    show_page()
else:
    from ui.frame.server import MIDDLEWARE, answered_by, load_page, starting

    load_page("ui.explore.page")
    tiles = answered_by("ui.slide.tiles", "slide-tiles/{key}/{level}/{column}_{row}.jpg")
    app = st.App(__file__, lifespan=starting, routes=[tiles], middleware=MIDDLEWARE)
