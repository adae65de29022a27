"""No request leaves the machine, not even Streamlit's own."""

import streamlit as st
from streamlit import net_util


@st.cache_resource(show_spinner=False)
def stay_inside() -> None:
    """Once for the whole server: never ask the internet for the address of this machine.

    Streamlit does (checkip.amazonaws.com) when a page of another site tries to open a WebSocket, to see whether that
    site might be this machine under its public name. Name such a site in server.corsAllowedOrigins instead.
    """
    net_util.get_external_ip = lambda: None
