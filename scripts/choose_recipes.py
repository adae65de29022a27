"""Compare ways to make the shipped models, on training tiles only; writes benchmarks/results/recipes.json.

lesion5: pseudo-slides of `lesion5/train` are left out in turn (shipped_models/pseudo_slides.py), because a random split
flatters: it puts tiles of one slide on both sides. tissue7: five random splits by source tile, other ones than those
that are reported. The number is the accuracy on the untouched tiles left out.

    python scripts/choose_recipes.py --data ../shared/data [--space lesion5] [--generator row]
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from elimipl.data.candidates import Candidates
from elimipl.training.splits import stratified_splits
from scripts.shipped_models.held_out import LEFT_OUT, accuracy_of, held_out
from scripts.shipped_models.progress import Bar
from scripts.shipped_models.pseudo_slides import slide_folds
from scripts.shipped_models.recipes import CLASSICAL, GENTLE, RECIPES, SMALL, WIDE, Recipe
from scripts.shipped_models.tile_sets import tile_sets
from scripts.shipped_models.tiles import tile_bags

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results" / "recipes.json"
STAINS = ("none", "density", "tones")


def candidates(space: str, generator: str) -> dict[str, Recipe]:
    """The shipped recipe, and others that differ from it in stain and extractor or in the network."""
    shipped = RECIPES[space, generator]
    found = {"shipped": shipped}
    for stain in ("none",) if generator == "sift" else STAINS:
        for extractor in ("identity", "context"):
            found[f"{stain}, {extractor}"] = replace(
                shipped, stain=stain, settings={**shipped.settings, "extractor": extractor}
            )
    extractor = shipped.settings.get("extractor", "identity")
    for name, settings in (("small", SMALL), ("gentle", GENTLE), ("wide", WIDE)):
        found[f"{name} network"] = replace(shipped, settings={**settings, "extractor": extractor})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--space", choices=("lesion5", "tissue7"), action="append")
    parser.add_argument("--generator", choices=CLASSICAL, action="append")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for tiles in tile_sets(arguments.data):
        space = tiles.label_space.id
        if arguments.space and space not in arguments.space:
            continue
        paths, labels = tiles.find()
        lesions = space == "lesion5"
        splits = slide_folds(paths, labels, LEFT_OUT) if lesions else stratified_splits(labels, n=5, seed=1)
        for generator in arguments.generator or CLASSICAL:
            for name, recipe in candidates(space, generator).items():
                key = f"{space} {generator}: {name}"
                bags = tile_bags(tiles, generator, recipe.stain, recipe.copies, Bar(key), np.arange(len(paths)))
                outputs = held_out(
                    Candidates("crowd").given_to(bags), recipe.config("elimipl"), splits, "left-out tiles"
                )
                shares = [accuracy_of(output) for output in outputs]
                results[key] = {"accuracy": float(np.mean(shares)), "parts": shares, "tiles": len(paths)}
                print(f"{key:<60} {np.mean(shares):.3f}  {np.round(shares, 3)}", flush=True)
                RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
