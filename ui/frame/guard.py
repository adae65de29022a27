"""What the server lets in and out besides Streamlit's own checks: ports of origins, metrics, idle connections."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from streamlit import config, net_util
from streamlit.web.server.starlette import starlette_websocket
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ui.frame.internals import check_set_by_init, inner, refused, replace_inner

MOST_CONNECTIONS = 400  # open at once; well below the 1,024 files a program may have open by default
SILENT_SECONDS = 30.0  # a connection without a request is closed after so long
_METRICS = "_stcore/metrics"


def guard_server(routes: list[BaseRoute]) -> None:
    """Call once, before the server of these routes answers anybody; refuses to go on where a guard would not hold."""
    replace_inner(starlette_websocket, "is_url_from_allowed_origins", _is_listed)
    # Streamlit asks checkip.amazonaws.com for the address of this machine when a page of another site tries to open a
    # WebSocket, to see whether that site might be this machine under its public name. Name such a site in
    # server.corsAllowedOrigins instead.
    replace_inner(net_util, "get_external_ip", lambda: None)
    _hide_metrics(routes)
    _bound_connections(AutoHTTPProtocol)


def _is_listed(url: str) -> bool:
    """Streamlit compares names only, so that any page of this machine, whatever its port, would be let in."""
    return url in config.get_option("server.corsAllowedOrigins")


def _hide_metrics(routes: list[BaseRoute]) -> None:
    """How many people visit and what they keep in memory is nobody's business."""
    found = [
        number for number, route in enumerate(routes) if isinstance(route, Route) and route.path.endswith(_METRICS)
    ]
    if not found:
        raise refused(f"the server has no route “{_METRICS}”")
    for number in found:
        routes[number] = Route(routes[number].path, _no_metrics)  # type: ignore[attr-defined]


def _no_metrics(request: Request) -> Response:
    return PlainTextResponse("Not found", 404)


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


def _close_silent(connection: Any) -> None:
    """A WebSocket takes the connection over from the protocol that began it, and is not silent."""
    begun = connection.cycle is not None
    if not begun and connection in connection.connections and not connection.transport.is_closing():
        connection.transport.abort()
