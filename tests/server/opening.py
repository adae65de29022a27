"""Opens a WebSocket with any headers."""

import socket
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.support.simulated_visitor import visiting


def opening(address: str, **headers: str) -> str:
    """“open”, or how the server refused to open a WebSocket."""

    async def ask() -> str:
        origin = headers.pop("Origin", None)
        port = urlsplit(address).port
        connection = socket.create_connection(("127.0.0.1", port))
        host = headers.pop("Host", f"localhost:{port}")
        try:
            async with connect(f"ws://{host}/_stcore/stream", origin=origin, sock=connection, proxy=None):
                return "open"
        except InvalidStatus as refusal:
            return str(refusal.response.status_code)

    return visiting(ask())
