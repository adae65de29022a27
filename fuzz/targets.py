"""What is fuzzed: one function a reader, each from bytes to nothing.

A reader that accepts the bytes must also be able to work with them, so the outcome is used as the app would.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

import numpy as np

from bag_generators import GENERATORS, TissueImage, generate, load
from bag_generators.base.errors import InputError
from bag_generators.tissue.quality import measure
from bag_generators.uploads import read_upload
from elimipl.answers.answer import judge
from elimipl.answers.predictor import Predictor
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.matlab import load_bags
from elimipl.datasets.tiles import bags_from_zip
from elimipl.slides.regions.geojson import read_regions, write_regions
from elimipl_app.shell.address import (
    KEYS,
    LONGEST_SHOWN,
    fits,
    number_from,
    refusal_notice,
    unknown_keys,
    unknown_notice,
)
from fuzz import seeds


@dataclass(frozen=True)
class Target:
    """One reader."""

    read: Callable[[bytes], None]
    """Reads and uses the bytes; only `InputError` may escape."""
    seeds: Callable[[], Sequence[bytes]]
    runs_of_a_round: int = 20_000
    """Under Atheris memory grows by about 100 KB an execution of the larger readers, which the same inputs without it
    do not show: rounds bound what piles up."""


def outcome(target: Target, data: bytes) -> InputError | None:
    """The refusal of these bytes, None where they were accepted; everything else escapes."""
    try:
        target.read(data)
    except InputError as refusal:
        if not (refusal.what.endswith(".") and refusal.fix.endswith((".", "?")) and str(refusal).isprintable()):
            raise AssertionError(f"no sentence: {refusal!r}") from None
        return refusal
    return None


def _opened(data: bytes) -> TissueImage:
    image = load(data)
    if image.pixels.dtype != np.uint8 or image.pixels.shape != (image.height, image.width, 3):
        raise AssertionError(f"{image.pixels.dtype} {image.pixels.shape}")
    return image


def _picture(data: bytes) -> None:
    image = _opened(data)
    if not np.isfinite(list(measure(image).numbers().values())).all():
        raise AssertionError("a measure is not finite")
    bag = generate(list(GENERATORS)[len(data) % len(GENERATORS)], image)
    if not np.isfinite(bag.features).all():
        raise AssertionError("a feature is not finite")


def _tiff(data: bytes) -> None:
    """Always a TIFF, whatever became of its first bytes; the reader alone, which is several times as fast."""
    _opened(data if data[:4] in _TIFF_HEADS else b"II*\0" + data[4:])


def _weights(data: bytes) -> None:
    described = json.loads(seeds.CARD) | {"sha256": hashlib.sha256(data).hexdigest()}
    _card(json.dumps(described).encode(), data)


def _card(card: bytes, weights: bytes = seeds.WEIGHTS) -> None:
    """A model, used on a picture."""
    for ending, content in (("json", card), ("safetensors", weights)):
        (seeds.FOLDER / f"{seeds.MODEL}.{ending}").write_bytes(content)
    predictor = Predictor.load(seeds.MODEL, seeds.FOLDER)
    image = seeds.toy_picture()
    bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
    prediction = predictor.predict(bag)
    if not np.isfinite(prediction.probabilities).all():
        raise AssertionError("a probability is not finite")
    judge(measure(image).numbers(), predictor, bag, prediction)


def _bag_file(data: bytes) -> None:
    path = seeds.FOLDER / "bags.safetensors"
    path.write_bytes(data)
    dataset = BagDataset.load(path, "the uploaded file")
    dataset.subset([0])
    json.dumps(dataset.label_space.to_dict(), ensure_ascii=False).encode()


def _tile_zip(data: bytes) -> None:
    bags_from_zip(data, "row")


def _matlab(data: bytes) -> None:
    path = seeds.FOLDER / "bags.mat"
    path.write_bytes(data)
    load_bags(path)


def _worker(data: bytes) -> None:
    """A file on its way through the process with limits, as the app sends it."""
    if data.startswith(b"MATLAB"):
        _matlab(data)
    else:
        read_upload(data)


def _address(data: bytes) -> None:
    """A query as Streamlit parses it, held against widgets and pages; one in which nothing fits counts as refused."""
    asked = parse_qs(data.decode("utf-8", "replace"), keep_blank_values=True)
    readers = (number_from(0, 9999, 1), number_from(0.1, 4.0, 0.5))
    fitting = sum(fits(read, values) for read in readers for values in asked.values())
    said = [refusal_notice("Threshold", values, "which does not fit", "1") for values in asked.values()]
    for page in KEYS:
        unknown = unknown_keys(page, list(asked))
        fitting += len(asked) - len(unknown)
        said += [unknown_notice(unknown)] if unknown else []
    # Escaping doubles a character at most; a sentence names three values at most. What parts an “@” from the next
    # letter, so that it is no link, is no printable character.
    shown = [notice.replace("\u2060", "") for notice in said]
    if any(len(notice) > 200 + 6 * LONGEST_SHOWN or not notice.isprintable() for notice in shown):
        raise AssertionError(f"no sentence: {said!r}")
    if not fitting:
        raise InputError("Nothing in the link fits.", "Check the link.")


def _regions(data: bytes) -> None:
    """A file of regions, read and written again."""
    imported = read_regions(data, 2000, 1500)
    if read_regions(write_regions(imported.regions, {}).encode(), 2000, 1500).not_areas:
        raise AssertionError("what was written is no area")
    if not imported.regions:
        raise InputError("No region of the file lies on the slide.", "Export other annotations.")


_TIFF_HEADS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
TARGETS = {
    "picture": Target(_picture, seeds.pictures),
    "tiff": Target(_tiff, seeds.tiffs),
    "card": Target(_card, lambda: [seeds.CARD]),
    "weights": Target(_weights, lambda: [seeds.WEIGHTS]),
    "bag-file": Target(_bag_file, seeds.bag_files),
    "tile-zip": Target(_tile_zip, seeds.zips),
    "matlab": Target(_matlab, seeds.matlab_files),
    "worker": Target(_worker, lambda: [*seeds.pictures(), *seeds.matlab_files()]),
    "regions": Target(_regions, seeds.regions, 200_000),
    "address": Target(_address, seeds.addresses, 200_000),
}
