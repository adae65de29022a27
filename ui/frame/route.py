"""An address of our own on the server, for what a page loads piece by piece instead of with its own run."""

from importlib import import_module

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed


def address_of(path: str) -> str:
    """Where a browser finds `path` of this server."""
    return make_url_path(config.get_option("server.baseUrlPath") or "", path)


def answered_by(module: str, path: str) -> Route:
    """The route that has the function `answer` of a module answer GET requests for `path`, such as “tiles/{key}”.

    The module is loaded with the first request, so that a server loads nothing of a page that nobody visits. Answers
    run in threads, not in the loop; only under the host names under which a page may be opened, and never for a page of
    another site.
    """

    def guarded(request: Request) -> Response:
        if not is_host_allowed(request.headers.get("host")):
            return PlainTextResponse("Unknown host", 403)
        response: Response = import_module(module).answer(request)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    return Route(address_of(path), guarded, methods=["GET"])
