"""The slide in tiles: each is a JPEG at an address that only the visitor's page knows."""

import io
import math
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PIL import Image
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bag_generators import InputError
from elimipl_app.server.app import address_of

TILE = 256  # px
QUALITY = 85
MOST_SERVED = 64
"""Slides that pages have open; the one that was opened first makes room."""
MOST_BYTES = 64 * 2**20
"""Of all tiles that are kept."""
_ROUTE = "slide-tiles"
"""As in app.py. The numbers of the route stay texts: one that reads them raises for more digits than Python takes."""


class Pixels(Protocol):
    """What tiles are made of. `id` is the same for the same slide only."""

    @property
    def id(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    def shrunken(self, x: int, y: int, size: int, by: int) -> np.ndarray:
        """`size` × `size` px of the slide shrunken by a factor, from the corner (x, y) of level 0; safe in threads."""
        ...


def levels(width: int, height: int) -> int:
    """How many times a slide is halved, and itself: until it fits into one tile.

    >>> levels(256, 100), levels(257, 100), levels(20_000, 15_000)
    (1, 2, 8)
    """
    return max(0, math.ceil(math.log2(max(width, height) / TILE))) + 1


@dataclass(frozen=True)
class _Served:
    visitor: str
    pixels: Pixels


class TileServer:
    """Hands out tiles of slides by keys that nobody can guess."""

    def __init__(self, most_served: int = MOST_SERVED, most_bytes: int = MOST_BYTES) -> None:
        self._most_served, self._most_bytes = most_served, most_bytes
        self._served: OrderedDict[str, _Served] = OrderedDict()
        self._kept: OrderedDict[tuple[str, int, int, int], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def serve(self, visitor: str, pixels: Pixels) -> str:
        """The key of a slide for one visitor; the same as before while it is being served."""
        with self._lock:
            for key, served in self._served.items():
                if served.visitor == visitor and served.pixels.id == pixels.id:
                    self._served[key] = _Served(visitor, pixels)
                    self._served.move_to_end(key)
                    return key
            key = secrets.token_urlsafe(24)
            self._served[key] = _Served(visitor, pixels)
            while len(self._served) > self._most_served:
                self._served.popitem(last=False)
            return key

    def answer(self, request: Request) -> Response:
        """A tile, or 404 whatever is wrong: with the key, with the place, with the slide."""
        try:
            level, column, row = (int(request.path_params[name]) for name in ("level", "column", "row"))
            tile = self.tile(request.path_params["key"], level, column, row)
        except (KeyError, ValueError, InputError):
            return PlainTextResponse("No such tile", 404, {"Cache-Control": "no-store"})
        return Response(tile, 200, {"Cache-Control": "private, max-age=3600, immutable"}, "image/jpeg")

    def tile(self, key: str, level: int, column: int, row: int) -> bytes:
        """A tile as JPEG; a KeyError where there is none."""
        with self._lock:
            pixels = self._served[key].pixels
            name = (pixels.id, level, column, row)
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        if not 0 <= level < levels(pixels.width, pixels.height):
            raise KeyError(level)
        span = TILE << level
        if not (0 <= column * span < pixels.width and 0 <= row * span < pixels.height):
            raise KeyError((column, row))
        data = io.BytesIO()
        tile = pixels.shrunken(column * span, row * span, TILE, 1 << level)
        Image.fromarray(tile).save(data, "JPEG", quality=QUALITY)
        return self._keep(name, data.getvalue())

    def _keep(self, name: tuple[str, int, int, int], tile: bytes) -> bytes:
        with self._lock:
            if name not in self._kept:
                self._kept[name] = tile
                self._bytes += len(tile)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return tile


_server = TileServer()
answer = _server.answer
"""What app.py has answer requests for tiles."""


def serve_tiles(visitor: str, pixels: Pixels) -> str:
    """Where the tiles of a slide lie, for one visitor: add “/level/column_row.jpg”."""
    return address_of(f"{_ROUTE}/{_server.serve(visitor, pixels)}")
