"""Read single members of a zip file that lies on a web server, without fetching the rest.

`zipfile` only needs something it can seek and read in: here every read becomes an HTTP range request. It first
reads the directory at the end of the file (also the 64-bit kind, which archives of more than 65,535 members or
4 GB have), and then just the members asked for.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, BinaryIO, cast

from bag_generators.errors import InputError
from elimipl.data.http_parts import BrokenOffError, open_url

_TAIL = 1 << 16  # bytes at the end that hold the end record and often the whole directory
_AHEAD = 1 << 23  # bytes fetched at most in one request of an expected stretch
_TRIES = 4


class RemoteFile(io.RawIOBase):
    """A file on a web server as a seekable, readable object; `on_bytes` hears how many bytes have come so far."""

    def __init__(self, url: str, size: int, on_bytes: Callable[[int], None] | None = None) -> None:
        self._url, self._size, self.on_bytes = url, size, on_bytes
        self._position = self._received = 0
        self._held_from, self._held = 0, b""
        self._expected = max(size - _TAIL, 0), size

    def expect(self, start: int, stop: int) -> None:
        """Say that bytes start..stop will be read one after the other, so that few requests get them all."""
        self._expected = start, stop

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

    def read(self, count: int = -1) -> bytes:
        left = max(self._size - self._position, 0)
        count = left if count is None or count < 0 else min(count, left)
        start, stop = self._position, self._position + count
        if count and not (self._held_from <= start and stop <= self._held_from + len(self._held)):
            self._held_from, fetch_to = self._stretch(start, stop)
            self._held = self._fetch(self._held_from, fetch_to)
        self._position = stop
        return self._held[start - self._held_from : stop - self._held_from]

    def _stretch(self, start: int, stop: int) -> tuple[int, int]:
        """What to fetch when bytes start..stop are asked for: all that is expected, if it isn't too much."""
        expected_start, expected_stop = self._expected
        if not expected_start <= start < expected_stop:
            return start, stop
        if expected_stop - expected_start <= _AHEAD:
            return expected_start, max(stop, expected_stop)
        return start, max(stop, min(expected_stop, start + _AHEAD))

    def _fetch(self, start: int, stop: int) -> bytes:
        """Bytes start..stop, continued where a connection breaks off."""
        held = bytearray()
        for _ in range(_TRIES):
            try:
                with open_url(self._url, start + len(held), stop - 1) as reply:
                    missing = stop - start - len(held)
                    if reply.start != start + len(held) or reply.length is None or reply.length > missing:
                        raise InputError(
                            "The server does not hand out parts of a file.",
                            "Fetch the whole data set instead of a few tiles.",
                        )
                    if reply.total != self._size:
                        raise InputError(
                            f"The file has {reply.total} bytes on the server, {self._size} were announced.",
                            "Try again later; it may just be changing.",
                        )
                    for chunk in reply.chunks():
                        held += chunk
                        self._received += len(chunk)
                        if self.on_bytes is not None:
                            self.on_bytes(self._received)
            except BrokenOffError:
                continue
            if len(held) == stop - start:
                return bytes(held)
        raise InputError("The connection breaks off again and again.", "Try again later.")


def open_zip(file: RemoteFile | BinaryIO) -> zipfile.ZipFile:
    """The archive in `file`; anything that is no whole zip file is refused."""
    try:
        return zipfile.ZipFile(cast(IO[bytes], file))
    except InputError:  # of the connection; it is a ValueError too
        raise
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError, struct.error):
        raise InputError("The file is not a whole zip archive.", "Fetch it again.") from None


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, largest: int) -> bytes:
    """The unpacked content of one member, checked against its checksum and refused if above `largest` bytes."""
    if member.file_size > largest or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(
            f"“{member.filename}” is too large or packed in an unusual way.", "That is no tile: check the archive."
        )
    try:
        with archive.open(member) as file:
            return file.read(member.file_size)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error):
        raise InputError(f"“{member.filename}” in the archive is damaged.", "Fetch it again.") from None
