"""What happens once, when `streamlit run` has found the app in app.py and before it answers anybody."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from ui.frame.first_paint import serve_with_style
from ui.frame.guard import guard_server

LONG_TO_LOAD = ("torch", "pandas", "cv2", "plotly.graph_objects")


@asynccontextmanager
async def starting(app: Any) -> AsyncIterator[None]:
    """The `lifespan` of the app: guards and style stand before the first visitor comes."""
    routes = app._starlette_app.router.routes
    guard_server(routes)
    serve_with_style(routes)
    threading.Thread(target=_load, name="loading", daemon=True).start()
    yield


def _load() -> None:
    """Load what every page needs while a person opens the browser. A page that comes first waits for it.

    Only libraries: of them Python waits for the whole, while modules of ours that import each other could be seen half
    made. What is not installed is said by the page that needs it.
    """
    for name in LONG_TO_LOAD:
        with suppress(ImportError):
            import_module(name)
