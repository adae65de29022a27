"""How much visitors may keep in the server's memory: each of them, all together, and how long after they left."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from starlette.exceptions import HTTPException
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState, WStates

from bag_generators.base.formats import MOST_SERVER_BYTES, MOST_VISIT_BYTES
from elimipl_app.server.internals import check_set_by_init, inner, refused
from elimipl_app.shell import texts

IDLE_SECONDS = 600.0  # a page that is open keeps its uploads at least so long after they were last looked at
LEFT_SECONDS = 120.0  # a visit that lost its connection may come back so long; less than disconnectedSessionTTL
SWEEP_SECONDS = 15.0


class UploadLimit:
    """Lets a manager of uploads take a file only within the limits, and releases what is needed least.

    Streamlit bounds each file but not their sum, and frees the uploads of ended visits only when others come.
    `is_open` says whether a visit still has a connection; it must be safe in any thread.
    """

    def __init__(
        self,
        manager: MemoryUploadedFileManager,
        is_open: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._manager, self._is_open, self._clock = manager, is_open, clock
        self._used: dict[str, float] = {}
        self._left: dict[str, float] = {}
        self._lost: set[str] = set()
        self._has_ended = False
        self._lock = threading.Lock()
        self._add, self._get = manager.add_file, manager.get_files
        manager.add_file = self._add_bounded  # type: ignore[method-assign]
        manager.get_files = self._get_noted  # type: ignore[method-assign]

    def ended(self, stored: Iterable[str]) -> list[str]:
        """The visits, of those `stored` or with uploads, that have had no connection for `LEFT_SECONDS`."""
        now = self._clock()
        closed = {visit for visit in (*stored, *list(self._manager.file_storage)) if not self._is_open(visit)}
        self._left = {visit: self._left.get(visit, now) for visit in closed}
        return [visit for visit, since in self._left.items() if now - since >= LEFT_SECONDS]

    def forget(self, visit: str) -> None:
        """Release everything a visit uploaded."""
        self._manager.remove_session_files(visit)
        for kept in (self._used, self._left):
            kept.pop(visit, None)
        self._lost.discard(visit)
        self._has_ended = True

    def has_ended_visits(self) -> bool:
        """Whether visits ended since this was last asked."""
        has_ended, self._has_ended = self._has_ended, False
        return has_ended

    def has_lost_uploads(self, visit: str) -> bool:
        """Whether uploads of an open visit had to make room for others since this was last asked."""
        lost = visit in self._lost
        self._lost.discard(visit)
        return lost

    def _add_bounded(self, session_id: str, file: Any) -> None:
        with self._lock:  # two uploads at once must not both take the last room
            self._used[session_id] = self._clock()
            if self._held(session_id) + len(file.data) > MOST_VISIT_BYTES:
                raise HTTPException(status_code=413, detail="Too many files")
            self._make_room(len(file.data), session_id)
            self._add(session_id, file)

    def _get_noted(self, session_id: str, file_ids: Sequence[str]) -> list[Any]:
        self._used[session_id] = self._clock()
        return self._get(session_id, file_ids)

    def _make_room(self, needed: int, for_visit: str) -> None:
        """Release the uploads of visits that ended, then of idle pages, those used least recently first."""
        visits = [visit for visit in list(self._manager.file_storage) if visit != for_visit and self._held(visit)]
        over = needed + self._held(for_visit) + sum(map(self._held, visits)) - MOST_SERVER_BYTES
        opened = {visit: self._is_open(visit) for visit in visits}
        for visit in sorted(visits, key=lambda visit: (opened[visit], self._used.get(visit, 0.0))):
            if over <= 0:
                return
            if opened[visit]:
                if self._clock() - self._used.get(visit, 0.0) < IDLE_SECONDS:
                    break
                self._lost.add(visit)
            over -= self._held(visit)
            self._manager.remove_session_files(visit)
        if over > 0:
            raise HTTPException(status_code=413, detail="The server holds all the files it can")

    def _held(self, visit: str) -> int:
        return sum(len(kept.data) for kept in list(self._manager.file_storage.get(visit, {}).values()))


@st.cache_resource(show_spinner=False)
def _limit() -> UploadLimit | None:
    """Once for the whole server: the limits, and a thread that ends visits nobody comes back to."""
    if not runtime.exists() or not isinstance(
        manager := runtime.get_instance().uploaded_file_mgr, MemoryUploadedFileManager
    ):
        return None
    limit = UploadLimit(manager, runtime.get_instance().is_active_session)
    threading.Thread(target=_sweep, args=(limit,), name="ended visits", daemon=True).start()
    return limit


def check_upload_limit() -> None:
    """Call before the server answers: refuses a Streamlit whose uploads and visits could not be bounded."""
    for name in ("add_file", "get_files", "remove_session_files"):
        inner(MemoryUploadedFileManager, name)
    check_set_by_init(MemoryUploadedFileManager, ("file_storage",))
    for name in ("is_active_session", "close_session", "_get_async_objs"):
        inner(runtime.Runtime, name)
    check_set_by_init(runtime.Runtime, ("_session_mgr",))
    check_set_by_init(AppSession, ("_fragment_storage",))
    check_set_by_init(SessionState, ("_new_widget_state",))
    check_set_by_init(WStates, ("widget_metadata",))
    if runtime.exists() and not isinstance(runtime.get_instance().uploaded_file_mgr, MemoryUploadedFileManager):
        raise refused("uploads are kept by another manager than “MemoryUploadedFileManager”")


def bound_uploads() -> None:
    """Call on every page; says so when uploads of this visit had to make room."""
    limit, context = _limit(), get_script_run_ctx()
    if limit is not None and context is not None and limit.has_lost_uploads(context.session_id):
        st.info(texts.UPLOADS_RELEASED, icon=":material/upload_file:")


def _sweep(limit: UploadLimit) -> None:
    while runtime.exists():
        time.sleep(SWEEP_SECONDS)
        if limit.has_ended_visits():
            give_memory_back()
        server = runtime.get_instance()
        # Visits are ended in the thread of the server's event loop, where they also begin.
        server._get_async_objs().eventloop.call_soon_threadsafe(_end_visits, server, limit)


def _end_visits(server: runtime.Runtime, limit: UploadLimit) -> None:
    """End visits that were left a while ago: uploads, decoded pictures, trained models and all."""
    stored = {info.session.id: info.session for info in server._session_mgr.list_sessions()}
    for visit in limit.ended(stored):
        server.close_session(visit)
        limit.forget(visit)
        if visit in stored:
            _clear(stored[visit])


def give_memory_back() -> None:
    """Collect what ended visits held in circles, and hand free memory to the system where its C library can."""
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _clear(visit: AppSession) -> None:
    """Let go of all that a visit kept: Streamlit holds on to some visits, their callbacks and parts of pages."""
    visit.session_state.clear()
    visit.session_state._new_widget_state.widget_metadata.clear()
    visit._fragment_storage.clear()
