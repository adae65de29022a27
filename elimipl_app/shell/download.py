"""A download button whose file is built when somebody asks for it, and is still there when it is fetched.

Streamlit builds such a file in a thread that knows nothing of the visitor, and drops it as soon as two pages of
anybody have been run, even before the browser has come for it. Here the file is built in the visitor's name (so the
builder may look at `st.session_state`) and belongs to the visit until the page is run again.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from elimipl_app.server.log import timed

_T = TypeVar("_T")


def download_button(
    label: str,
    build: Callable[[], str | bytes],
    file_name: str,
    mime: str,
    facts: dict[str, str],
    **look: Any,
) -> None:
    """A button for one file. `facts` are for the log: the picture and the model the file is about."""
    context = get_script_run_ctx()

    def built() -> bytes:
        with timed("export", file=mime, **facts):
            content = build()
        data = content.encode() if isinstance(content, str) else content
        if exists():
            coordinates = f"download {file_name}"
            get_instance().media_file_mgr.add(data, mime, coordinates, file_name, is_for_static_download=True)
        return data

    def built_for_visitor() -> bytes:
        return _in_visit(context, built)

    st.download_button(label, built_for_visitor, file_name, mime, on_click="ignore", **look)


def _in_visit(context: Any, work: Callable[[], _T]) -> _T:
    """Do something in a thread that belongs to a visit."""
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except Exception as error:
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name="download", daemon=True)
    add_script_run_ctx(thread, context)
    thread.start()
    return outcome.result()
