"""The server: what it lets in and out besides Streamlit's own checks, the page it sends, and what is set once.

A style that a page sends takes effect late, for Streamlit first loads the code that can apply it, and everything drawn
by then moves. Plotly, the largest piece of code, would be asked for only when the first figure has arrived. So both are
written into the page that Streamlit serves.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, file_util, net_util
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette import starlette_websocket
from threadpoolctl import threadpool_limits
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bag_generators.uploads import start_readers
from elimipl_app.server.bodies import Bodies
from elimipl_app.server.guard import Guard
from elimipl_app.server.internals import check_set_by_init, inner, replace_inner
from elimipl_app.server.upload_limit import check_upload_limit
from elimipl_app.server.work_folder import remove_left_folders, remove_work_folder
from elimipl_app.shell.style import STYLE

MOST_CONNECTIONS = 400  # open at once; well below the 1,024 files a program may have open by default
SILENT_SECONDS = 30.0  # a connection without a request is closed after so long
ENDING_SECONDS = 3  # what is still on its way gets so long when the server is asked to end
SECONDS_BETWEEN_COLLECTIONS = 10.0
_METRICS = "_stcore/metrics"
_INDEX = "index.html"


def load_page(module: str) -> None:
    """Load a page, which takes seconds, before anybody waits for it. What it lacks it says when it is opened."""
    with suppress(ImportError):
        import_module(module)


def address_of(path: str) -> str:
    """Where a browser finds `path` of this server."""
    return make_url_path(config.get_option("server.baseUrlPath") or "", path)


def answered_by(module: str, path: str) -> Route:
    """The route that has the function `answer` of a module answer GET requests for `path`, such as “tiles/{key}”.

    The module is loaded with the first request, so that a server loads nothing of a page that nobody visits. Answers
    run in threads, not in the loop.
    """

    def answer(request: Request) -> Response:
        response: Response = import_module(module).answer(request)
        return response

    return Route(address_of(path), answer, methods=["GET"])


class OwnAnswers:
    """Sends Streamlit's page with our additions, and no metrics: who visits and what they keep is nobody's business."""

    def __init__(self, app: ASGIApp, page: str) -> None:
        self._app, self._page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope.get("path", "").rstrip("/")
        name = path.rpartition("/")[2]
        if scope["type"] == "http" and path.endswith(_METRICS):
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        elif scope["type"] == "http" and (name == _INDEX or "." not in name):
            await self._answer_page(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """All unknown paths are Streamlit's page; a browser that knows the bare one must not hear “unchanged”."""
        unconditional = [pair for pair in scope["headers"] if not pair[0].startswith(b"if-")]
        is_page = False

        async def send_others(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                kind = dict(message["headers"]).get(b"content-type", b"")
                is_page = message["status"] == 200 and kind.startswith(b"text/html")
            if not is_page:
                await send(message)

        await self._app({**scope, "headers": unconditional}, receive, send_others)
        if is_page:
            # A new response each time: packing writes into the headers of the one it gets.
            await GZipMiddleware(HTMLResponse(self._page, headers={"Cache-Control": "no-cache"}))(scope, receive, send)


def page_html(folder: Path) -> str:
    """Streamlit's page of this folder with our additions.

    The style stands at the end, where it goes before the styles that Streamlit puts into the head.
    """
    plain = (folder / _INDEX).read_text(encoding="utf-8")
    code = sorted((folder / "static" / "js").glob("PlotlyChart.*.js"))
    asked = "".join(
        f'<link rel="modulepreload" crossorigin href="./{path.relative_to(folder).as_posix()}">' for path in code
    )
    return plain.replace("</head>", f"{asked}</head>", 1).replace("</body>", f"{STYLE}</body>", 1)


class DiskErrors:
    """Has an upload that finds no room on the disk (large ones pass through a temporary file) end in a sentence."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await self._app(scope, receive, send)
        except OSError:
            if scope["type"] != "http" or scope["method"] != "PUT":
                raise
            said = "The upload could not be kept: the server's disk is full, or may not be written to."
            await PlainTextResponse(said, 507)(scope, receive, send)


_PAGE = page_html(Path(file_util.get_static_dir()))
MIDDLEWARE = [
    Middleware(Guard, page=_PAGE),
    Middleware(Bodies),
    Middleware(DiskErrors),
    Middleware(OwnAnswers, page=_PAGE),
]


@asynccontextmanager
async def starting(_app: Any) -> AsyncIterator[None]:
    """The `lifespan` of the app: guards stand before the first visitor comes, or the server is not started."""
    replace_inner(starlette_websocket, "is_url_from_allowed_origins", _is_listed)
    # Streamlit asks checkip.amazonaws.com for the address of this machine when a page of another site tries to open a
    # WebSocket, to see whether that site might be this machine under its public name. Name such a site in
    # server.corsAllowedOrigins instead.
    replace_inner(net_util, "get_external_ip", lambda: None)
    _bound_connections(AutoHTTPProtocol)
    _end_in_time(uvicorn.Server)
    check_upload_limit()
    start_readers()
    # Looking through what stays for ever holds up all visitors whenever garbage is collected.
    gc.collect()
    gc.freeze()
    remove_left_folders()
    yield
    remove_work_folder()


def _is_listed(url: str) -> bool:
    """Streamlit compares names only, so that any page of this machine, whatever its port, would be let in."""
    return url in config.get_option("server.corsAllowedOrigins")


def _bound_connections(protocol: Any) -> None:
    """Close connections beyond the limit at once, and those that never ask for anything after a while.

    Otherwise a thousand connections that send nothing use up all the files the server may have open.
    """
    check_set_by_init(protocol, ("connections", "loop", "cycle", "transport"))
    made = inner(protocol, "connection_made")

    def made_within_limits(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(SILENT_SECONDS, _close_silent, self)

    replace_inner(protocol, "connection_made", made_within_limits)


def _end_in_time(server: Any) -> None:
    """Wait a few seconds for open connections when the server ends; uvicorn would wait for ever."""
    shutdown = inner(server, "shutdown")

    async def shutdown_in_time(self: Any, sockets: Any = None) -> None:
        inner(self.config, "timeout_graceful_shutdown")
        self.config.timeout_graceful_shutdown = ENDING_SECONDS
        await shutdown(self, sockets=sockets)

    replace_inner(server, "shutdown", shutdown_in_time)


def _close_silent(connection: Any) -> None:
    """A WebSocket takes the connection over from the protocol that began it, and is not silent."""
    begun = connection.cycle is not None
    if not begun and connection in connection.connections and not connection.transport.is_closing():
        connection.transport.abort()


def prepare_server() -> None:
    """Call on every page; what has been done is not done again."""
    _use_one_thread_per_computation()
    _collect_garbage()


@st.cache_resource(show_spinner=False)
def _use_one_thread_per_computation() -> threadpool_limits:
    """Bags are tiny, and thread barriers cost more than the arithmetic; parallelism goes across visitors.

    The limits last as long as the object that is returned.
    """
    import cv2
    import torch

    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    return threadpool_limits(limits=1)


@st.cache_resource(max_entries=1, ttl=SECONDS_BETWEEN_COLLECTIONS, show_spinner=False)
def _collect_garbage() -> None:
    """Give memory back now and then. Streamlit would do so after every run of a page (runner.postScriptGC), and among
    many visitors everybody waits for that.
    """
    gc.collect()
