"""How long the bodies of requests, which are uploads, may take to arrive, and how many may be on their way at once.

A body that never ends holds a connection for ever, and there are not many (`elimipl_app.server.app.MOST_CONNECTIONS`).
"""

import asyncio
from collections import Counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elimipl_app.server.visitor import known_secret

BODY_SECONDS = 300.0  # 50 MB at 170 kB/s
SILENT_BODY_SECONDS = 15.0  # between two parts of it
MOST_OF_A_BROWSER, MOST_WAITING = 4, 4
"""A browser opens six connections: what comes while four bodies arrive waits until one has."""
MOST_WITHOUT_COOKIE, MOST_BODIES = 40, 200


class Bodies:
    """Lets bodies arrive within limits; who exceeds them gets an answer and loses the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held: Counter[str | None] = Counter()
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        body = _Body(receive, send)
        whose = known_secret(HTTPConnection(scope).cookies)
        most = MOST_WITHOUT_COOKIE if whose is None else MOST_OF_A_BROWSER + MOST_WAITING
        if self._held[whose] >= most or self._held.total() >= MOST_BODIES:
            await PlainTextResponse("Too many uploads at once", 429)(scope, receive, body.send)
            return
        self._held[whose] += 1
        try:
            await self._take_turn(whose, scope, body)
        finally:
            self._held[whose] -= 1
            if not self._held[whose]:
                del self._held[whose]
                self._turns.pop(whose or "", None)

    async def _take_turn(self, whose: str | None, scope: Scope, body: "_Body") -> None:
        if whose is None:
            await self._app(scope, body.receive, body.send)
            return
        async with self._turns.setdefault(whose, asyncio.Semaphore(MOST_OF_A_BROWSER)):
            await self._app(scope, body.receive, body.send)


class _Body:
    """The body of one request on its way."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._until: float | None = None
        self._is_complete = False

    async def receive(self) -> Message:
        """The next part, if it comes in time."""
        if self._is_complete:
            return await self._receive()
        now = asyncio.get_running_loop().time()
        self._until = self._until or now + BODY_SECONDS  # from its turn on: bodies before it may have taken as long
        try:
            message = await asyncio.wait_for(self._receive(), min(SILENT_BODY_SECONDS, self._until - now))
        except TimeoutError:
            raise HTTPException(408, "The upload took too long") from None
        self._is_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send an answer; before the end of the question it is the last one on this connection."""
        if message["type"] == "http.response.start" and not self._is_complete:
            MutableHeaders(scope=message)["Connection"] = "close"
        await self._send(message)
