"""How often each shipped model is told to be out of scope, on pictures that are and are not; writes JSON.

    python scripts/measure_scope.py --data ../shared/data

At least 90 % of real tiles have to pass (lesion5/val: every fifth tile, other slides than the models learned from;
tissue7/train: the tiles they learned from, for want of others). Fat, empty slide, photographs and phantoms have to be
marked, all of them.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import skimage.data
from tqdm import tqdm

from bag_generators import TissueImage, generate, load
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.quality import measure
from elimipl.predictor import Predictor, list_models
from elimipl.scope import check, in_scope

ROOT = Path(__file__).resolve().parents[1]

PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "retina", "rocket", "immunohistochemistry", "hubble_deep_field")
SEEDS = 5
EVERY = {"tissue7/train": 1, "lesion5/val": 5, "tissue7/outside": 1}
"""Sets of tiles, and which of them are taken: all, or every fifth."""
RESULTS = ROOT / "benchmarks" / "results" / "scope.json"


def pictures(data: Path) -> Iterator[tuple[str, TissueImage]]:
    """Every picture with the name of its set."""
    for name in EVERY:
        paths = sorted(path for path in (data / name).rglob("*") if path.is_file())
        if not paths:
            sys.exit(f"There are no tiles in {data / name}. Give the folder of lesion5 and tissue7 as --data.")
        for path in tqdm(paths[:: EVERY[name]], desc=name, leave=False):
            yield name, load(path)
    for photograph in PHOTOGRAPHS:
        picture = TissueImage.from_array(getattr(skimage.data, photograph)())
        yield "photographs", picture
        yield "photographs", picture.tile(0, 0, 224)
    for kind in PHANTOM_KINDS:
        for seed in range(SEEDS):
            yield "phantoms", TissueImage.from_array(draw(kind, seed).pixels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    predictors = [Predictor.load(card.id) for card in list_models()]
    marked: dict[str, dict[str, list[bool]]] = {predictor.card.id: {} for predictor in predictors}
    for name, picture in pictures(parser.parse_args().data):
        quality = measure(picture).numbers()
        for predictor in predictors:
            if name in ("tissue7/train", "lesion5/val") and not name.startswith(predictor.card.label_space.id):
                continue  # tiles of the other label space are not what this model is for
            bag = generate(predictor.card.generator, picture, **predictor.card.generator_params)
            checks = check(quality, predictor, bag, predictor.predict(bag))
            marked[predictor.card.id].setdefault(name, []).append(not in_scope(checks))
    told = {
        model: {name: {"marked": float(np.mean(flags)), "pictures": len(flags)} for name, flags in sets.items()}
        for model, sets in marked.items()
    }
    RESULTS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    for model, sets in told.items():
        print(f"{model:<28}", "  ".join(f"{name} {share['marked']:.1%}" for name, share in sets.items()))


if __name__ == "__main__":
    main()
