"""Choose how the shipped models are made, on training tiles only.

lesion5: leave-one-pseudo-slide-out on `lesion5/train` (see shipped_models/pseudo_slides.py), because a random split
flatters: it puts tiles of one slide on both sides. tissue7: repeated splits by source tile. The accuracy is the mean
recall of the classes. Writes benchmarks/results/recipes.json.

    python scripts/choose_recipes.py --data ../shared/data [--generator row]
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bag_generators import GENERATORS  # noqa: E402
from elimipl.dataset import BagDataset  # noqa: E402
from elimipl.splits import stratified_splits  # noqa: E402
from elimipl.training import fit  # noqa: E402
from scripts.shipped_models.progress import Bar  # noqa: E402
from scripts.shipped_models.pseudo_slides import slide_folds  # noqa: E402
from scripts.shipped_models.recipes import SMALL, Recipe  # noqa: E402
from scripts.shipped_models.tile_sets import tile_sets  # noqa: E402
from scripts.shipped_models.tiles import TileSet, tile_bags, with_crowd  # noqa: E402

TILES_PER_SLIDE = 40
RESULTS = ROOT / "benchmarks" / "results" / "recipes.json"


def candidates(space: str, generator: str) -> list[Recipe]:
    """The recipes that are compared."""
    stains = ["none"] if generator == "sift" else ["none", "macenko", "reinhard", "density", "tones"]
    extractors = ("identity", "context")
    copies = 3 if space == "lesion5" else 7
    return [Recipe(stain, copies, {**SMALL, "extractor": extractor}) for stain in stains for extractor in extractors]


def folds_of(tiles: TileSet) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The tiles to choose on, and (training, test) pairs of positions among them."""
    paths, labels = tiles.find()
    if tiles.label_space.id != "lesion5":
        return np.arange(len(paths)), stratified_splits(labels, n=5, seed=1)
    rng = np.random.default_rng(0)
    parts = [
        rng.permutation(test)[: TILES_PER_SLIDE * len(tiles.label_space)] for _, test in slide_folds(paths, labels)
    ]
    chosen = np.sort(np.concatenate(parts))
    fold_of = np.array([next(fold for fold, part in enumerate(parts) if tile in part) for tile in chosen])
    return chosen, [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(len(parts))]


def mean_recall(dataset: BagDataset, recipe: Recipe, split: tuple[np.ndarray, np.ndarray], chosen: np.ndarray) -> float:
    """Train on the training tiles with their copies, test on the untouched test tiles."""
    train, test = (np.isin(dataset.groups, chosen[part]) for part in split)
    learned = dataset.subset(np.flatnonzero(train))
    untouched = dataset.subset(np.flatnonzero(test)[: len(split[1])])
    right = fit(learned, recipe.config("elimipl")).predict(untouched).probabilities.argmax(1) == untouched.labels
    return float(np.mean([right[untouched.labels == label].mean() for label in np.unique(untouched.labels)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--space", choices=("lesion5", "tissue7"), action="append")
    parser.add_argument("--generator", choices=tuple(GENERATORS), action="append")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for tiles in tile_sets(arguments.data):
        space = tiles.label_space.id
        if arguments.space and space not in arguments.space:
            continue
        chosen, splits = folds_of(tiles)
        for generator in arguments.generator or GENERATORS:
            for recipe in candidates(space, generator):
                name = f"{space} {generator} {recipe.stain} {recipe.settings['extractor']}"
                start = time.perf_counter()
                dataset = with_crowd(tile_bags(tiles, generator, recipe.stain, recipe.copies, Bar(name), chosen))
                recalls = [mean_recall(dataset, recipe, split, chosen) for split in splits]
                results[name] = {"mean_recall": float(np.mean(recalls)), "folds": recalls, "tiles": len(chosen)}
                print(f"{name:<40} {np.mean(recalls):.3f}  {np.round(recalls, 2)}  {time.perf_counter() - start:.0f} s")
                RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
