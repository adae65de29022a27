"""Ask a web server for a file or a part of one, with every failure as a sentence.

What is followed: up to ten redirects, from https only to https. What is used of the surroundings: the proxies of the
environment and the certificates of the system. Nothing else: no .netrc, no cookies of earlier requests.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from bag_generators.errors import InputError

TIMEOUT = 60.0  # seconds without a sign of life
_CHUNK = 1 << 18
_TRIES_AGAIN = 3
_LONGEST_PAUSE = 60  # seconds, however long the server asks us to wait
_BUSY = (429, 500, 502, 503, 504)
_MOST_REDIRECTS = 10
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class BrokenOffError(Exception):
    """The connection ended before the announced bytes had come; asking again may help."""


@dataclass(frozen=True)
class Reply:
    """What a server sends: `length` bytes of a file of `total`, from byte `start` on."""

    start: int
    length: int | None
    total: int | None
    _response: requests.Response

    def chunks(self) -> Iterator[bytes]:
        """The bytes as they come; raises `BrokenOffError` where they end too early."""
        received = 0
        try:
            for chunk in self._response.raw.stream(_CHUNK, decode_content=False):
                received += len(chunk)
                yield chunk
        except (HTTPError, OSError):
            raise BrokenOffError from None
        if self.length is not None and received != self.length:
            raise BrokenOffError


@contextmanager
def open_url(url: str, first: int | None = None, last: int | None = None) -> Iterator[Reply]:
    """Open `url`, from byte `first` to byte `last` (both included) if given.

    A server may ignore the wish for a part and send the whole file: `Reply.start` says so. A busy server is
    asked again after a pause.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"“{url}” is not a web address.", "It has to begin with https:// or http://.")
    headers = {"User-Agent": "elimipl", "Accept-Encoding": "identity"}
    if first is not None:
        headers["Range"] = f"bytes={first}-{'' if last is None else last}"
    with _session(url) as session, _asked(session, url, headers) as response:
        yield _reply(response)


class _SystemCertificates(HTTPAdapter):
    """Trusts what the system trusts, beside the list that comes with requests: some networks have their own proxy."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, ssl_context=ssl.create_default_context(), **options)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        return super().proxy_manager_for(proxy, ssl_context=ssl.create_default_context(), **options)


def _session(url: str) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.proxies.update(get_environ_proxies(url))
    session.max_redirects = _MOST_REDIRECTS
    retries = Retry(
        _TRIES_AGAIN, connect=0, other=0, status_forcelist=_BUSY, backoff_factor=3, retry_after_max=_LONGEST_PAUSE,
        raise_on_status=False,
    )  # fmt: skip
    session.mount("http://", HTTPAdapter(max_retries=retries))
    session.mount("https://", _SystemCertificates(max_retries=retries))
    return session


def _asked(session: requests.Session, url: str, headers: dict[str, str]) -> requests.Response:
    try:
        response = session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.RequestException, HTTPError, OSError) as error:
        raise _no_answer(url, error) from None
    way = [urlsplit(step.url).scheme for step in (*response.history, response)]
    if "https" in way and way[-1] != "https":
        response.close()
        raise InputError(
            f"{urlsplit(url).netloc} sends us on to an address without encryption.", "Try again later, or report it."
        )
    if not response.ok:
        response.close()
        raise _refused(url, response.status_code)
    return response


def _reply(response: requests.Response) -> Reply:
    announced = response.headers.get("Content-Length", "")
    length = int(announced) if announced.isdigit() else None
    part = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status_code == HTTPStatus.PARTIAL_CONTENT and part:
        first, last, total = (int(number) for number in part.groups())
        return Reply(first, last - first + 1, total, response)
    return Reply(0, length, length, response)


def _refused(url: str, status: int) -> InputError:
    host = urlsplit(url).netloc
    if status in {404, 410}:
        return InputError(f"{host} has no file at {url}.", "Check the name, or look whether the data has moved.")
    return InputError(f"{host} refuses the request (status {status}).", "Check the address, or try again later.")


def _no_answer(url: str, error: BaseException) -> InputError:
    while error.args and isinstance(error.args[0], BaseException):  # requests wraps urllib3, which wraps the system
        error = error.args[0]
    reason = str(getattr(error, "reason", None) or error).rpartition("): ")[2]  # without the object that says it
    return InputError(
        f"{urlsplit(url).netloc} can't be reached ({reason}).", "Check the address and your connection, then try again."
    )
