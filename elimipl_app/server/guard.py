"""What every answer of the server has to pass: under which names it is asked, what a browser may do with the answer.

One middleware around all others, so that no route, neither Streamlit's nor ours, can be forgotten.
"""

import base64
import hashlib
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette import starlette_websocket

from elimipl_app.server.visitor import cookie_name, known_secret, new_secret

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEALTH = "_stcore/health"  # what Streamlit's page asks for before it opens its WebSocket


def content_policy(page: str) -> str:
    """What the scripts of this page may load and run: only what this server sends.

    Streamlit makes programs of components into blobs, sets styles from its scripts and draws pictures from data.
    """
    inline = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in _INLINE_SCRIPT.findall(page)
    )
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: {inline}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "worker-src 'self' blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
        )
    )


class Guard:
    """Refuses requests under other names and WebSockets from nowhere; gives browsers their cookie and their orders."""

    def __init__(self, app: ASGIApp, page: str) -> None:
        self._app = app
        self._media = make_url_path(config.get_option("server.baseUrlPath") or "", "media/")
        self._headers = {
            "Content-Security-Policy": content_policy(page),
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or not."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket" and not Headers(scope=scope).get("origin"):
            # Every browser says whose page asks; Streamlit would let in who does not.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._complete(scope, message)
            await send(message)

        if not starlette_websocket.is_host_allowed(Headers(scope=scope).get("host")):
            await PlainTextResponse("Unknown host", 403)(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, receive, send_guarded)
        except Exception:
            if not begun:  # Starlette would answer outside of this middleware
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, send_guarded)
            raise

    def _complete(self, scope: Scope, message: Message) -> None:
        """Add to the head of an answer what every answer has."""
        headers = MutableHeaders(scope=message)
        headers.update(self._headers)
        if scope["path"].startswith(self._media):  # pictures of visitors
            headers["Cache-Control"] = "no-store"
        is_page = message["status"] == 200 and headers.get("content-type", "").startswith("text/html")
        # A form of another site comes without the cookie, by another method, and must not replace the one there is.
        asks_for_one = scope["method"] == "GET" and (is_page or scope["path"].endswith(_HEALTH))
        if asks_for_one and known_secret(HTTPConnection(scope).cookies) is None:
            secure = "; Secure" if scope.get("scheme") == "https" else ""
            headers.append("Set-Cookie", f"{cookie_name()}={new_secret()}; Path=/; HttpOnly; SameSite=Lax{secure}")
