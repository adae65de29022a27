"""Train the models that read patches: tissue7-deep and lesion5-deep, ELIMIPL and DEMIPL, each with its full card.

They learn from whole tiles and from bags composed of patches (`elimipl.data.compose`), with candidate sets of three
annotators. Measured: tissue7 on ten random 7:3 splits of the source tiles, lesion5 on `val`, which comes from other
slides; attention on composed bags of tiles the measured model has not learned from (a fifth of 36 patches is of the
class): of tissue7 for the model of the first split. Settings were compared on tiles of tissue7 in other splits and on
left-out pseudo-slides of lesion5/train, never on lesion5/val.

    python scripts/train_deep_models.py --data ../shared/data [--space lesion5]
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from elimipl.cards.card import Accuracy, Card
from elimipl.cards.finish import finish
from elimipl.cards.held_out import HeldOut, Measured, measure
from elimipl.config import Config
from elimipl.data.candidates import Candidates
from elimipl.predictor import Predictor
from elimipl.training.loop import fit
from elimipl.training.splits import Split, stratified_splits
from elimipl.trust import measure_trust
from scripts.shipped_models.deep_tiles import DeepTiles, deep_tiles
from scripts.shipped_models.held_out import LEFT_OUT, accuracy_of, outputs_of, together
from scripts.shipped_models.pseudo_slides import slide_folds
from scripts.shipped_models.recipes import METHODS, Recipe
from scripts.shipped_models.tile_sets import tile_sets, validation_tiles
from scripts.shipped_models.tiles import TileSet, tile_qualities

ROOT = Path(__file__).resolve().parents[1]
SPLITS = 10
CROWD = Candidates("crowd", seed=0)
_PATCHES = {"gate": "two", "gate_width": 64, "score": "linear", "lr": 0.1, "nesterov": True, "mu": 0.1, "gamma": 1.0}
RECIPES = {
    "tissue7": Recipe(
        copies=8, settings={**_PATCHES, "hidden": 64, "dropout": 0.3, "batch": 64, "epochs": 20, "weight_decay": 1e-2}
    ),
    "lesion5": Recipe(copies=1, settings={**_PATCHES, "hidden": 128, "dropout": 0.5, "batch": 128, "epochs": 15}),
}
"""The two gates and the linear ξ of eq. 2; nothing an instance gets depends on its neighbours but the softmax."""


def train(tiles: TileSet, data: Path, folder: Path) -> None:
    """Both methods of one label space."""
    space, recipe = tiles.label_space.id, RECIPES[tiles.label_space.id]
    paths, labels = tiles.find()
    known = deep_tiles(tiles, data, recipe.copies)
    known = replace(known, bags=CROWD.given_to(known.bags))
    everything, qualities = np.arange(len(paths)), tile_qualities(tiles, "deep")
    learned = known.learned(everything)
    for method in METHODS:
        config = recipe.config(method)
        fitted = fit(learned, config)
        if space == "lesion5":
            splits = slide_folds(paths, labels, LEFT_OUT)
            outputs = _held_out(known, config, splits, "left-out pseudo-slides of the training tiles")
            val = deep_tiles(validation_tiles(data), data, 0)
            seen = np.arange(len(val.bags))
            reported = outputs_of(fitted, val.bags, "lesion5/val, tiles of other slides")
            measured = measure(together(outputs), reported=reported)
            composed, judged = val.measured(seen), fitted
            on = "composed bags of lesion5/val, healthy mucosa between"
        else:
            splits = stratified_splits(labels, SPLITS, seed=0)
            outputs = _held_out(known, config, splits, "the test tiles of the splits")
            measured = _over_splits(outputs, len(paths))
            first, rest = splits[0]
            composed, judged = known.measured(rest), fit(known.learned(first), config)
            on = "composed bags of the first split's test tiles, fat and glass between"
        finished = finish(
            fitted, learned, CROWD, created_by="scripts/train_deep_models.py", measured=measured, qualities=qualities
        )
        trust = measure_trust(Predictor.from_fitted(judged, finished.card), composed, on=on)
        finished = finished.with_trust(trust)
        finished.save(folder)
        right = float((judged.predict(composed).probabilities.argmax(1) == composed.labels).mean())
        _say(finished.card, right, together(outputs) if space == "tissue7" else reported)


def _held_out(known: DeepTiles, config: Config, splits: list[Split], called: str) -> list[HeldOut]:
    return [outputs_of(fit(known.learned(first), config), known.bags.subset(rest), called) for first, rest in splits]


def _over_splits(outputs: list[HeldOut], tiles: int) -> Measured:
    shares = [accuracy_of(output) for output in outputs]
    split = f"{SPLITS} random 7:3 splits by source tile"
    return measure(together(outputs), Accuracy(float(np.mean(shares)), tiles, split, float(np.std(shares)), SPLITS))


def _say(card: Card, composed: float, reported: HeldOut) -> None:
    """One line for a person."""
    hits = reported.probabilities.argmax(1) == reported.labels
    balanced = np.mean([hits[reported.labels == c].mean() for c in np.unique(reported.labels)])
    attention = card.trust.methods["attention"]
    print(
        f"{card.id:<24} accuracy {card.accuracy.value:.3f}, balanced {balanced:.3f}, composed {composed:.3f}, "
        f"attention AUROC {attention.auroc:.3f}, calibration error {card.calibration.ece_after:.3f}, "
        f"sets cover {card.conformal.coverage.value:.3f} with {card.conformal.coverage.size:.2f} labels",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--space", choices=tuple(RECIPES), action="append")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "models")
    arguments = parser.parse_args()
    for tiles in tile_sets(arguments.data):
        if not arguments.space or tiles.label_space.id in arguments.space:
            train(tiles, arguments.data, arguments.out)


if __name__ == "__main__":
    main()
