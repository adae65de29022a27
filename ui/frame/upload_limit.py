"""How much one visitor may keep in the server's memory."""

from typing import Any

import streamlit as st
from starlette.exceptions import HTTPException
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from bag_generators.formats import MOST_VISIT_BYTES


@st.cache_resource(show_spinner=False)
def bound_uploads() -> None:
    """Once for the whole server: refuse what a visit uploads beyond `MOST_VISIT_BYTES`.

    Streamlit bounds each file but not their sum, and keeps all of them as long as the page is open.
    """
    if runtime.exists() and isinstance(manager := runtime.get_instance().uploaded_file_mgr, MemoryUploadedFileManager):
        bound(manager)


def bound(manager: MemoryUploadedFileManager) -> None:
    """Let `manager` take a file only while its visit stays within the limit; beyond it the upload fails (HTTP 413)."""
    add = manager.add_file

    def add_bounded(session_id: str, file: Any) -> None:
        held = sum(len(kept.data) for kept in manager.file_storage.get(session_id, {}).values())
        if held + len(file.data) > MOST_VISIT_BYTES:
            raise HTTPException(status_code=413, detail="Too many files")
        add(session_id, file)

    manager.add_file = add_bounded  # type: ignore[method-assign]
