"""How bags lie on disk: one safetensors file of tensors, names and a JSON description, with labels or without.

`elimipl bags --unlabelled --out` writes bags of pictures nobody has labelled, `elimipl bags` labelled ones.
Names are tensors, too: as JSON those of a million bags would not fit into the header of a safetensors file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.mapped_rows import MappedRows
from bag_generators.base.storage import ForeignFileError, check_writable, read_tensors, write_tensors
from bag_generators.base.validation import Record, validated

VERSION = 2
_METADATA_KEY = "elimipl.bags"
_LABELS = {"candidates", "labels", "groups"}
_ARRAYS = {"instances", "offsets", "boxes", "instance_truth", *_LABELS}
_TEXTS = ("names", "failed", "reasons")
_SHA256 = 32  # bytes
_OTHER_ENDINGS = {".npz", ".npy", ".mat"}


@dataclass(frozen=True, eq=False)
class BagFile:
    """Everything a file of m bags with altogether N instances holds; bag i is rows offsets[i]..offsets[i+1]."""

    instances: np.ndarray | MappedRows  # (N, d) float32 or float16
    offsets: np.ndarray  # (m + 1,) int64
    names: tuple[str, ...]
    generator: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    licence: str = ""
    feature_names: tuple[str, ...] = ()  # d of them, where they are known
    boxes: np.ndarray | None = None  # (N, 4) int64: x0, y0, x1, y1 of each instance in pixels
    image_sha256: tuple[str, ...] = ()  # of each bag's picture
    failed: tuple[str, ...] = ()  # files that gave no bag
    reasons: tuple[str, ...] = ()  # why not, one for each
    label_space: Mapping[str, Any] | None = None  # None: nobody has labelled these bags
    candidates: np.ndarray | None = None  # (m, k) bool
    labels: np.ndarray | None = None  # (m,) int64, −1 = unknown
    groups: np.ndarray | None = None  # (m,) int64
    instance_truth: np.ndarray | None = None  # (N,) bool
    sources: tuple[str, ...] = ()  # of each bag where several data sets were joined


class _Description(Record):
    version: int
    label_space: dict[str, Any] | None
    generator: str
    params: dict[str, Any]
    source: str
    licence: str
    feature_names: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """In version 1 alone, whose bags were always labelled."""


def check_out(path: Path) -> None:
    """Refuse, before any work, a path where `write` would fail or whose ending promises another format."""
    if path.suffix.lower() in _OTHER_ENDINGS:
        raise InputError(
            f"Bags are not written as “{path.suffix}” files.", f"Name the file “{path.stem}.safetensors” instead."
        )
    if path.is_dir():
        raise InputError(f"The data set can't be written to “{path}”: that is a folder.", "Add the name of a file.")
    if not path.parent.is_dir():
        raise InputError(
            f"The data set can't be written to “{path}”: there is no folder “{path.parent}”.",
            "Make the folder first, or check the name.",
        )
    check_writable(path, "The data set")


def write(path: Path, bags: BagFile) -> None:
    """Write `bags` to `path`, all or nothing. Names keep their bytes, also those that are not UTF-8."""
    tensors, described = packed(bags)
    write_tensors(path, {**tensors, "instances": np.asarray(bags.instances)}, _METADATA_KEY, described, "The data set")


def packed(bags: BagFile) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Everything but the instances as tensors, and the description, for a file of its own or the index of a folder."""
    tensors = {name: array for name in sorted(_ARRAYS - {"instances"}) if (array := getattr(bags, name)) is not None}
    for name in _TEXTS + (("sources",) if bags.sources else ()):
        tensors |= texts_as_tensors(name, getattr(bags, name))
    if bags.image_sha256:
        digests = b"".join(bytes.fromhex(digest) for digest in bags.image_sha256)
        tensors["image_sha256"] = np.frombuffer(digests, np.uint8).reshape(-1, _SHA256)
    described = {
        "version": VERSION,
        "label_space": None if bags.label_space is None else dict(bags.label_space),
        "generator": bags.generator,
        "params": dict(sorted(plain_json(bags.params).items())),
        "feature_names": list(bags.feature_names),
        "source": bags.source,
        "licence": bags.licence,
    }
    return tensors, described


def read(path: Path, called: str = "") -> BagFile:
    """What `write` put into `path`, in this version or the one before; `called` names the file in a refusal.

    Names can always be shown: bytes that are not UTF-8 read as �.
    """
    called = called or str(path)
    try:
        tensors, values = read_tensors(path, _METADATA_KEY, called)
    except ForeignFileError:
        raise foreign(called) from None
    return unpacked(tensors, values, called)


def unpacked(tensors: dict[str, Any], values: Any, called: str) -> BagFile:
    """The bags in what `packed` made and the instances, checked; `called` names the file in a refusal."""
    version = values.get("version") if isinstance(values, dict) else None
    if not isinstance(version, int):
        raise foreign(called)
    if version not in (1, VERSION):
        raise InputError(
            f"“{called}” is written in version {version} of the bag format, this program reads up to {VERSION}.",
            "Build the data set again, or update the program.",
        )
    try:
        bags = _described(tensors, validated(_Description, values, f"“{called}”"))
        _check_whole(bags)
    except (KeyError, ValueError) as error:
        raise error if isinstance(error, InputError) else foreign(called) from None
    return bags


def plain_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as they read after a round trip through JSON: tuples are lists, NumPy numbers plain ones."""
    try:
        return dict(json.loads(json.dumps(dict(values), default=_plain, allow_nan=False)))
    except (TypeError, ValueError):
        raise InputError(
            "The parameters of the bags can't be written as JSON.", "Use numbers, texts, lists and tables."
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _described(tensors: dict[str, np.ndarray], described: _Description) -> BagFile:
    texts = {}
    if described.version > 1:
        for name in _TEXTS + (("sources",) if "sources.utf8" in tensors else ()):
            texts[name] = tensors_as_texts(tensors.pop(f"{name}.utf8"), tensors.pop(f"{name}.ends"))
    digests = tensors.pop("image_sha256", np.zeros((0, _SHA256), np.uint8))
    if digests.dtype != np.uint8 or digests.shape[1:] != (_SHA256,):
        raise ValueError("image_sha256")
    return BagFile(
        **_known(tensors, described.label_space is not None),
        **{**described.model_dump(exclude={"version"}), **texts},
        image_sha256=tuple(digest.tobytes().hex() for digest in digests),
    )


def _known(tensors: dict[str, np.ndarray], labelled: bool) -> dict[str, Any]:
    needed = {"instances", "offsets"} | (_LABELS if labelled else set())
    if not needed <= tensors.keys() <= (_ARRAYS if labelled else _ARRAYS - _LABELS):
        raise KeyError("tensors")
    return tensors


def _check_whole(bags: BagFile) -> None:
    """Refuse lists that don't fit each other. What the numbers mean is checked where they are used."""
    m, n = max(bags.offsets.size - 1, 0), len(bags.instances) if bags.instances.ndim == 2 else -1
    fits = (
        n >= 0
        and len(bags.names) in (0, m)
        and len(bags.image_sha256) in (0, m)
        and len(bags.sources) in (0, m)
        and len(bags.failed) == len(bags.reasons)
        and (bags.boxes is None or bags.boxes.shape == (n, 4))
        and len(bags.feature_names) in (0, bags.instances.shape[1])
    )
    if not fits:
        raise ValueError("lengths")


def texts_as_tensors(name: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Texts one after the other, and where each ends. Names of files come back as the bytes they are on disk."""
    encoded = [_as_bytes(text) for text in texts]
    return {
        f"{name}.utf8": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}.ends": np.cumsum([len(text) for text in encoded], dtype=np.int64),
    }


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, which is no part of a file name
        return text.encode("utf-8", "surrogatepass")


def tensors_as_texts(utf8: np.ndarray, ends: np.ndarray) -> tuple[str, ...]:
    """What `texts_as_tensors` took apart; bytes that are not UTF-8 read as �."""
    if utf8.dtype != np.uint8 or ends.dtype != np.int64 or utf8.ndim != 1 or ends.ndim != 1:
        raise ValueError("texts")
    starts = np.concatenate([[0], ends[:-1]]) if ends.size else ends
    if (starts > ends).any() or (ends[-1] if ends.size else 0) != utf8.size:
        raise ValueError("texts")
    content = utf8.tobytes()
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return tuple(content[start:end].decode("utf-8", "replace") for start, end in pairs)


def foreign(called: str) -> InputError:
    """What is said of a file that is something else, or a part of one."""
    return InputError(
        f"“{called}” is not a whole bag data set of this program.",
        "Choose a file written by “python -m elimipl bags”, or build it again if a copy broke off.",
    )
