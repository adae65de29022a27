"""An address of our own on the running server, for what a page loads piece by piece instead of with its own run."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient, is_host_allowed

Answer = Callable[[Request], Response]


def address_of(path: str) -> str:
    """Where a browser finds `path` of this server."""
    return make_url_path(config.get_option("server.baseUrlPath") or "", path)


def answer_at(path: str, answer: Answer) -> None:
    """Have the server that runs this page answer GET requests for `path`, such as “tiles/{key}”; once is enough.

    The page that needs the route adds it, so that a server loads nothing of a page that nobody visits. The connection
    of the visitor knows the server it came through. A page that is run by a test has none.
    """
    context = get_script_run_ctx()
    if context is None or not exists():
        return
    client = get_instance().get_client(context.session_id)
    if isinstance(client, StarletteSessionClient):
        add_route(client._websocket.app.router, path, answer)


def add_route(router: Router, path: str, answer: Answer) -> None:
    """Put a route before all others: the last of them answers everything. Answers run in threads, not in the loop."""
    full = address_of(path)
    if all(getattr(route, "path", None) != full for route in router.routes):
        router.routes.insert(0, Route(full, _guarded(answer), methods=["GET"]))


def _guarded(answer: Answer) -> Answer:
    """Only under the host names under which a page may be opened, and never for a page of another site."""

    def guarded(request: Request) -> Response:
        if not is_host_allowed(request.headers.get("host")):
            return PlainTextResponse("Unknown host", 403)
        response = answer(request)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    return guarded
