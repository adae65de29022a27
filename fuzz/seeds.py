"""The sound files that changes start from, a few of every reader; most are made here, so that they fit this version."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat

from bag_generators import TissueImage, generate, load
from bag_generators.base.assets import assets
from bag_generators.base.errors import InputError
from bag_generators.parallel import BagArchive
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset
from tests.support.bad_files import DISPLAY_P3, PROPHOTO, encoded, tiff, with_chunk

_PLACE = tempfile.TemporaryDirectory(prefix="fuzz-")
FOLDER = Path(_PLACE.name)
CORPUS = Path(__file__).with_name("corpus")
MODEL = "drawn7-row-elimipl"
CARD, WEIGHTS = (assets("models", f"{MODEL}.{ending}").read_bytes() for ending in ("json", "safetensors"))
_RNG = np.random.default_rng(3)
_NOISE = Image.fromarray(_RNG.integers(0, 256, (72, 80, 4), dtype=np.uint8))


def kept(name: str) -> list[bytes]:
    """The files that earlier runs found worth keeping for a reader."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


@cache
def pictures() -> tuple[bytes, ...]:
    """Every format, with what a header can hold: camera data, profiles, frames, palettes, compressions."""
    colour, exif = _NOISE.convert("RGB"), Image.Exif()
    exif[0x0112] = 6
    planes = np.asarray(colour).transpose(2, 0, 1).astype(np.uint16) * 257
    return (
        encoded("PNG", colour, exif=exif),
        encoded("PNG", _NOISE, save_all=True, append_images=[_NOISE.rotate(180)]),
        encoded("PNG", colour.quantize(9), transparency=2),
        encoded("PNG", Image.fromarray(_RNG.integers(0, 4096, (72, 80), dtype=np.uint16))),
        encoded("JPEG", colour, exif=exif, icc_profile=b"profile" * 9),
        encoded("JPEG", colour, progressive=True),
        encoded("JPEG", colour.convert("CMYK")),
        encoded("TIFF", colour, exif=exif),
        encoded("TIFF", colour, compression="tiff_lzw"),
        encoded("TIFF", colour, compression="tiff_adobe_deflate"),
        tiff(np.asarray(colour), bigtiff=True, tile=(32, 32), photometric="rgb"),
        encoded("TIFF", colour, compression="jpeg", icc_profile=PROPHOTO),
        tiff(planes, planarconfig="separate", photometric="rgb", compression="zlib", rowsperstrip=16),
        with_chunk(encoded("PNG", colour, icc_profile=DISPLAY_P3), b"cICP", b"\x0c\x0d\0\1"),
        with_chunk(with_chunk(encoded("PNG", colour), b"gAMA", b"\0\1\x86\xa0"), b"cHRM", bytes(range(32))),
        encoded("TIFF", colour.convert("F"), save_all=True, append_images=[colour.convert("1")]),
        encoded("BMP", colour),
        encoded("BMP", colour.quantize(9)),
        encoded("WEBP", _NOISE, lossless=True, exif=exif),
        encoded("WEBP", colour, save_all=True, append_images=[colour.rotate(180)]),
    )


@cache
def toy_picture() -> TissueImage:
    """A picture that every generator takes."""
    return load(encoded("PNG", _NOISE.convert("RGB")))


@cache
def bag_files() -> tuple[bytes, ...]:
    """Full and half precision, marked instances, and an archive nobody has labelled."""
    path, made = FOLDER / "seed.safetensors", []
    bags = [generate("row", load(encoded("PNG", _NOISE.convert("RGB").rotate(30 * i)))) for i in range(6)]
    space, labels = LabelSpace.of(["blue", "pink", "white"], id="toy"), np.arange(6) % 3
    features, candidates = [bag.features for bag in bags], np.ones((6, 3), dtype=bool)
    dataset = BagDataset.from_bags(features, space, labels, candidates, generator="row", params=dict(bags[0].params))
    for half, marked in ((False, None), (True, np.zeros(len(dataset.instances), dtype=bool))):
        replace(dataset, instance_truth=marked).save(path, half=half)
        made.append(path.read_bytes())
    archive = BagArchive(path)  # bags that nobody has labelled, and a file that gave none
    archive.add("a.png", generate("row", toy_picture()))
    archive.add("b.png", InputError("The file is empty.", "Choose another file."))
    archive.save()
    return (*made, path.read_bytes())


@cache
def zips() -> tuple[bytes, ...]:
    """One of each way of packing."""
    made = []
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", packing) as archive:
            for name in ("A/1.png", "B/2.png", "../C/3.png"):
                archive.writestr(name, encoded("PNG", _NOISE.resize((66, 66)).quantize(4)))
        made.append(file.getvalue())
    return tuple(made)


@cache
def matlab_files() -> tuple[bytes, ...]:
    """Plain, compressed, and of an old version."""
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


@cache
def tiffs() -> tuple[bytes, ...]:
    """The TIFF files among the pictures, tiles and strips, and one of floats with a second page."""
    return tuple(picture for picture in pictures() if picture[:2] in (b"II", b"MM"))


def regions() -> list[bytes]:
    """Annotations as QuPath exports them: a polygon with a hole, several polygons, a point."""
    ring, hole = [[10, 10], [400, 10], [400, 300], [10, 300], [10, 10]], [[50, 50], [90, 50], [90, 90], [50, 50]]
    shapes = (
        {"type": "Polygon", "coordinates": [ring, hole]},
        {"type": "MultiPolygon", "coordinates": [[ring], [[[900, 900], [1000, 900], [1000, 1000], [900, 900]]]]},
        {"type": "Point", "coordinates": [5, 5]},
    )
    about = {"objectType": "annotation", "name": "<b>gland</b>", "classification": {"name": "Tumour"}}
    features = [{"type": "Feature", "geometry": shape, "properties": about} for shape in shapes]
    return [json.dumps({"type": "FeatureCollection", "features": features}).encode(), json.dumps(features[:1]).encode()]


def addresses() -> list[bytes]:
    """Queries as pages write them."""
    return [
        b"sample=Tumour+(phantom)&generator=SBN&labels=7+tissues&method=ELIMIPL&threshold=0.35&whole=true",
        b"step=attention&done=picture,bag&hide=text&epoch_digits=40&r=2&mu=0.5",
        b"train_epochs=inf&train_lr=1e-3&train_data=&x=1&x=2&%00=%ff",
    ]
