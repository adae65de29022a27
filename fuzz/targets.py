"""What is fuzzed: one function a reader, each from bytes to nothing, and the sound files the changes start from.

A reader that accepts the bytes must also be able to work with them, so the outcome is used as the app would.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image, ImageCms
from scipy.io import savemat

from bag_generators import GENERATORS, TissueImage, generate, load
from bag_generators.archive import BagArchive
from bag_generators.errors import InputError
from bag_generators.reading.colour_profiles import UNUSED, colours_of
from bag_generators.reading.orientation import orientation_of, turned_upright
from bag_generators.tissue.quality import measure
from elimipl.cards.card import Card
from elimipl.cards.finish import finish
from elimipl.config import Config
from elimipl.data.candidates import Candidates
from elimipl.data.matlab import load_bags
from elimipl.data.zips import bags_from_zip
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace
from elimipl.predictor import Predictor
from elimipl.scope import judge
from elimipl.training.loop import fit
from scripts.bad_inputs.encodings import with_chunk
from scripts.bad_inputs.metadata import DISPLAY_P3, PROPHOTO, exif_bomb, ink_profile

_PLACE = tempfile.TemporaryDirectory(prefix="fuzz-")
_FOLDER = Path(_PLACE.name)
_RNG = np.random.default_rng(3)
_NOISE = Image.fromarray(_RNG.integers(0, 256, (72, 80, 4), dtype=np.uint8))


@dataclass(frozen=True)
class Target:
    """One reader."""

    read: Callable[[bytes], None]
    """Reads and uses the bytes; only `InputError` may escape."""
    seeds: Callable[[], Sequence[bytes]]


def outcome(target: Target, data: bytes) -> InputError | None:
    """The refusal of these bytes, None where they were accepted; everything else escapes."""
    try:
        target.read(data)
    except InputError as refusal:
        if not (refusal.what.endswith(".") and refusal.fix.endswith((".", "?")) and str(refusal).isprintable()):
            raise AssertionError(f"no sentence: {refusal!r}") from None
        return refusal
    return None


def _picture(data: bytes) -> None:
    image = load(data)
    if image.pixels.dtype != np.uint8 or image.pixels.shape != (image.height, image.width, 3):
        raise AssertionError(f"{image.pixels.dtype} {image.pixels.shape}")
    if not np.isfinite(list(measure(image).numbers().values())).all():
        raise AssertionError("a measure is not finite")
    bag = generate(list(GENERATORS)[len(data) % len(GENERATORS)], image)
    if not np.isfinite(bag.features).all():
        raise AssertionError("a feature is not finite")


def _camera_data(data: bytes) -> None:
    """Alone, and where pictures carry them; those that say nothing count as refused."""
    found = orientation_of(data, data)
    image = _toy_picture()
    shape = (image.width, image.height) if found >= 5 else (image.height, image.width)
    if turned_upright(image.pixels, found).shape != (*shape, 3):
        raise AssertionError(f"turned by {found}")
    picture = _encoded(_NOISE.convert("RGB").resize((8, 9)), "PNG")
    load(with_chunk(picture, b"eXIf", data))
    load(with_chunk(picture, b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + data))
    if found == 1:
        raise InputError("The camera data say nothing.", "Choose another file.")


def _colour_profile(data: bytes) -> None:
    """In every kind of picture; one that can't be used counts as refused."""
    used = False
    for mode in ("RGB", "RGBA", "CMYK", "L"):
        colours = colours_of(data, mode)
        used = used or colours.note != UNUSED
        if colours.convert is not None:
            part = Image.new(mode if mode != "L" else "RGB", (8, 9), "pink" if mode != "CMYK" else 0)
            if colours.convert(part).mode not in ("RGB", "RGBA"):
                raise AssertionError("converted to something else")
    if not used:
        raise InputError(UNUSED, "Export it again in sRGB.")


def _card(data: bytes) -> None:
    card, weights = _toy_model()
    _use_model(card.id, data, weights)


def _weights(data: bytes) -> None:
    card, _ = _toy_model()
    described = replace(card, sha256=hashlib.sha256(data).hexdigest())
    _use_model(card.id, json.dumps(described.to_dict()).encode(), data)


def _use_model(model_id: str, card: bytes, weights: bytes) -> None:
    (_FOLDER / f"{model_id}.json").write_bytes(card)
    (_FOLDER / f"{model_id}.safetensors").write_bytes(weights)
    predictor = Predictor.load(model_id, _FOLDER)
    image = _toy_picture()
    bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
    prediction = predictor.predict(bag)
    if not np.isfinite(prediction.probabilities).all():
        raise AssertionError("a probability is not finite")
    judge(measure(image).numbers(), predictor, bag, prediction)


def _bag_file(data: bytes) -> None:
    path = _FOLDER / "bags.safetensors"
    path.write_bytes(data)
    dataset = BagDataset.load(path, "the uploaded file")
    dataset.subset([0])
    json.dumps(dataset.label_space.to_dict(), ensure_ascii=False).encode()


def _tile_zip(data: bytes) -> None:
    bags_from_zip(data, "row")


def _matlab(data: bytes) -> None:
    path = _FOLDER / "bags.mat"
    path.write_bytes(data)
    load_bags(path)


def _exif_files() -> list[bytes]:
    """Small and large ones of either byte order, XMP, and one with everything Pillow writes."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x8769] = 8, "camera", {0x9003: "2026:01:01 00:00:00"}
    big = b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    return [exif.tobytes(), exif_bomb(0), big, b'<rdf:Description tiff:Orientation="6"/>']


def _profiles() -> list[bytes]:
    """Matrix profiles, a table of inks, and what lcms itself writes for sRGB."""
    return [DISPLAY_P3, PROPHOTO, ink_profile(), ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()]


def _encoded(image: Image.Image, format_: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


def _big_tiff(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, pixels, bigtiff=True, tile=(32, 32), photometric="rgb")
    return file.getvalue()


def _planes(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    wide = pixels.transpose(2, 0, 1).astype(np.uint16) * 257
    tifffile.imwrite(file, wide, planarconfig="separate", photometric="rgb", compression="zlib", rowsperstrip=16)
    return file.getvalue()


@cache
def pictures() -> tuple[bytes, ...]:
    """Every format, with what a header can hold: camera data, profiles, frames, palettes, compressions."""
    colour, exif = _NOISE.convert("RGB"), Image.Exif()
    exif[0x0112] = 6
    return (
        _encoded(colour, "PNG", exif=exif),
        _encoded(_NOISE, "PNG", save_all=True, append_images=[_NOISE.rotate(180)]),
        _encoded(colour.quantize(9), "PNG", transparency=2),
        _encoded(Image.fromarray(_RNG.integers(0, 4096, (72, 80), dtype=np.uint16)), "PNG"),
        _encoded(colour, "JPEG", exif=exif, icc_profile=b"profile" * 9),
        _encoded(colour, "JPEG", progressive=True),
        _encoded(colour.convert("CMYK"), "JPEG"),
        _encoded(colour, "TIFF", exif=exif),
        _encoded(colour, "TIFF", compression="tiff_lzw"),
        _encoded(colour, "TIFF", compression="tiff_adobe_deflate"),
        _big_tiff(np.asarray(colour)),
        _encoded(colour, "TIFF", compression="jpeg", icc_profile=PROPHOTO),
        _planes(np.asarray(colour)),
        with_chunk(_encoded(colour, "PNG", icc_profile=DISPLAY_P3), b"cICP", b"\x0c\x0d\0\1"),
        with_chunk(with_chunk(_encoded(colour, "PNG"), b"gAMA", b"\0\1\x86\xa0"), b"cHRM", bytes(range(32))),
        _encoded(colour.convert("F"), "TIFF", save_all=True, append_images=[colour.convert("1")]),
        _encoded(colour, "BMP"),
        _encoded(colour.quantize(9), "BMP"),
        _encoded(_NOISE, "WEBP", lossless=True, exif=exif),
        _encoded(colour, "WEBP", save_all=True, append_images=[colour.rotate(180)]),
    )


@cache
def _toy_picture() -> TissueImage:
    return load(_encoded(_NOISE.convert("RGB"), "PNG"))


@cache
def _toy_dataset() -> BagDataset:
    labels = np.arange(6) % 3
    bags = [generate("row", load(_encoded(_NOISE.convert("RGB").rotate(30 * i), "PNG"))) for i in range(6)]
    space = LabelSpace.of(["blue", "pink", "white"], id="toy")
    candidates = np.ones((6, 3), dtype=bool)
    return BagDataset.from_bags(
        [bag.features for bag in bags], space, labels, candidates, generator="row", params=dict(bags[0].params)
    )


@cache
def _toy_model() -> tuple[Card, bytes]:
    dataset = _toy_dataset()
    fitted = fit(dataset, Config.preset("default", hidden=8, epochs=1, batch=6), device="cpu")
    quality = measure(_toy_picture()).numbers()
    finished = finish(fitted, dataset, Candidates(), created_by="fuzz", held_out=dataset, qualities=[quality])
    return finished.card, finished.weights


@cache
def _bag_files() -> tuple[bytes, ...]:
    path = _FOLDER / "seed.safetensors"
    made = []
    for half, marked in ((False, None), (True, np.zeros(len(_toy_dataset().instances), dtype=bool))):
        replace(_toy_dataset(), instance_truth=marked).save(path, half=half)
        made.append(path.read_bytes())
    archive = BagArchive(path)  # bags that nobody has labelled, and a file that gave none
    archive.add("a.png", generate("row", _toy_picture()))
    archive.add("b.png", InputError("The file is empty.", "Choose another file."))
    archive.save()
    return (*made, path.read_bytes())


@cache
def _zips() -> tuple[bytes, ...]:
    made = []
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", packing) as archive:
            for name in ("A/1.png", "B/2.png", "../C/3.png"):
                archive.writestr(name, _encoded(_NOISE.resize((66, 66)).quantize(4), "PNG"))
        made.append(file.getvalue())
    return tuple(made)


@cache
def _matlab_files() -> tuple[bytes, ...]:
    cells = np.empty((2, 3), dtype=object)
    for i, row in enumerate(([np.eye(2), [1.0, 2.0], [2.0]], [np.ones((3, 2)), [2.0, 3.0], [3.0]])):
        for j, value in enumerate(row):
            cells[i, j] = np.atleast_2d(value)
    made = []
    for values, options in (
        ({"data": cells}, {}),
        ({"data": cells}, {"do_compression": True}),
        ({"data": 1}, {"format": "4"}),
    ):
        file = io.BytesIO()
        savemat(file, values, **options)
        made.append(file.getvalue())
    return tuple(made)


TARGETS = {
    "picture": Target(_picture, pictures),
    "camera-data": Target(_camera_data, _exif_files),
    "colour-profile": Target(_colour_profile, _profiles),
    "card": Target(_card, lambda: [json.dumps(_toy_model()[0].to_dict()).encode()]),
    "weights": Target(_weights, lambda: [_toy_model()[1]]),
    "bag-file": Target(_bag_file, _bag_files),
    "tile-zip": Target(_tile_zip, _zips),
    "matlab": Target(_matlab, _matlab_files),
}
