"""Record the training runs that the lesson shows, so that a class need not wait for them.

    python scripts/record_lesson.py            # some minutes on one core, writes assets/lessons/recorded_runs.json

Small runs on data with known truth: digit bags from scikit-learn's own digits. Every part of the file says what data,
how many bags, how they were split, and the seed. The same machine gives the same file. What the lesson shows of
attention is recorded by `record_attention.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from bag_generators.base.storage import write_whole
from elimipl.config import Config
from elimipl.datasets.benchmark_sets import DIGITS, EVEN_DIGITS, Recipe, mix_bags
from elimipl.datasets.dataset import BagDataset
from elimipl.training.loop import fit

LESSONS = Path(__file__).resolve().parents[1] / "assets" / "lessons"
TRAIN_SHARE = 0.7
DIGIT_RECIPE = Recipe(bags_per_class=60, smallest=8, largest=12, average=10.0, positive_share=0.2)
HELD_OUT_RECIPE = Recipe(bags_per_class=30, smallest=8, largest=12, average=10.0, positive_share=0.2)
SHOWN_CONFIG = Config.preset(
    "paper", sparsity="entropy", mu=0.1, gamma=1.0, hidden=16, batch=16, lr=0.05, epochs=60, seed=0
)
CURVE_CONFIG = Config.preset("default", hidden=32, batch=16, lr=0.1, epochs=60)
DEMIPL = {"method": "demipl", "pooling": "sigmoid_normalised", "sparsity": "none", "mu": 0.0, "gamma": 0.0,
          "attention_entropy": 0.001}  # fmt: skip
CURVE_METHODS = {
    "ELIMIPL": {},
    "DEMIPL": DEMIPL,
    "every candidate equal (CE)": {"mapping": "average", "mu": 0.0, "gamma": 0.0},
}


def digit_bags(
    r: int, seed: int, learned: Recipe = DIGIT_RECIPE, held_out: Recipe = HELD_OUT_RECIPE
) -> tuple[BagDataset, BagDataset]:
    """Training and held-out digit bags; no picture of a digit is in both."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    cut = round(TRAIN_SHARE * len(order))
    parts = []
    for members, recipe, part_seed in ((order[:cut], learned, seed), (order[cut:], held_out, seed + 1000)):
        classes = digits.target[members]
        described = {"generator": "pixels", "source": DIGITS.source, "licence": "CC BY 4.0"}
        pixels = (digits.data[members] / 16.0).astype(np.float32)
        about = {"r": r, "seed": part_seed, "described": described}
        parts.append(mix_bags(pixels, classes, EVEN_DIGITS, classes % 2 == 1, DIGITS, recipe, **about))
    return parts[0], parts[1]


def record_weights() -> dict[str, Any]:
    """Eq. 6 epoch by epoch for some training bags: the first of every class, and the first that went wrong."""
    train, held_out = digit_bags(r=2, seed=0)
    beliefs = [train.candidates / train.candidates.sum(axis=1, keepdims=True)]
    fitted = fit(train, SHOWN_CONFIG, on_epoch=lambda report: beliefs.append(report.snapshot.weights), device="cpu")
    movement = np.array(beliefs)  # (T + 1, m, k)
    shown = [int(np.flatnonzero(train.labels == label)[0]) for label in range(len(EVEN_DIGITS))]
    wrong = np.flatnonzero(movement[-1].argmax(axis=1) != train.labels)
    bags = [
        {
            "name": train.names[bag],
            "true": int(train.labels[bag]),
            "candidates": train.candidates[bag].astype(int).tolist(),
            "weights": rounded(movement[:, bag]),
        }
        for bag in [*shown, *wrong[:1].tolist()]
    ]
    return {
        "about": f"{len(train)} training and {len(held_out)} held-out digit bags of 8 to 12 pictures, made of other "
        f"pictures ({TRAIN_SHARE:.0%} and {1 - TRAIN_SHARE:.0%} of scikit-learn's 1,797 digits); r = 2 false positives "
        f"drawn at random, data seed 0, training seed {SHOWN_CONFIG.seed}, {_settings(SHOWN_CONFIG)}.",
        "labels": list(train.label_space.names),
        "rho": rounded(np.array([SHOWN_CONFIG.rho(epoch) for epoch in range(1, SHOWN_CONFIG.epochs + 1)])),
        "disambiguation_accuracy": [rounded(report.disambiguation_accuracy) for report in fitted.history],
        "bags": bags,
    }


def record_curve(seeds: Sequence[int]) -> dict[str, Any]:
    """Figure 4 in miniature: held-out accuracy over r for three methods, one split a seed."""
    ambiguity = list(range(len(EVEN_DIGITS) - 1))
    accuracy: dict[str, list[list[float]]] = {name: [[] for _ in ambiguity] for name in CURVE_METHODS}
    for seed in seeds:
        for row, r in enumerate(ambiguity):
            train, held_out = digit_bags(r, seed)
            for name, changes in CURVE_METHODS.items():
                fitted = fit(train, CURVE_CONFIG.replace(seed=seed, **changes), device="cpu")
                accuracy[name][row].append(rounded(fitted.predict(held_out).accuracy(held_out.labels)))
    about = (
        f"{len(train)} training and {len(held_out)} held-out digit bags (held out: bags of other pictures of digits); "
        f"data and training seeds {', '.join(map(str, seeds))}; {_settings(CURVE_CONFIG)}; last epoch, no choosing."
    )
    return {"about": about, "r": ambiguity, "classes": len(EVEN_DIGITS), "accuracy": accuracy}


def _settings(config: Config) -> str:
    return (
        f"{config.epochs} epochs, l = {config.hidden}, learning rate {config.lr:g}, {config.sparsity} sparsity with "
        f"μ = {config.mu:g}, γ = {config.gamma:g}"
    )


def rounded(values: Any) -> Any:
    """Four digits, as JSON takes them."""
    return np.round(np.asarray(values, dtype=np.float64), 4).tolist()


def write(name: str, recorded: dict[str, Any]) -> None:
    """Write a recording of the lesson, all or nothing."""
    out = LESSONS / name
    write_whole(out, json.dumps(recorded, separators=(",", ":"), ensure_ascii=False).encode(), "The recording")
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write("recorded_runs.json", {"weights": record_weights(), "accuracy_by_r": record_curve(range(5))})
