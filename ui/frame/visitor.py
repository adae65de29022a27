"""Who is visiting: the same answer before and after a reload, and another one for every browser."""

import hashlib
import secrets

import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

_KEY = "visitor"


def visitor() -> str:
    """A name nobody can guess for the browser of this visit, or for the visit alone where there is no cookie.

    Streamlit gives every browser a secret against requests from other sites, and the visit ends with a reload; work
    in the background belongs to the browser.
    """
    if _KEY not in st.session_state:
        secret, _ = decode_xsrf_token_string(st.context.cookies.get(XSRF_COOKIE_NAME, ""))
        st.session_state[_KEY] = hashlib.sha256(b"visitor" + (secret or secrets.token_bytes(32))).hexdigest()
    return str(st.session_state[_KEY])
