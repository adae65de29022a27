"""Files that are whole or not there, and tensors with a JSON description in one safetensors file.

Atomic writing is kept by hand: the packages for it neither sync the file before renaming it nor are maintained.
safetensors holds numbers and text only, so that opening a file somebody sent can't run code.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from bag_generators.base.errors import InputError
from bag_generators.base.validation import parse_json

# Read, not mapped: a mapped file that becomes shorter meanwhile ends the process.
_BACKEND = "pread" if os.name == "posix" else "mmap"
_WRITE_ELSEWHERE = "Choose a folder that you may write to and that has space left."


class ForeignFileError(Exception):
    """A file that is not safetensors, or has no description under the key asked for."""


def check_writable(path: Path, what: str) -> None:
    """Refuse now, before hours of work, a path where `write_whole` would fail later. Nothing is left there."""
    nearest = next(folder for folder in path.parents if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _refusal(path, what, error) from None


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Put `content` into `path`, all or nothing; `what` names the thing in the refusal, such as “The model card”."""
    write_together({path: content}, what)


def write_together(contents: Mapping[Path, bytes], what: str) -> None:
    """The same for several files in one folder, in this order: all are on the disk before the first takes its place."""
    temporaries: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False
            ) as file:
                temporaries[path] = Path(file.name)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            temporary.chmod(0o644)  # temporary files start private
            temporary.replace(path)
    except OSError as error:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)
        raise _refusal(path, what, error) from None


@contextmanager
def only_writer(path: Path, what: str) -> Iterator[None]:
    """Wait until no other process is between reading and writing `path`, and keep others out meanwhile."""
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise _refusal(path, what, error) from None
    try:
        yield
    finally:
        lock.release()


def pack_tensors(tensors: Mapping[str, np.ndarray], key: str = "", described: Mapping[str, Any] | None = None) -> bytes:
    """The content of a safetensors file; equal tensors and descriptions give equal bytes.

    The description is one JSON text under `key`, in the order given: safetensors doesn't keep that of several entries.
    What a text holds of a file name that is not UTF-8 becomes �, which every reader can show.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    if described is None:
        return bytes(save(arrays))
    text = json.dumps(described, ensure_ascii=False, allow_nan=False)
    return bytes(save(arrays, metadata={key: text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")}))


def write_tensors(
    path: Path, tensors: Mapping[str, np.ndarray], key: str, described: Mapping[str, Any], what: str
) -> None:
    """Write what `pack_tensors` makes, all or nothing."""
    write_whole(path, pack_tensors(tensors, key, described), what)


def read_tensors(
    path: Path, key: str, called: str, only: Sequence[str] | None = None
) -> tuple[dict[str, np.ndarray], Any]:
    """All tensors of a file, or `only` those named, and the JSON value under `key`, which is still to be validated.

    A file that can't be read is an `InputError` that names it `called`; one that is another kind of file raises
    `ForeignFileError`, for the caller to say what it expected.
    """
    try:
        with safe_open(path, framework="numpy", backend=_BACKEND) as file:
            text = (file.metadata() or {}).get(key)
            if text is None:
                raise ForeignFileError(path)
            described = parse_json(text, f"The description in “{called}”")
            return {name: file.get_tensor(name) for name in only or file.keys()}, described
    except FileNotFoundError:
        raise InputError(f"There is no file “{called}”.", "Check the name.") from None
    except OSError as error:
        raise InputError(f"“{called}” could not be read ({error}).", "Check the file and its rights.") from None
    except (SafetensorError, TypeError):  # TypeError: a number format NumPy doesn't have, such as bfloat16
        raise ForeignFileError(path) from None


def _refusal(path: Path, what: str, error: OSError) -> InputError:
    return InputError(f"{what} could not be written as “{path.name}” ({error.strerror}).", _WRITE_ELSEWHERE)
