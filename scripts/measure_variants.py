"""What the colon model owes to gland masks, to lesion5 and to an encoder that has seen the source; writes JSON.

    python scripts/measure_variants.py masks
    python scripts/measure_variants.py lesion5 runs/enc/all.safetensors runs/enc/no-lesion5.safetensors
    python scripts/measure_variants.py folds runs/enc/no-ebhi6.safetensors
    python scripts/measure_variants.py length runs/enc/no-ebhi6-*.safetensors

`masks`: the tissue that fills composed bags of ebhi6 is what an earlier model, learned from the other composed bags,
takes for stroma, muscle or lymphocytes. `lesion5`: encoders of the same length with and without it, and a model of
each; lesion5/val is then another hospital's. `folds`: five folds by case of all of ebhi6, with an encoder that has not
seen it. `length`: encoders of several lengths without ebhi6, and how a linear probe of the other sources names
ebhi6/train by each. All else is of held-back pictures (`scripts.colon.sources`).
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from bag_generators.generators.encoder import shipped_encoder
from elimipl.candidates.labels import COLON
from elimipl.training.loop import Fitted
from scripts.colon.bags import COLON_TASK, Task
from scripts.colon.learn import Said, ask, gland_auroc, learned, left_out, spread_out, teaching
from scripts.colon.readings import Reader, Readings, cell_reader, encoder_from, read
from scripts.colon.recipes import Recipe, recipe
from scripts.colon.sources import DATA, ROOT, SOURCES, pictures, taught
from scripts.make_encoder import adapted

RESULTS = ROOT / "benchmarks" / "results" / "colon_variants.json"
FILLING = ("stroma", "muscle", "lymphocytes")
FOLDS = 5
PROBED = 100
"""Pictures of a class of a source that the linear probe learns from and is asked about."""


def described(fitted: Fitted, reader: Reader, data: Path) -> dict[str, object]:
    """Right answers by source, and what attention finds of glands."""
    found: dict[str, object] = {}
    for source in SOURCES:
        asked = left_out(reader, source, data, None)
        said = ask(fitted, asked, COLON_TASK)
        found[source] = _shares(said)
        if source == "ebhi6":
            found["glands of ebhi6/val, pixel AUROC"] = round(gland_auroc(asked, said.attention), 4)
    return found


def _shares(said: Said) -> dict[str, object]:
    return {
        "n": len(said.cells),
        "right": round(float(said.right.mean()), 4),
        "balanced": round(said.balanced(), 4),
    }


def filling_votes(fitted: Fitted, readings: Readings, task: Task) -> list[np.ndarray]:
    """How likely each cell alone is tissue that carries no epithelium, (n,) each."""
    alone = [
        Readings([p] * len(f), list(f[:, None]), [(1, 1)] * len(f))
        for p, f in zip(readings.pictures, readings.features, strict=True)
    ]
    columns = [COLON.index(name) for name in FILLING]
    return [ask(fitted, one, task).probabilities[:, columns].sum(1) for one in alone]


def masks(made: Recipe, data: Path) -> dict[str, object]:
    """The shipped encoder, and bags that know no mask."""
    reader = cell_reader(shipped_encoder())
    settings = made.config("elimipl")
    known = teaching(reader, COLON_TASK, SOURCES, data, made, made.whole.per_class)
    earlier, _ = learned(reader, known, replace(made.whole, by_mask=0), COLON_TASK, settings)
    votes = filling_votes(earlier, known["ebhi6"], COLON_TASK)
    fitted, _ = learned(reader, known, made.whole, COLON_TASK, settings, votes)
    return {
        "without masks": described(fitted, reader, data),
        "without composed bags of ebhi6": described(earlier, reader, data),
    }


def lesion5(made: Recipe, data: Path, encoders: list[Path]) -> dict[str, object]:
    """One model for each encoder, of the sources that the encoder has seen."""
    found: dict[str, object] = {}
    for path in encoders:
        about = adapted(path)[1]
        seen = tuple(s for s in SOURCES if s not in about["without"])
        reader = cell_reader(encoder_from(path, seen, data))
        known = teaching(reader, COLON_TASK, seen, data, made, made.small.per_class)
        fitted, _ = learned(reader, known, made.small, COLON_TASK, made.config("elimipl"))
        called = f"{'with' if 'lesion5' in seen else 'without'} lesion5"
        found[f"{called}, encoder of {about['steps']} steps"] = described(fitted, reader, data)
    return found


def folds(made: Recipe, data: Path, path: Path) -> dict[str, object]:
    """Every picture of ebhi6 is asked of a model that has not seen its case, over an encoder that has seen no case."""
    about = adapted(path)[1]
    others = tuple(s for s in SOURCES if s != "ebhi6")
    reader = cell_reader(encoder_from(path, others, data))
    known = teaching(reader, COLON_TASK, others, data, made, made.small.per_class)
    whole = read(reader, pictures("ebhi6", data))
    cases, labels = [p.group for p in whole.pictures], [p.label for p in whole.pictures]
    said = []
    parts = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0).split(cases, labels, cases)
    for train, test in parts:
        chosen = spread_out([whole.pictures[i] for i in train], made.small.per_class)
        of = {p.path: i for i, p in enumerate(whole.pictures)}
        own = whole.subset([of[p.path] for p in chosen])
        fitted, _ = learned(reader, known | {"ebhi6": own}, made.small, COLON_TASK, made.config("elimipl"))
        said.append(ask(fitted, whole.subset(test), COLON_TASK))
    balanced = [one.balanced() for one in said]
    return {
        f"ebhi6, {FOLDS} folds by case, encoder without it of {about['steps']} steps": {
            "n": len(whole),
            "cases": len(set(cases)),
            "right": round(float(np.concatenate([one.right for one in said]).mean()), 4),
            "balanced": round(float(np.mean(balanced)), 4),
            "balanced_by_fold": [round(value, 4) for value in balanced],
        }
    }


def length(data: Path, encoders: list[Path]) -> dict[str, object]:
    """A linear probe of mean cells of the other sources, asked about ebhi6/train."""
    others = tuple(s for s in SOURCES if s != "ebhi6")
    found = {}
    for path in encoders:
        reader = cell_reader(encoder_from(path, others, data))
        known = [read(reader, spread_out(taught(s, data), PROBED)) for s in others]
        means = np.concatenate([_means(one) for one in known])
        meant = np.concatenate([one.meant for one in known])
        rows, classes = np.nonzero(meant)
        centre, spread = means.mean(0), means.std(0) + 1e-3
        probe = LogisticRegression(C=0.01, max_iter=500)
        probe.fit((means[rows] - centre) / spread, classes, sample_weight=1 / meant.sum(1)[rows])
        asked = read(reader, spread_out(taught("ebhi6", data), PROBED))
        chances = np.zeros((len(asked), len(COLON)))
        chances[:, probe.classes_] = probe.predict_proba((_means(asked) - centre) / spread)
        found[f"{adapted(path)[1]['steps']} steps"] = _shares(Said(asked, chances, [], COLON_TASK.columns))
    return {"encoder's length, ebhi6 left out, linear probe": found}


def _means(readings: Readings) -> np.ndarray:
    return np.stack([features.astype(np.float32).mean(0) for features in readings.features])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("masks", "lesion5", "folds", "length"))
    parser.add_argument("encoders", type=Path, nargs="*", help="by scripts/adapt_encoder.py")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    made, data = recipe("colon", "deep"), arguments.data
    if arguments.what == "masks":
        new = masks(made, data)
    elif arguments.what == "folds":
        new = folds(made, data, arguments.encoders[0])
    elif arguments.what == "lesion5":
        new = lesion5(made, data, arguments.encoders)
    else:
        new = length(data, arguments.encoders)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    RESULTS.write_text(json.dumps(kept | new, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(new, indent=1))


if __name__ == "__main__":
    main()
