"""What every answer passes: the name it is asked under, what a browser may do with it, whose cookie it carries."""

import base64
import hashlib
import re
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from streamlit import config

from elimipl_app.server.guard import Guard, content_policy
from elimipl_app.server.visitor import known_secret
from tests.support.simulated_visitor import visiting

PAGE = "<html><script>\n  ready = false\n</script><script src='a.js'></script></html>"


def fail(_request):
    raise ValueError("secret-token-4711")


async def accept(websocket):
    await websocket.accept()
    await websocket.close()


@pytest.fixture
def asked(monkeypatch):
    """Asks an app of one page, one picture, one answer and one fault; gives status, headers and text."""
    monkeypatch.setattr(config, "get_option", {"server.allowedHosts": ["localhost"], "server.port": 8501}.get)
    routes = [
        Route("/", lambda _: HTMLResponse(PAGE), methods=["GET", "POST"]),
        Route("/media/{name}", lambda _: PlainTextResponse("pixels", headers={"Cache-Control": "public"})),
        Route("/_stcore/health", lambda _: PlainTextResponse("ok")),
        Route("/fault", fail),
        WebSocketRoute("/_stcore/stream", accept),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, page=PAGE)])

    def ask(path, method="GET", scheme="http", **headers):
        got = []

        async def receive():
            return {"type": "websocket.connect" if scheme == "ws" else "http.request"}

        async def send(message):
            got.append(message)

        sent = [(name.encode(), value.encode()) for name, value in {"host": "localhost:8501", **headers}.items()]
        scope = {"type": "websocket" if scheme == "ws" else "http", "method": method, "path": path, "scheme": scheme,
                 "headers": sent, "query_string": b"", "root_path": ""}  # fmt: skip
        with suppress(ValueError):  # of the fault, which goes on to the log
            visiting(app(scope, receive, send))
        if scheme == "ws":
            return got[0]["type"]
        told = {name.decode(): value.decode() for name, value in got[0]["headers"]}
        return got[0]["status"], told, b"".join(message.get("body", b"") for message in got[1:]).decode()

    return ask


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [("/", "localhost", 200), ("/media/a", "localhost:8501", 200), ("/nothing", "localhost", 404),
     ("/fault", "localhost", 500), ("/", "evil.example", 403), ("/media/a", "evil.example", 403)],
)  # fmt: skip
def test_every_answer_carries_the_orders_and_foreign_names_get_none_of_ours(asked, path, host, status):
    got, headers, text = asked(path, host=host)
    assert got == status
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "4711" not in text
    assert (text == "Unknown host") == (status == 403)


def test_no_browser_or_proxy_keeps_a_picture(asked):
    assert asked("/media/a")[1]["cache-control"] == "no-store"


def test_scripts_are_ours_or_known_by_their_sum():
    (rule,) = re.findall(r"script-src ([^;]+)", content_policy(PAGE))
    known = base64.b64encode(hashlib.sha256(b"\n  ready = false\n").digest()).decode()
    assert rule.split() == ["'self'", "blob:", f"'sha256-{known}'"]


@pytest.mark.parametrize("path", ["/", "/_stcore/health"])
def test_a_new_browser_gets_a_cookie_that_no_script_reads_and_keeps_it(asked, path):
    cookie, *flags = asked(path)[1]["set-cookie"].split("; ")
    assert re.fullmatch(r"elimipl_visitor_8501=[\w-]{43}", cookie)
    assert flags == ["Path=/", "HttpOnly", "SameSite=Lax"]
    assert "set-cookie" not in asked(path, cookie=cookie)[1]
    assert asked(path, scheme="https")[1]["set-cookie"].endswith("; Secure")


def test_what_another_site_has_a_browser_send_never_replaces_the_cookie(asked):
    # SameSite=Lax: such a form comes without the cookie, though the browser has one, and its answer is a page.
    status, headers, _ = asked("/", method="POST")
    assert status == 200
    assert "set-cookie" not in headers


def test_the_cookie_of_another_port_and_a_made_up_one_are_nobody(asked):
    secret = "a" * 43
    assert known_secret({"elimipl_visitor_8501": secret}) == secret
    assert known_secret({"elimipl_visitor_8502": secret}) is None
    assert known_secret({"elimipl_visitor_8501": "short"}) is None


def test_a_websocket_that_does_not_say_whose_page_asks_is_refused(asked):
    assert asked("/_stcore/stream", scheme="ws", origin="http://localhost:8501") == "websocket.accept"
    assert asked("/_stcore/stream", scheme="ws") == "websocket.close"
