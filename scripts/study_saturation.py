"""Show how the authors' head saturates on pictures; writes benchmarks/results/saturation.json.

Its probabilities are the softmax of a sigmoid. Once the sigmoid of two classes is one, they are as likely as each
other and no gradient parts them any more. Compared with a plain softmax, from candidate sets and from true labels.
To leave the search for positive instances aside, bags keep these alone, so the accuracies are also what a perfect
attention could reach. FMNIST bags of another seed than the reported ones, one split, r = 1. Ten minutes of a core:

    python scripts/study_saturation.py [--data FOLDER]
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from elimipl.benchmark.cells import Cell  # noqa: E402
from elimipl.benchmark.rebuilt import SOURCES, find_raw  # noqa: E402
from elimipl.benchmark.session import config_of  # noqa: E402
from elimipl.benchmark.sources import USUAL_PLACES  # noqa: E402
from elimipl.dataset import BagDataset  # noqa: E402
from elimipl.methods import METHODS  # noqa: E402
from elimipl.splits import stratified_splits  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "saturation.json"
SEED = 1
TIED = 1e-3
AUTHORS, SOFTMAX = {"head": "softmax_of_sigmoid"}, {"head": "softmax"}
RUNS: tuple[tuple[str, dict[str, str], bool], ...] = (  # method, settings, whether the true labels are known
    ("ELIMIPL", AUTHORS, False),
    ("ELIMIPL", SOFTMAX, False),
    ("ELIMIPL", AUTHORS, True),
    ("ELIMIPL", SOFTMAX, True),
    ("DEMIPL", AUTHORS, False),
    ("MIPLGP", {}, False),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the raw data (left out: data)")
    arguments = parser.parse_args()
    folders = (arguments.data, *USUAL_PLACES) if arguments.data else USUAL_PLACES
    torch.set_num_threads(1)
    bags = only_positives(SOURCES["fmnist"].build(find_raw("fmnist", folders), r=1, seed=SEED))
    train, test = (bags.subset(part) for part in stratified_splits(bags.labels, 1, seed=SEED)[0])
    results = {}
    for method, settings, known in RUNS:
        config = config_of(Cell("fmnist", 1, method)).replace(**settings)
        fitted = METHODS[method].fit(with_true_labels(train) if known else train, config, device="cpu")
        told = ", ".join((method, *settings.values(), "true labels" if known else "candidates"))
        results[told] = {
            name: described(fitted.predict(part).probabilities, part.labels)
            for name, part in (("train", train), ("test", test))
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(told, results[told], flush=True)


def only_positives(bags: BagDataset) -> BagDataset:
    """The same bags without the instances that are of no target class."""
    assert bags.instance_truth is not None
    kept = bags.instance_truth.astype(bool)
    offsets = np.concatenate([[0], np.cumsum(kept)])[bags.offsets]
    return replace(bags, instances=bags.instances[kept], offsets=offsets, instance_truth=bags.instance_truth[kept])


def with_true_labels(bags: BagDataset) -> BagDataset:
    """The same bags, each with its true label as the only candidate."""
    return bags.with_candidates(np.arange(len(bags.label_space)) == bags.labels[:, None])


def described(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Accuracy, and the share of bags whose two likeliest classes can't be told apart."""
    ranked = np.sort(probabilities, axis=1)
    return {
        "bags": len(labels),
        "accuracy": round(float((probabilities.argmax(1) == labels).mean()), 3),
        "tied": round(float((ranked[:, -1] - ranked[:, -2] < TIED).mean()), 3),
    }


if __name__ == "__main__":
    main()
