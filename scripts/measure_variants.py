"""What the colon model owes to gland masks and to lesion5: the same model without one of them; writes JSON.

    python scripts/measure_variants.py [--without-lesion5 runs/enc/no-lesion5-full.safetensors]

Without masks, the tissue that fills composed bags of ebhi6 is what an earlier model, learned from the other composed
bags, takes for stroma, muscle or lymphocytes. Without lesion5, encoder and model have not seen it; its own val is then
another hospital's. All numbers are of held-back pictures (`scripts.colon.sources`).
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from bag_generators.generators.encoder import shipped_encoder
from elimipl.labels import COLON
from elimipl.training.loop import Fitted
from scripts.colon.bags import COLON_TASK, Task
from scripts.colon.learn import ask, gland_auroc, learned, left_out, teaching
from scripts.colon.readings import CellReader, Reader, Readings, encoder_from
from scripts.colon.recipes import recipe
from scripts.colon.sources import DATA, ROOT, SOURCES

RESULTS = ROOT / "benchmarks" / "results" / "colon_variants.json"
FILLING = ("stroma", "muscle", "lymphocytes")


def described(fitted: Fitted, reader: Reader, data: Path) -> dict[str, object]:
    """Right answers by source, and what attention finds of glands."""
    found: dict[str, object] = {}
    for source in SOURCES:
        asked = left_out(reader, source, data, None)
        said = ask(fitted, asked, COLON_TASK)
        found[source] = {"n": len(asked), "right": round(float(said.right.mean()), 4)}
        if source == "ebhi6":
            found["glands of ebhi6/val, pixel AUROC"] = round(gland_auroc(asked, said.attention), 4)
    return found


def filling_votes(fitted: Fitted, readings: Readings, task: Task) -> list[np.ndarray]:
    """How likely each cell alone is tissue that carries no epithelium, (n,) each."""
    alone = [
        Readings([p] * len(f), list(f[:, None]), [(1, 1)] * len(f))
        for p, f in zip(readings.pictures, readings.features, strict=True)
    ]
    columns = [COLON.index(name) for name in FILLING]
    return [ask(fitted, one, task).probabilities[:, columns].sum(1) for one in alone]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--without-lesion5", type=Path, help="an encoder that has not seen lesion5")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    made = recipe("colon", "deep")
    settings = made.config("elimipl")
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    reader: Reader = CellReader(shipped_encoder())
    known = teaching(reader, COLON_TASK, SOURCES, arguments.data, made.whole.per_class, made.copies)
    if arguments.without_lesion5 is None:
        earlier, _ = learned(reader, known, replace(made.whole, by_mask=0), COLON_TASK, settings)
        votes = filling_votes(earlier, known["ebhi6"], COLON_TASK)
        fitted, _ = learned(reader, known, made.whole, COLON_TASK, settings, votes)
        kept["without masks"] = described(fitted, reader, arguments.data)
        kept["without composed bags of ebhi6"] = described(earlier, reader, arguments.data)
    else:
        others = tuple(s for s in SOURCES if s != "lesion5")
        reader = CellReader(encoder_from(arguments.without_lesion5, others, arguments.data))
        known = teaching(reader, COLON_TASK, others, arguments.data, made.whole.per_class, made.copies)
        fitted, _ = learned(reader, known, made.whole, COLON_TASK, settings)
        kept["without lesion5"] = described(fitted, reader, arguments.data)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
