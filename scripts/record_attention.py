"""Record when attention finds the instances, for the lesson: bags of whole tiles against composed bags.

    python scripts/record_attention.py --data FOLDER      # two minutes of one core

FOLDER holds `tissue7/outside/` (fat and glass) and `tissue7/SOURCES.csv`; the features of the tissue tiles come from
assets/bags. Two models learn from the same tiles, one from whole tiles, one from bags composed of their instances and
of fat or glass. Both are looked at on composed bags of tiles that neither has learned from. Writes
assets/lessons/attention_runs.json and, with the bags that the lesson shows, composed-deep.safetensors. No pixels.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bag_generators import GENERATORS, generate, load
from elimipl.answers.trust import auroc
from elimipl.candidates.crowd import uniform_false_positives
from elimipl.config import Config
from elimipl.datasets.benchmark_sets import Recipe
from elimipl.datasets.compose import Composition, compose
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl.model.inference import Predictions
from elimipl.training.loop import Fitted, fit
from elimipl.training.stages import stages
from scripts.make_bag_sets import published_names
from scripts.record_lesson import DEMIPL, DIGIT_RECIPE, LESSONS, TRAIN_SHARE, digit_bags, rounded, write

SHOWN_EPOCHS = (1, 2, 3, 5, 8, 12, 18, 25, 35, 45, 60)
SEEDS = 5
FALSE_POSITIVES = 2
SHOWN_CUT, SHOWN_PER_CLASS = "deep", 2
BAGS_PER_TILE = 3
LEARNED = Composition(plain=0)
MEASURED = Composition(plain=0, smallest=36, largest=36, least=0.2, most=0.2)
PLAIN_DIGITS = Recipe(bags_per_class=60, smallest=8, largest=12, average=10.0, positive_share=1.0)
CONFIG = Config.preset(
    "paper", sparsity="entropy", mu=0.1, gamma=1.0, hidden=16, gate_width=4, batch=16, lr=0.05, epochs=60, seed=0
)


def outside_patches(folder: Path, cut: str) -> tuple[list[np.ndarray], list[str]]:
    """Instances of every tile of fat and glass, and what the tile is called in the published data set."""
    called = published_names(folder)
    paths = sorted((folder / "outside").glob("*/*"))
    params = load_bag_set(f"tissue7-{cut}").params  # Deep's cells there measure 56 px
    return [generate(cut, load(path), **params).features for path in paths], [called[path.name] for path in paths]


def split(bags: BagDataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the training bags, copies included, and of the held-out tiles themselves; no tile is in both."""
    rng = np.random.default_rng(seed)
    tiles, first = np.unique(bags.groups, return_index=True)
    labels = bags.labels[first]
    chosen = []
    for label in np.unique(labels):
        mixed = rng.permutation(tiles[labels == label])
        chosen.append(mixed[: round(TRAIN_SHARE * len(mixed))])
    train = np.isin(bags.groups, np.concatenate(chosen))
    return np.flatnonzero(train), np.sort(first[~np.isin(tiles, np.concatenate(chosen))])


def aurocs(outputs: Predictions, bags: BagDataset) -> np.ndarray:
    """Of every bag: the chance that an instance of the class has more attention than another."""
    attention = np.split(outputs.attention, bags.offsets[1:-1])
    truths = np.split(bags.instance_truth, bags.offsets[1:-1])
    return np.array([auroc(truth, scores) for truth, scores in zip(truths, attention, strict=True)])


def tissue_sets(
    cut: str, outside: Sequence[np.ndarray], seed: int
) -> tuple[dict[str, BagDataset], BagDataset, BagDataset]:
    """What the two models learn from, the whole held-out tiles, and the composed held-out bags."""
    bags = load_bag_set(f"tissue7-{cut}")
    train, test = split(bags, seed)
    learned = bags.subset(train)
    learned = learned.with_candidates(
        uniform_false_positives(learned.labels.tolist(), bags.n_classes, FALSE_POSITIVES, seed)
    )
    plain, composed = np.concatenate(outside[0::2]), np.concatenate(outside[1::2])
    return (
        {"plain": learned, "composed": compose(learned, plain, LEARNED, seed=seed)},
        bags.subset(test),
        compose(bags.subset(np.tile(test, BAGS_PER_TILE)), composed, MEASURED, seed=seed + 1),
    )  # fmt: skip


def digit_sets(seed: int) -> tuple[dict[str, BagDataset], BagDataset, BagDataset]:
    """The same for digits: bags of one digit only against the paper's bags, in which a fifth is of the class."""
    composed, held_out = digit_bags(FALSE_POSITIVES, seed)
    plain, plain_held_out = digit_bags(FALSE_POSITIVES, seed, PLAIN_DIGITS, replace(PLAIN_DIGITS, bags_per_class=30))
    return {"plain": plain, "composed": composed}, plain_held_out, held_out


def contrast(sets: Sequence[tuple[dict[str, BagDataset], BagDataset, BagDataset]]) -> dict[str, Any]:
    """Accuracy and AUROC of the two models over all held-out bags, a number for each seed."""
    found: dict[str, Any] = {"bags": 0, "whole": 0}
    pooled: dict[str, list[np.ndarray]] = {"plain": [], "composed": []}
    for seed, (learned, whole, measured) in enumerate(sets):
        found["bags"] += len(measured)
        found["whole"] += len(whole)
        for name, bags in learned.items():
            fitted = fit(bags, CONFIG.replace(seed=seed), device="cpu")
            outputs = fitted.predict(measured)
            own = found.setdefault(name, {"accuracy_whole": [], "accuracy": [], "auroc": []})
            own["accuracy_whole"].append(rounded(fitted.predict(whole).accuracy(whole.labels)))
            own["accuracy"].append(rounded(outputs.accuracy(measured.labels)))
            pooled[name].append(aurocs(outputs, measured))
            own["auroc"].append(rounded(pooled[name][-1].mean()))
    for name, parts in pooled.items():
        found[name]["deciles"] = rounded(np.quantile(np.concatenate(parts), np.linspace(0, 1, 11)))
    return found


def watch(learned: Mapping[str, BagDataset], measured: BagDataset, shown: Sequence[int]) -> dict[str, Any]:
    """Attention and probabilities of the shown bags, and AUROC over all held-out bags, epoch by epoch, of both."""
    models: dict[str, Any] = {}
    for name, bags in learned.items():
        model: dict[str, Any] = {"accuracy": [], "auroc": [], "attention": [], "probabilities": []}
        for _, fitted in stages(bags, CONFIG, SHOWN_EPOCHS):
            outputs = fitted.predict(measured)
            attention = np.split(outputs.attention, measured.offsets[1:-1])
            model["accuracy"].append(rounded(outputs.accuracy(measured.labels)))
            model["auroc"].append(rounded(aurocs(outputs, measured).mean()))
            model["attention"].append([rounded(attention[bag]) for bag in shown])
            model["probabilities"].append([rounded(outputs.probabilities[bag]) for bag in shown])
        models[name] = model
    truths = np.split(measured.instance_truth, measured.offsets[1:-1])
    bags = [
        {"name": measured.names[bag], "true": int(measured.labels[bag]), "truth": truths[bag].astype(int).tolist()}
        for bag in shown
    ]
    return {"epochs": [0, *SHOWN_EPOCHS], "labels": list(measured.label_space.names), "bags": bags, "models": models}


def anatomy(fitted: Fitted, bags: BagDataset, shown: Sequence[int]) -> dict[str, Any]:
    """Equations 1 and 2 in numbers: h, both gates and ξ of every instance of the shown bags."""
    network = fitted.network
    own = bags.subset(np.array(shown))
    with torch.no_grad():
        h = network.embed(torch.from_numpy(fitted.scaler.transform(own.instances, "float32"))).relu()
        tanh, sigmoid = network.gate_t(h).tanh(), network.gate_s(h).sigmoid()
        scores = network.score(tanh * sigmoid).squeeze(1)
    parts = {"h": h, "tanh": tanh, "sigmoid": sigmoid, "xi": scores}
    return {
        "l": fitted.config.hidden,
        "w": rounded(network.score.weight[0].detach()),
        **{
            name: [rounded(part) for part in np.split(values.numpy(), own.offsets[1:-1])]
            for name, values in parts.items()
        },
    }  # fmt: skip


def first_of_every_class(bags: BagDataset, count: int) -> list[int]:
    return [int(bag) for label in range(bags.n_classes) for bag in np.flatnonzero(bags.labels == label)[:count]]


def origins(bags: BagDataset, seed: int, outside: Sequence[np.ndarray], called: Sequence[str]) -> list[list[str]]:
    """Where every instance of the composed held-out bags comes from: a tile of the published data and a patch of it."""
    sources = [f"{name} {patch}" for i, name in enumerate(bags.names) for patch in range(bags.sizes[i])]
    held = range(1, len(outside), 2)
    sources_outside = [f"{called[i]} {patch}" for i in held for patch in range(len(outside[i]))]
    numbered = replace(bags, instances=np.arange(len(bags.instances), dtype=np.float32)[:, None])
    reserved = -1.0 - np.arange(len(sources_outside), dtype=np.float32)[:, None]
    _, test = split(bags, seed)
    traced = compose(numbered.subset(np.tile(test, BAGS_PER_TILE)), reserved, MEASURED, seed=seed + 1)
    names = [sources[int(n)] if n >= 0 else sources_outside[int(-1 - n)] for n in traced.instances[:, 0]]
    return [names[start:end] for start, end in zip(traced.offsets[:-1], traced.offsets[1:], strict=True)]


def _about(whole: str) -> str:
    return (
        f"{whole}; r = {FALSE_POSITIVES} false positives drawn at random; {SEEDS} splits 7:3, data and training "
        f"seeds 0 to {SEEDS - 1}; {CONFIG.epochs} epochs, l = {CONFIG.hidden}, gates of {CONFIG.gate_width}, "
        f"learning rate {CONFIG.lr:g}, entropy sparsity with μ = {CONFIG.mu:g}, γ = {CONFIG.gamma:g}; last epoch, no "
        f"choosing."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds tissue7/")
    args = parser.parse_args()
    cuts: dict[str, Any] = {}
    for cut in GENERATORS:
        outside, called = outside_patches(args.data / "tissue7", cut)
        cuts[cut] = contrast([tissue_sets(cut, outside, seed) for seed in range(SEEDS)])
        if cut == SHOWN_CUT:
            learned, _, measured = tissue_sets(cut, outside, 0)
            shown = first_of_every_class(measured, SHOWN_PER_CLASS)
            tissue = watch(learned, measured, shown)
            traced = origins(load_bag_set(f"tissue7-{cut}"), 0, outside, called)
            measured.subset(np.array(shown)).save(LESSONS / "composed-deep.safetensors", half=True)
            inside = {
                "elimipl": anatomy(fit(learned["composed"], CONFIG, device="cpu"), measured, shown),
                "demipl": anatomy(fit(learned["composed"], CONFIG.replace(**DEMIPL), device="cpu"), measured, shown),
            }
    digits = [digit_sets(seed) for seed in range(SEEDS)]
    shown_digits = first_of_every_class(digits[0][2], 1)
    watched_digits = watch(digits[0][0], digits[0][2], shown_digits)
    for bag, index in zip(watched_digits["bags"], shown_digits, strict=True):
        bag["pixels"] = np.rint(digits[0][2].bag(index) * 16).astype(int).tolist()
    recorded = {
        "about": _about(
            "128 colorectal tiles of CRC-VAL-HE-7K and NCT-CRC-HE-100K, three mirrored copies each (Deep: one, "
            "cells of 56 px, an encoder that was adapted with some of these tiles); composed bags: 10 to 60 % of 16 to "
            "48 instances of one tile, the rest of 30 tiles of fat and glass; held-out composed bags: a fifth of 36 "
            "instances is of the class, other tiles and other fat and glass"
        ),
        "about_digits": _about(
            "300 training and 150 held-out bags of 8 to 12 of scikit-learn's 1,797 digits; plain bags hold one digit "
            f"only, composed bags {DIGIT_RECIPE.positive_share:.0%} of it among odd digits"
        ),
        "cuts": cuts,
        "digits": contrast(digits),
        "watched": {"tissue": tissue, "digits": watched_digits},
        "origins": [traced[bag] for bag in shown],
        "anatomy": inside,
    }  # fmt: skip
    write("attention_runs.json", recorded)


if __name__ == "__main__":
    main()
