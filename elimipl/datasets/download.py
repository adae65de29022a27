"""Files on web servers: fetched whole, continued where they broke off and checked; or read in parts, as if local.

Up to ten redirects are followed, from https only to https. The proxies of the environment and the certificates of the
system count; no .netrc, no cookies of earlier requests.
"""

from __future__ import annotations

import errno
import hashlib
import io
import shutil
import ssl
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from bag_generators.base.errors import InputError

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is (0 where nobody knows yet)."""

TIMEOUT = 60.0  # seconds without a sign of life
_CHUNK = 1 << 18
_FRUITLESS = 3  # broken connections in a row that brought nothing, before giving up
_MOST_AHEAD = 1 << 23  # bytes fetched at most beyond those asked for
_BUSY = Retry(
    3, connect=0, other=0, status_forcelist=(429, 500, 502, 503, 504), backoff_factor=3, retry_after_max=60,
    raise_on_status=False,
)  # fmt: skip


class _SystemCertificates(HTTPAdapter):
    """Trusts what the system trusts, beside the list that comes with requests: some networks have their own proxy."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, ssl_context=ssl.create_default_context(), **options)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        return super().proxy_manager_for(proxy, ssl_context=ssl.create_default_context(), **options)


def ask(url: str, **headers: str) -> requests.Response:
    """The answer to a request, its content still to come; a busy server is asked again after a pause."""
    host = urlsplit(url).netloc
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"“{url}” is not a web address.", "It has to begin with https:// or http://.")
    session = requests.Session()
    session.trust_env, session.max_redirects = False, 10
    session.proxies.update(get_environ_proxies(url))
    session.mount("http://", HTTPAdapter(max_retries=_BUSY))
    session.mount("https://", _SystemCertificates(max_retries=_BUSY))
    headers = {"User-Agent": "elimipl", "Accept-Encoding": "identity", **headers}
    try:
        response = session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:  # ValueError: sent to no address
        cause: BaseException = error
        while cause.args and isinstance(cause.args[0], BaseException):  # requests wraps urllib3, which wraps the system
            cause = cause.args[0]
        reason = str(getattr(cause, "reason", None) or cause).rpartition("): ")[2]  # without the object that says it
        raise InputError(
            f"{host} can't be reached ({reason}).", "Check the address and your connection, then try again."
        ) from None
    way = [urlsplit(step.url).scheme for step in (*response.history, response)]
    if "https" in way and way[-1] != "https":
        response.close()
        raise InputError(f"{host} sends us on to an address without encryption.", "Try again later, or report it.")
    if response.ok:
        return response
    response.close()
    if response.status_code in {404, 410}:
        raise InputError(f"{host} has no file at {url}.", "Check the name, or look whether the data has moved.")
    raise InputError(
        f"{host} refuses the request (status {response.status_code}).", "Check the address, or try again later."
    )


def read_part(url: str, start: int, stop: int, size: int, or_whole: bool = False) -> Iterator[bytes]:
    """Bytes start..stop of a file of `size` bytes as they come, continued where a connection breaks off.

    A server that sends the whole file instead is refused; `or_whole`: what was not asked for is passed over.
    """
    fruitless = 0
    while start < stop:
        had = start
        with ask(url, Range=f"bytes={start}-{stop - 1}") as response:
            is_part = response.status_code == HTTPStatus.PARTIAL_CONTENT
            if not is_part and not or_whole:
                raise InputError(
                    "The server does not hand out parts of a file.", "Fetch the whole data set instead of a few tiles."
                )
            announced = f"bytes {start}-{stop - 1}/{size}" if is_part else str(size)
            if response.headers.get("Content-Range" if is_part else "Content-Length", announced) != announced:
                raise InputError("The file on the server is not the one announced.", "Try again later.")
            place = start if is_part else 0
            try:
                for chunk in response.raw.stream(_CHUNK, decode_content=False):
                    new = chunk[max(start - place, 0) : max(stop - place, 0)]
                    place += len(chunk)
                    start += len(new)
                    yield new
                    if start >= stop:  # a server may send on for ever
                        break
            except (HTTPError, OSError):
                pass  # asked again from there
        fruitless = 0 if start > had else fruitless + 1
        if fruitless == _FRUITLESS:
            raise InputError(
                f"The connection broke off after {start} of {size} bytes.", "Start again: it goes on where it was."
            )


def download(url: str, path: Path, size: int, md5: str, progress: Progress | None = None) -> Path:
    """Fetch `size` bytes with the checksum `md5` (hex) from `url` to `path`.

    What has come so far lies beside it in a `.part` file, from which the next call goes on. A file that is
    already there and whole is not fetched again.
    """
    report = progress or (lambda what, done, total: None)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if path.stat().st_size == size and _md5_of(path, size, report) == md5:
                return path
            raise InputError(f"“{path}” is there already but is another file.", "Move it away and try again.")
        if part.exists() and part.stat().st_size > size:
            part.unlink()
        with part.open("ab") as file:
            missing, free = size - file.tell(), shutil.disk_usage(part.parent).free
            if missing > free:
                raise InputError(
                    f"{missing / 1e9:.1f} GB are still to come, but only {free / 1e9:.1f} GB are free in "
                    f"“{part.parent}”.",
                    "Make room or choose another folder.",
                )
            for chunk in read_part(url, file.tell(), size, size, or_whole=True):
                file.write(chunk)
                report("fetching", file.tell(), size)
        if _md5_of(part, size, report) != md5:
            part.unlink()
            raise InputError(
                "The file came in full but its checksum is wrong, so it was thrown away.", "Fetch it again."
            )
        part.replace(path)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise InputError(f"The disk of “{path.parent}” is full.", "Make room: it goes on where it was.") from None
        raise InputError(
            f"“{path}” could not be written ({error.strerror}).", "Choose a folder that you may write to."
        ) from None
    return path


def _md5_of(path: Path, size: int, report: Progress) -> str:
    # Zenodo publishes MD5. It guards against broken transfers, not against forgery: that is the task of HTTPS.
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
            report("checking", file.tell(), size)
    return digest.hexdigest()


class RemoteFile(io.RawIOBase):
    """A file on a web server that can be sought and read in, as `zipfile` does; each look ahead is one request.

    `on_bytes` hears how many bytes have come so far.
    """

    ahead = 1 << 16  # bytes; twice as many whenever reading goes on where the last look ended

    def __init__(self, url: str, size: int, on_bytes: Callable[[int], None] | None = None) -> None:
        self._url, self._size, self.on_bytes = url, size, on_bytes
        self._position = self._received = self._held_from = 0
        self._held = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise OSError("a place before the start of the file")
        self._position = origin + offset
        return self._position

    def read(self, count: int | None = -1) -> bytes:
        start = min(self._position, self._size)
        stop = self._size if count is None or count < 0 else min(start + count, self._size)
        held_to = self._held_from + len(self._held)
        if start < stop and not self._held_from <= start <= stop <= held_to:
            goes_on = self._held_from <= start <= held_to and self._held
            ahead = min(2 * len(self._held), _MOST_AHEAD) if goes_on else self.ahead
            self._held_from = min(start, max(self._size - ahead, 0))  # the end is read backwards
            self._held = self._fetch(self._held_from, max(stop, min(start + ahead, self._size)))
        self._position = stop
        return self._held[start - self._held_from : stop - self._held_from]

    def _fetch(self, start: int, stop: int) -> bytes:
        held = bytearray()
        for chunk in read_part(self._url, start, stop, self._size):
            held += chunk
            self._received += len(chunk)
            if self.on_bytes is not None:
                self.on_bytes(self._received)
        return bytes(held)
