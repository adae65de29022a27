"""How fast the ten-split protocol trains at the paper's CRC scale: `python benchmarks/bench_training.py`.

7,000 bags of 3..6 × 6, l = 512, T = 100, splits side by side, against a plain loop that takes one bag per step as the
authors do, written from the description of the method without any of the shortcuts of `elimipl`. The loop would run for
hours: a part of an epoch is timed and extrapolated to 10 splits × 100 epochs. Its accuracy needs one whole split:
`--full-reference` trains it once and keeps the number in `results/training.json`, where later runs on the same bags
find it. On a machine with other work, compare processor times. The hand-written gradient steps are timed against plain
autograd, too (`--ways-only` does just that).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import resource
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from bag_generators import InputError, TissueImage, generate, generate_many, load
from benchmarks.measuring import DATA, earlier, write
from elimipl import BagDataset, Config, LabelSpace, fit
from elimipl.candidates.crowd import simulate
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets.tiles import find_tiles
from elimipl.training.protocol import evaluate, stratified_splits
from elimipl.training.splits import Split

TILES = DATA / "lesion5" / "train"
SPLITS, EPOCHS, HIDDEN = 10, 100, 512
BAGS = 7000
_SIZES, _SHARES = (3, 4, 5, 6), (0.27, 0.33, 0.22, 0.18)  # mean 4.31, as in the paper's Table 1
WAYS_EPOCHS, WAYS_STEPS = 4, 40


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000, help="steps of the plain loop to time before and after")
    parser.add_argument("--full-reference", action="store_true", help="train the plain loop on a whole split")
    parser.add_argument("--ways-only", action="store_true", help="only time hand-written steps against autograd")
    args = parser.parse_args()
    if args.ways_only:
        write("training", earlier("training") | {"fast_against_plain": fast_against_plain(WAYS_STEPS)})
        return
    dataset = tile_bags(TILES) if TILES.is_dir() else made_bags()
    splits = stratified_splits(dataset.labels, SPLITS, seed=0, groups=dataset.groups)
    print(f"{dataset}, {dataset.candidates.sum(1).mean():.2f} candidates on average, from {dataset.source}")

    training = dataset.subset(splits[0][0])
    before = train(training, EPOCHS, HIDDEN, steps=args.steps)
    config = Config.preset("default", hidden=HIDDEN, epochs=EPOCHS)
    processor_before = _children()
    with tqdm(total=len(splits), desc="protocol", unit="split", disable=None) as bar:
        ours = evaluate(dataset, config, splits, on_split=lambda _: bar.update(), device="cpu")
    processor = _children() - processor_before
    after = train(training, EPOCHS, HIDDEN, steps=args.steps)
    steps = sum(len(train) for train, _ in splits) * EPOCHS
    loop = steps * (before.seconds + after.seconds) / (2 * args.steps)
    loop_processor = steps * (before.processor_seconds + after.processor_seconds) / (2 * args.steps)
    report = {
        "data": {"bags": repr(dataset), "from": dataset.source, "sha256": _fingerprint(dataset)},
        "config": config.to_dict(),
        "cores": os.cpu_count(),
        "protocol": {"seconds": round(ours.seconds, 1), "processor_seconds": round(processor, 1)},
        "accuracies": ours.accuracies,
        "mean": ours.mean,
        "std": ours.std,
        "peak_mb_of_largest_worker": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "one_bag_loop": {
            "seconds_extrapolated": round(loop),
            "processor_seconds_extrapolated": round(loop_processor),
            "steps_timed": 2 * args.steps,
            "steps_in_all": steps,
            "split_0": reference_accuracy(dataset, splits[0], args.full_reference),
        },
        "wanted": {"seconds": 200, "times_as_fast": 40, "accuracy_below_one_bag_loop": 0.005},
        "times_as_fast": round(loop / ours.seconds, 1),
        "times_as_fast_by_processor_time": round(loop_processor / (processor / (os.cpu_count() or 1)), 1),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "fast_against_plain": fast_against_plain(WAYS_STEPS),
    }
    write("training", report)


def made_bags(seed: int = 0) -> BagDataset:
    """Seeded stand-ins for tissue: each class mixes its own two materials with three that all classes share."""
    rng = np.random.default_rng(seed)
    k = len(TISSUE7)
    shared = np.broadcast_to(rng.normal(0, 1.5, (3, 6)), (k, 3, 6))
    materials = np.concatenate([rng.normal(0, 1.5, (k, 2, 6)), shared], axis=1)  # (k, 5, 6)
    labels = np.arange(BAGS) % k
    sizes = rng.choice(_SIZES, BAGS, p=_SHARES)
    starts = np.cumsum(sizes) - sizes
    bag_of = np.repeat(np.arange(BAGS), sizes)
    material = rng.choice(5, len(bag_of), p=(0.3, 0.2, 0.2, 0.15, 0.15))
    material[starts] = rng.integers(0, 2, BAGS)  # at least one instance carries the class
    stain = rng.normal(0, 0.4, (BAGS, 6))
    instances = materials[labels[bag_of], material] + stain[bag_of] + rng.normal(0, 0.6, (len(bag_of), 6))
    return BagDataset(
        instances=instances,
        offsets=np.append(starts, len(bag_of)),
        candidates=simulate(labels, TISSUE7, seed=seed).candidates,
        labels=labels,
        label_space=TISSUE7,
        generator="kmeansseg",
        source="made-up bags",
    )


def tile_bags(folder: Path, seed: int = 0) -> BagDataset:
    """KMeansSeg bags of the tiles in the class folders of `folder`, filled up to 7,000 with mirrored ones."""
    paths, labels, space = find_tiles(folder)
    features = []
    for path, bag in generate_many("kmeansseg", paths):
        if isinstance(bag, InputError):
            raise InputError(f"“{path.name}”: {bag.what}", bag.fix)
        features.append(bag.features)
    rng = np.random.default_rng(seed)
    extra = rng.permutation(len(paths))[: BAGS - len(paths)]
    for i in extra:
        mirrored = TissueImage.from_array(load(paths[i]).pixels[:, ::-1])
        features.append(generate("kmeansseg", mirrored).features)
    every = np.concatenate([labels, np.asarray(labels)[extra]])
    groups = np.concatenate([np.arange(len(paths)), extra])
    candidates = simulate(every, space, target_size=2.08, seed=seed).candidates
    return BagDataset.from_bags(
        features, space, every, candidates, generator="kmeansseg", groups=groups, source=folder.name
    )


def fast_against_plain(steps: int) -> dict[str, Any]:
    """How much the hand-written steps of `elimipl.training.steps` save over plain autograd, at three sizes of bags.

    Both ways train the same bags with the same settings and seed, and drop out the same numbers.
    """
    return {
        "steps_timed": steps,
        "times_are": f"processor time a step in the quickest of {WAYS_EPOCHS - 1} epochs, after one to warm up",
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "sizes": {
            "paper": _compared(made_bags().subset(range(64 * steps)), 64, "bags of 3..6 × 6, 64 a step"),
            "large_bags": _compared(large_bags(8 * steps, 9), 8, "bags of 1,000 × 9, 8 a step"),
            "large_wide_bags": _compared(large_bags(8 * steps, 128), 8, "bags of 1,000 × 128, 8 a step"),
        },
    }


def large_bags(count: int, dim: int, seed: int = 0) -> BagDataset:
    """Bags of 1,000 instances, seven classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 7
    bags = [rng.normal(0.02 * label, 1, (1000, dim)).astype(np.float32) for label in labels]
    return BagDataset.from_bags(bags, LabelSpace.of("ABCDEFG"), labels)


def _compared(dataset: BagDataset, batch: int, described: str) -> dict[str, Any]:
    steps = -(-len(dataset) // batch)
    config = Config.preset("default", hidden=HIDDEN, epochs=WAYS_EPOCHS, batch=batch)
    fast, plain = (_quickest_epoch(dataset, config, way) / steps for way in (False, True))
    return {
        "bags": described,
        "fast_ms_a_step": round(1000 * fast, 2),
        "plain_ms_a_step": round(1000 * plain, 2),
        "times_as_fast": round(plain / fast, 2),
    }


def _quickest_epoch(dataset: BagDataset, config: Config, plain: bool) -> float:
    ends: list[float] = []
    fit(dataset, config, plain=plain, on_epoch=lambda _: ends.append(time.process_time()), device="cpu")
    return min(after - before for before, after in pairwise(ends))


def reference_accuracy(dataset: BagDataset, split: Split, measure: bool) -> dict[str, Any] | None:
    """Test accuracy of the plain loop after 100 epochs on the first split: measured now, or found from earlier."""
    if measure:
        run = train(dataset.subset(split[0]), EPOCHS, HIDDEN)
        return {"accuracy": run.accuracy(dataset.subset(split[1])), "seconds": round(run.seconds)}
    kept = earlier("training")
    same = kept.get("data", {}).get("sha256") == _fingerprint(dataset)
    return dict(kept["one_bag_loop"]["split_0"]) if same else None


def _children() -> float:
    """Processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _fingerprint(dataset: BagDataset) -> str:
    arrays = (dataset.instances, dataset.offsets, dataset.candidates)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


class OneBagNetwork(nn.Module):
    """One bag in, class probabilities out: shared gate, MLP score, softmax of a clamped sigmoid."""

    def __init__(self, dim: int, hidden: int, n_classes: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Sequential(nn.Linear(dim, hidden), nn.Dropout(0.5), nn.ReLU())
        self.gate = nn.Linear(hidden, n_classes)
        self.score = nn.Sequential(nn.Linear(n_classes, 128), nn.ReLU(), nn.Linear(128, 1))
        self.classifier = nn.Linear(hidden, n_classes)

    def forward(self, bag: Tensor) -> Tensor:
        """(n, d) → (1, k)."""
        h = self.embed(bag)
        gate = self.gate(h)
        scores = self.score(torch.tanh(gate) * torch.sigmoid(gate))  # (n, 1)
        attention = torch.softmax(scores.t() / self.hidden**0.5, dim=1)  # (1, n)
        votes = torch.sigmoid(self.classifier(attention @ h))
        return torch.softmax(votes.clamp(1e-5, 1 - 1e-5) if self.training else votes, dim=1)


@dataclass(frozen=True)
class OneBagRun:
    """What a run of the loop showed."""

    network: OneBagNetwork
    mean: np.ndarray
    std: np.ndarray
    steps: int
    seconds: float
    processor_seconds: float

    @torch.no_grad()
    def accuracy(self, dataset: BagDataset) -> float:
        """Share of right predictions, bag by bag."""
        self.network.eval()
        right = 0
        for i in range(len(dataset)):
            bag = torch.tensor((dataset.bag(i) - self.mean) / self.std, dtype=torch.float32)
            right += int(self.network(bag).argmax()) == dataset.labels[i]
        return right / len(dataset)


def train(
    dataset: BagDataset,
    epochs: int,
    hidden: int = 512,
    lr: float = 0.01,
    mu: float = 10.0,
    gamma: float = 10.0,
    seed: int = 0,
    steps: int | None = None,
) -> OneBagRun:
    """Train for `epochs`, or only the first `steps` of them, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    mean, std = dataset.instances.mean(0), dataset.instances.std(0)
    bags = [torch.tensor((dataset.bag(i) - mean) / std, dtype=torch.float32) for i in range(len(dataset))]
    candidates = torch.tensor(dataset.candidates, dtype=torch.float32)
    weights = candidates / candidates.sum(1, keepdim=True)
    network = OneBagNetwork(dataset.dim, hidden, dataset.n_classes)
    optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    limit = epochs * len(bags) if steps is None else steps
    done = 0
    began, began_processor = time.perf_counter(), time.process_time()
    for epoch in range(1, epochs + 1):
        rho = (epochs - epoch + 1) / epochs
        for i in torch.randperm(len(bags)).tolist()[: limit - done]:
            s, w = candidates[i : i + 1], weights[i : i + 1]
            p = network(bags[i])
            mapping = -(w * torch.log(p)).sum()
            sparsity = torch.norm(p * s, p=1)
            inhibition = -((1 - s) * torch.log(1 - p)).sum()
            loss = mapping + mu * sparsity + gamma * inhibition
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                q = p * s
                weights[i : i + 1] = rho * w + (1 - rho) * q / q.sum()
            done += 1
        if done == limit:
            break
        schedule.step()
    seconds, processor_seconds = time.perf_counter() - began, time.process_time() - began_processor
    return OneBagRun(network, mean, std, done, seconds, processor_seconds)


if __name__ == "__main__":
    main()
