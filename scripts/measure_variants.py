"""What the colon model owes to gland masks, to lesion5 and to an encoder that has seen the source; writes JSON.

    python scripts/measure_variants.py masks
    python scripts/measure_variants.py lesion5 runs/enc/all.safetensors runs/enc/no-lesion5.safetensors
    python scripts/measure_variants.py folds runs/enc/no-ebhi6.safetensors

`masks`: the tissue that fills composed bags of ebhi6 is what an earlier model, learned from the other composed bags,
takes for stroma, muscle or lymphocytes. `lesion5`: encoders of the same length with and without it, and a model of
each; lesion5/val is then another hospital's. `folds`: five folds by case of all of ebhi6, with an encoder that has not
seen it. All else is of held-back pictures (`scripts.colon.sources`).
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import StratifiedGroupKFold

from bag_generators.generators.encoder import shipped_encoder
from benchmarks.measuring import earlier, write
from elimipl.candidates.labels import COLON
from elimipl.training.loop import Fitted
from scripts.colon.bags import COLON_TASK
from scripts.colon.learn import ask, gland_auroc, learned, left_out, spread_out, teaching
from scripts.colon.readings import Reader, Readings, cell_reader, encoder_from, read
from scripts.colon.recipes import recipe
from scripts.colon.sources import DATA, SOURCES, pictures
from scripts.make_encoder import adapted

FILLING = ("stroma", "muscle", "lymphocytes")
FOLDS = 5
MADE = recipe("colon", "deep")
SETTINGS = MADE.config("elimipl")


def described(fitted: Fitted, reader: Reader, data: Path) -> dict[str, object]:
    """Right answers by source, and what attention finds of glands."""
    said = {source: ask(fitted, left_out(reader, source, data, None), COLON_TASK) for source in SOURCES}
    found: dict[str, object] = {
        source: {"n": len(one.cells), "right": round(float(one.right.mean()), 4), "balanced": round(one.balanced(), 4)}
        for source, one in said.items()
    }
    glands = gland_auroc(said["ebhi6"].cells, said["ebhi6"].attention)
    return found | {"glands of ebhi6/val, pixel AUROC": round(glands, 4)}


def filling_votes(fitted: Fitted, readings: Readings) -> list[np.ndarray]:
    """How likely each cell alone is tissue that carries no epithelium, (n,) each."""
    alone = [
        Readings([p] * len(f), list(f[:, None]), [(1, 1)] * len(f))
        for p, f in zip(readings.pictures, readings.features, strict=True)
    ]
    columns = [COLON.index(name) for name in FILLING]
    return [ask(fitted, one, COLON_TASK).probabilities[:, columns].sum(1) for one in alone]


def masks(data: Path, _encoders: list[Path]) -> dict[str, object]:
    """The shipped encoder, and bags that know no mask."""
    reader, mixture = cell_reader(shipped_encoder()), MADE.whole
    known = teaching(reader, COLON_TASK, SOURCES, data, MADE, mixture.per_class)
    before, _ = learned(reader, known, replace(mixture, by_mask=0), COLON_TASK, SETTINGS)
    fitted, _ = learned(reader, known, mixture, COLON_TASK, SETTINGS, filling_votes(before, known["ebhi6"]))
    return {
        "without masks": described(fitted, reader, data),
        "without composed bags of ebhi6": described(before, reader, data),
    }


def lesion5(data: Path, encoders: list[Path]) -> dict[str, object]:
    """One model for each encoder, of the sources that the encoder has seen."""
    found: dict[str, object] = {}
    for path in encoders:
        about = adapted(path)[1]
        seen = tuple(s for s in SOURCES if s not in about["without"])
        reader = cell_reader(encoder_from(path, seen, data))
        known = teaching(reader, COLON_TASK, seen, data, MADE, MADE.small.per_class)
        fitted, _ = learned(reader, known, MADE.small, COLON_TASK, SETTINGS)
        called = f"{'with' if 'lesion5' in seen else 'without'} lesion5"
        found[f"{called}, encoder of {about['steps']} steps"] = described(fitted, reader, data)
    return found


def folds(data: Path, encoders: list[Path]) -> dict[str, object]:
    """Every picture of ebhi6 is asked of a model that has not seen its case, over an encoder that has seen no case."""
    others = tuple(s for s in SOURCES if s != "ebhi6")
    reader = cell_reader(encoder_from(encoders[0], others, data))
    known = teaching(reader, COLON_TASK, others, data, MADE, MADE.small.per_class)
    whole = read(reader, pictures("ebhi6", data))
    place = {p.path: i for i, p in enumerate(whole.pictures)}
    cases, labels = [p.group for p in whole.pictures], [p.label for p in whole.pictures]
    said = []
    for train, test in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0).split(cases, labels, cases):
        chosen = spread_out([whole.pictures[i] for i in train], MADE.small.per_class)
        own = whole.subset([place[p.path] for p in chosen])
        fitted, _ = learned(reader, known | {"ebhi6": own}, MADE.small, COLON_TASK, SETTINGS)
        said.append(ask(fitted, whole.subset(test), COLON_TASK))
    balanced = [one.balanced() for one in said]
    return {
        f"ebhi6, {FOLDS} folds by case, encoder without it of {adapted(encoders[0])[1]['steps']} steps": {
            "n": len(whole),
            "cases": len(set(cases)),
            "right": round(float(np.concatenate([one.right for one in said]).mean()), 4),
            "balanced": round(float(np.mean(balanced)), 4),
            "balanced_by_fold": [round(value, 4) for value in balanced],
        }
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways = {way.__name__: way for way in (masks, lesion5, folds)}
    parser.add_argument("what", choices=ways)
    parser.add_argument("encoders", type=Path, nargs="*", help="by scripts/adapt_encoder.py")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    write("colon_variants", earlier("colon_variants") | ways[arguments.what](arguments.data, arguments.encoders))


if __name__ == "__main__":
    main()
