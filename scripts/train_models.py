"""Train the models of the paper's four generators: tissue7 and lesion5, ELIMIPL and DEMIPL, each with its full card.

The recipes are compared on training tiles only (scripts/choose_recipes.py). Accuracy: tissue7 by ten random 7:3 splits
of the source tiles, copies never crossing; lesion5 on `val`, which comes from other slides. The calibration is fitted
on held-out training tiles: those of the splits (tissue7), or of pseudo-slides left out in turn (lesion5).

    python scripts/train_models.py --data ../shared/data [--space lesion5] [--generator row]
"""

import argparse
from pathlib import Path

import numpy as np

from elimipl.cards.card import Accuracy
from elimipl.cards.finish import finish
from elimipl.cards.held_out import HeldOut, measure
from elimipl.data.candidates import Candidates
from elimipl.training.loop import Fitted, fit
from elimipl.training.splits import stratified_splits
from scripts.shipped_models.held_out import LEFT_OUT, accuracy_of, held_out, outputs_of, together
from scripts.shipped_models.progress import Bar
from scripts.shipped_models.pseudo_slides import slide_folds
from scripts.shipped_models.recipes import CLASSICAL, METHODS, RECIPES, Recipe
from scripts.shipped_models.tile_sets import tile_sets, validation_tiles
from scripts.shipped_models.tiles import TileSet, tile_bags, tile_qualities

ROOT = Path(__file__).resolve().parents[1]

SPLITS = 10
CROWD = Candidates("crowd", seed=0)


def train(tiles: TileSet, data: Path, generator: str, folder: Path, qualities: list[dict[str, float]]) -> None:
    """Both methods of one label space and generator."""
    space, recipe = tiles.label_space.id, RECIPES[tiles.label_space.id, generator]
    paths, labels = tiles.find()
    everything = np.arange(len(paths))
    bags = tile_bags(tiles, generator, recipe.stain, recipe.copies, Bar(f"{space} {generator}"), everything)
    dataset = CROWD.given_to(bags)
    splits = slide_folds(paths, labels, LEFT_OUT) if space == "lesion5" else stratified_splits(labels, SPLITS, seed=0)
    where = "left-out pseudo-slides of the training tiles" if space == "lesion5" else "the test tiles of the splits"
    for method in METHODS:
        config = recipe.config(method)
        outputs = held_out(dataset, config, splits, where)
        fitted = fit(dataset, config)
        if space == "lesion5":
            measured = measure(together(outputs), reported=_on_validation(fitted, data, generator, recipe))
        else:
            shares = [accuracy_of(output) for output in outputs]
            split = f"{SPLITS} random 7:3 splits by source tile"
            accuracy = Accuracy(float(np.mean(shares)), len(paths), split, float(np.std(shares)), SPLITS)
            measured = measure(together(outputs), accuracy)
        finished = finish(
            fitted,
            dataset,
            CROWD,
            created_by="scripts/train_models.py",
            measured=measured,
            qualities=qualities,
        )
        finished.save(folder)
        card = finished.card
        errors = f"{card.calibration.ece_before:.3f} → {card.calibration.ece_after:.3f}"
        sets = f"label sets cover {card.conformal.coverage.value:.3f}, hold {card.conformal.coverage.size:.2f} labels"
        print(f"{card.id:<28} accuracy {card.accuracy.value:.3f}, calibration error {errors}, {sets}", flush=True)


def _on_validation(fitted: Fitted, data: Path, generator: str, recipe: Recipe) -> HeldOut:
    tiles = validation_tiles(data)
    everything = np.arange(len(tiles.find()[0]))
    bags = tile_bags(tiles, generator, recipe.stain, 0, Bar(f"val {generator}"), everything)
    return outputs_of(fitted, bags, "lesion5/val, tiles of other slides")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--space", choices=("lesion5", "tissue7"), action="append")
    parser.add_argument("--generator", choices=CLASSICAL, action="append")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "models")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for tiles in tile_sets(arguments.data):
        if arguments.space and tiles.label_space.id not in arguments.space:
            continue
        for generator in arguments.generator or CLASSICAL:
            train(tiles, arguments.data, generator, arguments.out, tile_qualities(tiles, generator))


if __name__ == "__main__":
    main()
