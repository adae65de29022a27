"""What the server lets in besides Streamlit's own checks: ports of origins, metrics, idle connections.

Streamlit takes middleware only from a program that starts the server itself, which `streamlit run app.py` is not. So
this happens on the first run of a page; a connection that was opened before it is looked at by `is_welcome`.
"""

import asyncio
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ui.frame.first_paint import serve_with_style

MOST_CONNECTIONS = 400  # open at once; well below the 1,024 files a program may have open by default
SILENT_SECONDS = 30.0  # a connection without a request is closed after so long
_METRICS = "_stcore/metrics"


def guard_server() -> None:
    """Call on every page; a page of another site gets nothing to see."""
    client = _client()
    if client is None:
        return
    _guard_once(client)
    if not is_welcome(client):
        st.stop()


def is_welcome(client: StarletteSessionClient) -> bool:
    """Whether the page that opened a connection is one of this server, or listed in server.corsAllowedOrigins."""
    headers = client._websocket.headers
    return starlette_websocket._is_origin_allowed(headers.get("Origin"), headers.get("Host"))


@st.cache_resource(show_spinner=False, max_entries=1)
def _guard_once(_client: StarletteSessionClient) -> None:
    starlette_websocket.is_url_from_allowed_origins = _is_listed
    routes = _client._websocket.app.router.routes
    _hide_metrics(routes)
    serve_with_style(routes)
    _bound_connections(AutoHTTPProtocol)


def _client() -> StarletteSessionClient | None:
    """The connection of this visit; None where a test runs the page."""
    context = get_script_run_ctx()
    client = get_instance().get_client(context.session_id) if context is not None and exists() else None
    return client if isinstance(client, StarletteSessionClient) else None


def _is_listed(url: str) -> bool:
    """Streamlit compares names only, so that any page of this machine, whatever its port, would be let in."""
    return url in config.get_option("server.corsAllowedOrigins")


def _hide_metrics(routes: list[Any]) -> None:
    """How many people visit and what they keep in memory is nobody's business."""
    for number, route in enumerate(routes):
        if getattr(route, "path", "").endswith(_METRICS):
            routes[number] = Route(route.path, _no_metrics)


def _no_metrics(request: Request) -> Response:
    return PlainTextResponse("Not found", 404)


def _bound_connections(protocol: Any) -> None:
    """Close connections beyond the limit at once, and those that never ask for anything after a while.

    Otherwise a thousand connections that send nothing use up all the files the server may have open.
    """
    made = protocol.connection_made

    def made_within_limits(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(SILENT_SECONDS, _close_silent, self)

    protocol.connection_made = made_within_limits


def _close_silent(connection: Any) -> None:
    """A WebSocket takes the connection over from the protocol that began it, and is not silent."""
    begun = connection.cycle is not None
    if not begun and connection in connection.connections and not connection.transport.is_closing():
        connection.transport.abort()
