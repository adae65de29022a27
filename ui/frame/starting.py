"""What happens once, when `streamlit run` has loaded the app from app.py and before it answers anybody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from bag_generators.uploads import start_readers
from ui.frame.first_paint import serve_with_style
from ui.frame.guard import guard_server
from ui.frame.internals import inner
from ui.frame.upload_limit import check_upload_limit


@asynccontextmanager
async def starting(app: Any) -> AsyncIterator[None]:
    """The `lifespan` of the app: guards and style stand before the first visitor comes."""
    routes = inner(inner(app, "_starlette_app"), "router").routes
    guard_server(routes)
    check_upload_limit()
    serve_with_style(routes)
    start_readers()
    yield


def load_page(module: str) -> None:
    """Load a page, which takes seconds, before anybody waits for it. What it lacks it says when it is opened."""
    with suppress(ImportError):
        import_module(module)
