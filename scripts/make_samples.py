"""Make everything in assets/samples: `python scripts/make_samples.py [FOLDER]`. The same bytes every time.

Real H&E comes from the picture target_image.png in the wheel of tiatoolbox (`pip download --no-deps tiatoolbox`,
then `--tiatoolbox WHEEL`); without the wheel the fields that ship are copied. Its pixels are brought from about 0.25
to 0.5 µm.
Real colon tissue comes from scikit-image's own colon section, which is stained with haematoxylin and DAB (brown).
It is re-stained to haematoxylin and eosin: its colours are separated into the two stains, DAB is read as
eosin, and both are mixed again in the colours of an H&E slide. Shapes are real, colours are computed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from PIL import Image

from bag_generators.tissue.phantom import HAEMATOXYLIN_EOSIN, PHANTOM_KINDS, draw
from bag_generators.tissue.samples import SAMPLES_FOLDER

# Optical densities of haematoxylin and DAB in R, G, B: those of the section's bluest and brownest 1 %.
_HAEMATOXYLIN_DAB = np.array([[0.72, 0.60, 0.34], [0.23, 0.48, 0.85]])

_TARGET_IMAGE = "tiatoolbox/data/target_image.png"
_UNLABELLED = {"label": None, "candidates": [], "seed": None}
_REAL = {
    **_UNLABELLED,
    "kind": "real",
    "credit": (
        "target_image.png of TIAToolbox, Tissue Image Analytics Centre, University of Warwick; cut and brought from "
        "about 0.25 µm per pixel (by its nuclei) to 0.5 by this project."
    ),
    "licence": "BSD-3-Clause",
    "microns_per_pixel": 0.5,
}
_SECTION = {
    **_UNLABELLED,
    "kind": "restained",
    "credit": (
        "Colonic glands, immunohistochemistry of FHL2 (DAB, haematoxylin counterstain), acquired at the "
        "Center for Microscopy and Molecular Imaging (CMMI); comes with scikit-image as "
        "skimage.data.immunohistochemistry(). Re-stained by this project."
    ),
    "licence": "No known copyright restrictions, as stated by scikit-image.",
    "microns_per_pixel": None,
}
_DRAWN = {
    "kind": "phantom",
    "credit": "Drawn by this project (bag_generators.tissue.phantom).",
    "licence": "MIT",
    "microns_per_pixel": None,
}

# id: (x, y, size) in the picture at 0.5 µm per pixel, title, description
_FIELDS = {
    "overview": (
        (0, 0, 500),
        "Carcinoma and its stroma",
        "Glands of carcinoma, stroma with lymphocytes, to walk over.",
    ),
    "gland": ((100, 40, 224), "Gland with a lumen", "Tumour cells around a slit, their nuclei large and uneven."),
    "epithelium": ((0, 0, 224), "Tumour epithelium", "Crowded tumour cells, large pale nuclei."),
    "stroma": ((276, 160, 224), "Stroma with lymphocytes", "Tumour cells at the left, lymphocytes and collagen."),
}
# id: (x, y, size) in the section, title, description
_CROPS = {
    "section": ((0, 0, 512), "Colonic glands", "The whole section: glands in their stroma, to walk over."),
    "crypt": ((206, 288, 224), "Small gland", "One gland cut across, its nuclei around the centre."),
    "lumen": ((256, 0, 256), "Gland with a lumen", "A long gland with a slit in its middle; stroma beside it."),
    "crowded": ((0, 16, 256), "Crowded epithelium", "Tall cells, their nuclei dense and in several rows."),
    "surface": ((0, 256, 256), "Epithelium beside its lumen", "Tall cells between bare glass and stroma."),
    "overview": ((96, 192, 320), "Glands around stroma", "One whole gland and parts of three others."),
}
# A seed whose tile shows its kind well, and what a crowd might call it: the true label and those it is taken for.
_PHANTOMS = {
    "DEB": (18, ["DEB", "MUC"]),
    "LYM": (15, ["LYM", "TUM"]),
    "MUC": (12, ["MUC", "NORM"]),
    "MUS": (13, ["MUS", "STR"]),
    "NORM": (16, ["NORM", "TUM"]),
    "STR": (22, ["DEB", "MUS", "STR"]),
    "TUM": (14, ["NORM", "TUM"]),
}


def restain(pixels: np.ndarray) -> np.ndarray:
    """Haematoxylin-DAB as haematoxylin-eosin, (H, W, 3) uint8 to the same; what is white stays white.

    DAB becomes eosin that levels off, because brown can be far denser than pink. Faint haematoxylin, which is
    the fibres between the glands, becomes eosin too: that is what eosin would have stained.
    """
    white = np.percentile(pixels, 99, axis=(0, 1))
    density = -np.log(np.clip(pixels / white, 1 / 255, 1))
    blue, brown = np.clip(np.moveaxis(density @ np.linalg.pinv(_HAEMATOXYLIN_DAB), 2, 0), 0, None)
    # Dense brown is also dark in the red, which the separation takes for haematoxylin.
    blue = np.clip(blue - 0.12 * np.clip(brown - 0.6, 0, 1) - 0.015, 0, None)
    haematoxylin = 2.4 * np.clip(blue - 0.13, 0, None) + 0.1 * (1 - np.exp(-2 * brown))
    eosin = 0.62 * (1 - np.exp(-1.3 * brown)) + 2.8 * np.minimum(blue, 0.16)
    mixed = haematoxylin[..., None] * HAEMATOXYLIN_EOSIN[0] + eosin[..., None] * HAEMATOXYLIN_EOSIN[1]
    return np.rint(250 * np.exp(-mixed)).astype(np.uint8)


def make(folder: Path, wheel: Path | None = None) -> None:
    """Write all pictures, truth masks and samples.json into `folder`; `wheel` is tiatoolbox's."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    real = "Real tissue stained with H&E; the organ is not stated."
    restained = "Real colon tissue, computed H&E colours."
    section = restain(skimage.data.immunohistochemistry())
    for kind, pixels, fields, mark, said, about in (
        ("real", _real_tissue(wheel), _FIELDS, "", real, _REAL),
        ("restained", section, _CROPS, " (re-stained)", restained, _SECTION),
    ):
        for name, ((x, y, size), title, text) in fields.items():
            words = {"title": title + mark, "description": f"{text} {said}"}
            entries.append(_entry(folder, f"{kind}-{name}", pixels[y : y + size, x : x + size], **words, **about))
    for label, text in PHANTOM_KINDS.items():
        seed, candidates = _PHANTOMS[label]
        phantom = draw(label, seed)
        name, looks = text.split(": ")
        words = {"title": f"{name} (phantom)", "description": f"Drawn, not real: {looks}"}
        known = {"label": label, "candidates": candidates, "seed": phantom.seed}
        entries.append(
            _entry(folder, f"phantom-{label.lower()}", phantom.pixels, phantom.truth, **words, **known, **_DRAWN)
        )
    text = json.dumps(entries, indent=2, ensure_ascii=False, sort_keys=True)
    (folder / "samples.json").write_text(text + "\n", encoding="utf-8")


def _real_tissue(wheel: Path | None) -> np.ndarray:
    """(500, 500, 3) uint8 at 0.5 µm per pixel."""
    if wheel is None:
        with Image.open(SAMPLES_FOLDER / "real-overview.png") as shipped:
            return np.asarray(shipped.convert("RGB"))
    with zipfile.ZipFile(wheel) as archive, Image.open(io.BytesIO(archive.read(_TARGET_IMAGE))) as whole:
        return np.asarray(whole.convert("RGB").resize((500, 500), Image.Resampling.BOX))


def _entry(
    folder: Path, name: str, pixels: np.ndarray, truth: np.ndarray | None = None, **about: Any
) -> dict[str, Any]:
    """Write one picture (and its truth) and return its entry in samples.json."""
    entry = {"id": name, "file": f"{name}.png", "truth_file": None, "truth_sha256": None, **about}
    entry["sha256"] = _write(folder / entry["file"], Image.fromarray(pixels), about["microns_per_pixel"])
    if truth is not None:
        entry["truth_file"] = f"{name}-truth.png"
        entry["truth_sha256"] = _write(folder / entry["truth_file"], Image.fromarray(truth))
    return entry


def _write(path: Path, picture: Image.Image, microns_per_pixel: float | None = None) -> str:
    """Write a PNG, with its scale where that is known, and return the sha256 of its bytes."""
    buffer = io.BytesIO()
    scale = {} if microns_per_pixel is None else {"dpi": (25_400 / microns_per_pixel,) * 2}
    picture.save(buffer, "PNG", optimize=True, **scale)
    path.write_bytes(buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the sample pictures.")
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLES_FOLDER)
    parser.add_argument("--tiatoolbox", type=Path, metavar="WHEEL", help="default: copy the fields that ship")
    arguments = parser.parse_args()
    make(arguments.folder, arguments.tiatoolbox)
    print(f"Samples are in {arguments.folder}")
