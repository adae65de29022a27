"""Ask a web server for a file or a part of one, with every failure as a sentence."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from bag_generators.errors import InputError

TIMEOUT = 60.0  # seconds without a sign of life
_CHUNK = 1 << 18
_PAUSES = (1.0, 3.0, 9.0)  # seconds before each new try when the server is busy
_LONGEST_PAUSE = 60.0  # however long the server asks us to wait
_BUSY = frozenset({429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class BrokenOffError(Exception):
    """The connection ended before the announced bytes had come; asking again may help."""


@dataclass(frozen=True)
class Reply:
    """What a server sends: `length` bytes of a file of `total`, from byte `start` on."""

    start: int
    length: int | None
    total: int | None
    _response: http.client.HTTPResponse

    def chunks(self) -> Iterator[bytes]:
        """The bytes as they come; raises `BrokenOffError` where they end too early."""
        received = 0
        while self.length is None or received < self.length:
            try:
                chunk = self._response.read(_CHUNK)
            except (OSError, http.client.HTTPException):
                raise BrokenOffError from None
            if not chunk:
                break
            received += len(chunk)
            yield chunk
        if self.length is not None and received != self.length:
            raise BrokenOffError


@contextmanager
def open_url(url: str, first: int | None = None, last: int | None = None) -> Iterator[Reply]:
    """Open `url`, from byte `first` to byte `last` (both included) if given.

    A server may ignore the wish for a part and send the whole file: `Reply.start` says so. A busy server is
    asked again after a pause.
    """
    if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"“{url}” is not a web address.", "It has to begin with https:// or http://.")
    headers = {"User-Agent": "elimipl", "Accept-Encoding": "identity"}
    if first is not None:
        headers["Range"] = f"bytes={first}-{'' if last is None else last}"
    with closing(_ask(urllib.request.Request(url, headers=headers))) as response:
        yield _reply(response)


def _ask(request: urllib.request.Request) -> http.client.HTTPResponse:
    for pause in (*_PAUSES, None):
        try:
            return urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in _BUSY or pause is None:
                    raise _refusal(request.full_url, error.code) from None
                _pause(_wish(error) or pause)
        except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            again = isinstance(reason, TimeoutError | ConnectionResetError | http.client.HTTPException)
            if not again or pause is None:
                raise _silence(request.full_url, reason) from None
            _pause(pause)
    raise AssertionError("the last try returns or raises")


def _pause(seconds: float) -> None:
    time.sleep(min(seconds, _LONGEST_PAUSE))


def _wish(error: urllib.error.HTTPError) -> float | None:
    """Seconds the server asks us to wait, if it does so in seconds."""
    text = error.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else None


def _reply(response: http.client.HTTPResponse) -> Reply:
    announced = response.headers.get("Content-Length", "")
    length = int(announced) if announced.isdigit() else None
    part = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status == http.HTTPStatus.PARTIAL_CONTENT and part:
        first, last, total = (int(number) for number in part.groups())
        return Reply(first, last - first + 1, total, response)
    return Reply(0, length, length, response)


def _refusal(url: str, status: int) -> InputError:
    host = urllib.parse.urlsplit(url).netloc
    if status in {404, 410}:
        return InputError(f"{host} has no file at {url}.", "Check the name, or look whether the data has moved.")
    if status == 429:
        return InputError(f"{host} has had too many requests from here.", "Wait some minutes and try again.")
    if status >= 500:
        return InputError(f"{host} has a problem of its own (status {status}).", "Try again later.")
    return InputError(f"{host} refuses the request (status {status}).", "Check the address and your rights.")


def _silence(url: str, reason: object) -> InputError:
    host = urllib.parse.urlsplit(url).netloc
    if isinstance(reason, TimeoutError):
        return InputError(f"{host} did not answer in time.", "Check your connection and try again.")
    if isinstance(reason, socket.gaierror):
        return InputError(f"The address of {host} was not found.", "Check your connection to the internet.")
    if isinstance(reason, ssl.SSLError):
        return InputError(
            f"The connection to {host} is not safe ({reason.reason or reason}).",
            "Check the date of this machine and its certificates.",
        )
    return InputError(f"{host} can't be reached ({reason}).", "Check your connection to the internet.")
