"""How often each model marks a picture as out of scope, on pictures that are and are not; writes JSON.

    python scripts/measure_scope.py --data ../shared/data [--generator deep]

At most 5 % of real tiles may be marked (lesion5/val: every fifth tile, other slides than the models learned from;
tissue7/train: the tiles they learned from, for want of others), and no re-stained section by models that read cells.
At least 95 % of fat, empty slide, photographs, immunohistochemistry and phantoms have to be marked. For models of drawn
phantoms it is the other way round: all tissue has to be marked.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import skimage.data
from tqdm import tqdm

from bag_generators import GENERATORS, Bag, TissueImage, generate, load
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.quality import kept_scale, measure
from bag_generators.tissue.samples import list_samples
from elimipl.cards.card import Card
from elimipl.cards.files import list_models
from elimipl.cards.finish import finish
from elimipl.config import Config
from elimipl.data.candidates import Candidates
from elimipl.data.pictures import PHANTOMS
from elimipl.data.shipped import bag_sets, load_bag_set
from elimipl.predictor import Predictor
from elimipl.scope import judge
from elimipl.training.loop import fit

ROOT = Path(__file__).resolve().parents[1]

PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "retina", "rocket", "hubble_deep_field")
IMMUNOHISTOCHEMISTRY = "immunohistochemistry"
SEEDS = 5
FIRST_SEED = 9_000_000  # far from those of the shipped phantoms, which a model of phantoms has learned from
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
    section = TissueImage.from_array(getattr(skimage.data, IMMUNOHISTOCHEMISTRY)())
    yield IMMUNOHISTOCHEMISTRY, section
    for x in (0, 144, 288):
        yield from ((IMMUNOHISTOCHEMISTRY, section.tile(x, y, 224)) for y in (0, 144, 288))
    for sample in list_samples():
        if sample.kind == "restained":
            yield "re-stained samples", sample.load()
    for kind in PHANTOM_KINDS:
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            yield "phantoms", TissueImage.from_array(draw(kind, seed).pixels)


def phantom_model(generator: str) -> Predictor:
    """A model of drawn phantoms, finished as the Train page does it."""
    bags = Candidates("random").given_to(load_bag_set(f"phantoms-{generator}"))
    fitted = fit(bags, Config.preset("default", hidden=16, epochs=60, batch=16, lr=0.1, dropout=0.0))
    return finish(fitted, bags, Candidates("random"), created_by="scripts/measure_scope.py").predictor


def is_for(card: Card, name: str) -> bool:
    """Whether to try a set of pictures on a model: tiles of the other label space are not what a model is for."""
    if card.pictures == PHANTOMS or name not in ("tissue7/train", "lesion5/val"):
        return True
    return name.startswith(card.label_space.id)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--generator", choices=tuple(GENERATORS), action="append", help="measure only its models")
    arguments = parser.parse_args()
    asked = arguments.generator or list(GENERATORS)
    predictors = [Predictor.of_card(card) for card in list_models() if card.generator in asked]
    predictors += [phantom_model(name) for name in asked if f"phantoms-{name}" in bag_sets()]
    marked: dict[str, dict[str, list[bool]]] = {predictor.card.id: {} for predictor in predictors}
    for name, picture in pictures(arguments.data):
        bags: dict[object, Bag] = {}
        qualities: dict[float | None, dict[str, float]] = {}
        for predictor in predictors:
            card = predictor.card
            if not is_for(card, name):
                continue
            made = (card.generator, *sorted(card.generator_params.items()))
            if made not in bags:
                bags[made] = generate(card.generator, picture, **card.generator_params)
            scale = kept_scale(card.generator)
            if scale not in qualities:
                qualities[scale] = measure(picture, scale).numbers()
            verdict = judge(qualities[scale], predictor, bags[made], predictor.predict(bags[made]))
            marked[card.id].setdefault(name, []).append(verdict.in_scope is not True)
    shares = {
        model: {name: {"marked": float(np.mean(flags)), "pictures": len(flags)} for name, flags in sets.items()}
        for model, sets in marked.items()
    }
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if arguments.generator else {}
    RESULTS.write_text(json.dumps({**kept, **shares}, indent=2) + "\n", encoding="utf-8")
    for model, sets in shares.items():
        print(f"{model:<28}", "  ".join(f"{name} {share['marked']:.1%}" for name, share in sets.items()))


if __name__ == "__main__":
    main()
