"""The app. `streamlit run app.py` loads this file once to serve it, and runs it for every look at its first page."""

import streamlit as st

if __name__ == "__main__":
    from elimipl_app.explore.page import show_page

    show_page()
else:
    from elimipl_app.server.app import MIDDLEWARE, answered_by, load_page, starting

    load_page("elimipl_app.explore.page")
    tiles = answered_by("elimipl_app.slide.tiles", "slide-tiles/{key}/{level}/{column}_{row}.jpg")
    app = st.App(__file__, lifespan=starting, routes=[tiles], middleware=MIDDLEWARE)
