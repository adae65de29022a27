"""Record what the Compare page shows: `python scripts/record_trajectories.py pathmnist.npz RUNS [--only NAME]`.

The paper's Figure 2 compares DEMIPL and ELIMIPL on CRC-MIPL-Row. Here both are trained with the settings of the
authors' code on that data set rebuilt (`elimipl.datasets.crc_mipl`) and on drawn tissue, whose truth is known; all
methods of the paper are also trained with small settings under which a class can see attention move: no dropout and a
narrow embedding (the attention of eq. 3 is the softmax of ξ/√l). Training number i has the i-th 7:3 split, the i-th
simulated crowd and seed i. After every epoch all bags are measured: those of the training, the held-out ones and, for
CRC-MIPL, those of CRC-VAL-HE-7K, of other patients. RUNS keeps what each training gave, so that an interrupted
recording resumes; about an hour on one core.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from elimipl.benchmark.cells import Cell
from elimipl.benchmark.settings import settings_of
from elimipl.candidates.crowd import Candidates
from elimipl.datasets.crc_mipl import build_crc_mipl, build_crc_val
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl.methods.networks import SUMMARIES, method_config, paper_config
from elimipl.model.batching import PackedBags
from elimipl.model.inference import Predictions, infer_packed, share_correct
from elimipl.model.losses import initial_weights
from elimipl.model.network import Network, build_network
from elimipl.model.scaling import fit_scaler
from elimipl.training.figure_two import STATEMENTS, shares_of_bags, three_probabilities, widest_gap
from elimipl.training.loop import fit
from elimipl.training.reports import EpochReport
from elimipl.training.trajectories import MEASURED, STEPS, TRAJECTORIES_FOLDER, About, Trajectories
from elimipl_app.runs.worker import Plan, make_plan

WATCHED_PER_CLASS = 6
SHOWN_PER_CLASS = 2
ELSEWHERE = "CRC-VAL-HE-7K, of other patients"
AUTHORS: dict[str, Any] = {"mu": 10.0, "gamma": 10.0, "epochs": 100, "hidden": 512, "batch": 16, "lr": 0.1}
SMALL: dict[str, Any] = {"hidden": 16, "dropout": 0.0, "batch": 16, "lr": 0.1, "epochs": 60}


@dataclass(frozen=True)
class Recorded:
    """What a recording is made of."""

    title: str
    bags: str
    methods: tuple[str, ...]
    authors: bool = False
    """Whether the trainings have the settings of the authors' code."""


RECORDED = {
    "crc-row": Recorded("CRC-MIPL-Row rebuilt", "crc-row", ("ELIMIPL", "DEMIPL"), authors=True),
    "phantoms-row": Recorded("Phantoms, Row", "phantoms-row", ("ELIMIPL", "DEMIPL"), authors=True),
    "phantoms-kmeansseg": Recorded("Phantoms, KMeansSeg", "phantoms-kmeansseg", tuple(SUMMARIES)),
}


def plan_of(made: Recorded, dataset: BagDataset, method: str, seed: int) -> Plan:
    """One training of a recording."""
    if made.bags == "crc-row":
        config = paper_config(method, **settings_of(Cell("crc-row", 0, method)), seed=seed)
    elif made.authors:
        own = {"epochs": 200, "hidden": 500} if method == "DEMIPL" else {}
        config = paper_config(method, **{**AUTHORS, **own}, seed=seed)
    else:
        config = method_config(method, **SMALL, seed=seed)
    crowd = Candidates("crowd", seed=seed)
    watch = WATCHED_PER_CLASS * dataset.n_classes
    return make_plan(made.title, dataset, crowd, config, watch=watch, split=seed)


class _Measured:
    """What the network says after every epoch of all bags, as `on_epoch` of a training."""

    def __init__(self, plan: Plan, elsewhere: BagDataset | None) -> None:
        self.parts = _measured(plan, elsewhere)
        self.plan = plan
        self.found: dict[str, list[np.ndarray]] = {}
        scaler = fit_scaler(plan.training.instances, plan.config.scaling)
        self.packed = {
            name: PackedBags.pack(
                scaler.transform(part.instances, "float32"), part.sizes, torch.float32, torch.device("cpu")
            )
            for name, part in self.parts.items()
        }
        network = build_network(plan.config, plan.training.dim, plan.training.n_classes)
        self._measure(network, initial_weights(torch.from_numpy(plan.training.candidates.copy())).numpy())

    def __call__(self, report: EpochReport) -> None:
        self._measure(report.network, report.snapshot.weights)

    def _measure(self, network: Network, weights: np.ndarray) -> None:
        was_training = network.training
        for name, part in self.parts.items():
            said = infer_packed(network, self.packed[name])
            self._keep(f"{name}_three", three_probabilities(said.probabilities, part.candidates, part.labels))
            self._keep(f"{name}_accuracy", said.accuracy(part.labels))
            if name == "training":
                self._keep_watched(said, weights)
        self._keep("found", share_correct(weights, self.plan.training.labels))
        network.train(was_training)

    def _keep_watched(self, said: Predictions, weights: np.ndarray) -> None:
        training, watched = self.plan.training, self.plan.watched
        starts = training.offsets
        rows = np.concatenate([np.arange(starts[bag], starts[bag + 1]) for bag in watched])
        self._keep("probabilities", said.probabilities[watched])
        self._keep("weights", weights[watched])
        self._keep("attention", said.attention[rows])

    def _keep(self, name: str, values: np.ndarray | float | None) -> None:
        self.found.setdefault(name, []).append(np.asarray(values, np.float16 if np.ndim(values) else np.float32))


def train(
    made: Recorded, dataset: BagDataset, elsewhere: BagDataset | None, method: str, seed: int
) -> dict[str, np.ndarray]:
    """One training, measured after every epoch."""
    plan = plan_of(made, dataset, method, seed)
    measured = _Measured(plan, _asked(elsewhere, seed))
    fit(plan.training, plan.config, on_epoch=measured, device="cpu")
    return {name: np.stack(values) for name, values in measured.found.items()}


def record(name: str, source: Path, folder: Path, trainings: int) -> Trajectories:
    """Train what `folder` has not yet, and put all trainings of a recording together."""
    made = RECORDED[name]
    dataset, elsewhere = _bags(made.bags, source)
    for seed in range(trainings):
        for method in made.methods:
            path = _run_path(folder, name, method, seed)
            if not path.exists():
                with path.open("wb") as file:
                    np.savez(file, **train(made, dataset, elsewhere, method, seed))
                print(path.name, flush=True)
    return _put_together(name, dataset, elsewhere, folder, trainings)


def _put_together(
    name: str, dataset: BagDataset, elsewhere: BagDataset | None, folder: Path, trainings: int
) -> Trajectories:
    made = RECORDED[name]
    plans = {method: plan_of(made, dataset, method, 0) for method in made.methods}
    measured = {part: len(bags) for part, bags in _measured(plans[made.methods[0]], elsewhere).items()}
    longest = max(plan.config.epochs for plan in plans.values())
    shares = np.zeros((len(plans), len(plans), trainings, len(measured), longest + 1, len(STATEMENTS)), np.uint8)
    accuracies = np.zeros((len(plans), trainings, longest + 1, len(measured) + 1), np.float16)
    pooled: list[list[np.ndarray]] = [[] for _ in measured]
    for seed in range(trainings):
        runs = [_run(folder, name, method, seed, longest) for method in made.methods]
        plan = plan_of(made, dataset, made.methods[0], seed)
        for place, (part, bags) in enumerate(_measured(plan, _asked(elsewhere, seed)).items()):
            every = [run[f"{part}_three"] for run in runs]
            pooled[place].append(np.stack(every))
            accuracies[:, seed, :, place] = [run[f"{part}_accuracy"] for run in runs]
            for i, first in enumerate(made.methods):
                widest = widest_gap(bags.candidates.sum(axis=1), dataset.n_classes, plans[first].config.head)
                for j in range(len(made.methods)):
                    found = shares_of_bags(every[i].astype(np.float32), every[j].astype(np.float32), widest)
                    shares[i, j, seed, place] = np.round(STEPS * found)
        accuracies[:, seed, :, -1] = [run["found"] for run in runs]
    medians = np.stack([np.median(np.concatenate(parts, axis=2), axis=2) for parts in pooled], axis=1)
    first = plans[made.methods[0]]
    runs = [_run(folder, name, method, 0, longest) for method in made.methods]
    members, typical = _most_typical(first, np.stack([run["probabilities"] for run in runs]), medians[:, 0], made)
    watched = first.training.subset(first.watched[members])
    starts = np.concatenate([[0], np.cumsum(first.training.sizes[first.watched])])
    rows = np.concatenate([np.arange(starts[bag], starts[bag + 1]) for bag in members])
    truth = watched.instance_truth
    return Trajectories(
        about=About(
            id=name,
            title=made.title,
            bags=made.bags,
            candidates="crowd",
            trainings=trainings,
            methods=made.methods,
            configs={method: plan.config.to_dict() for method, plan in plans.items()},
            measured=measured,
            elsewhere="" if elsewhere is None else ELSEWHERE,
            bag_names=watched.names,
            watched=tuple(members),
            typical=typical,
            label_space=watched.label_space,
        ),
        labels=watched.labels,
        candidates=watched.candidates,
        offsets=watched.offsets,
        instance_truth=np.zeros(len(watched.instances), bool) if truth is None else truth,
        probabilities=np.stack([run["probabilities"][:, members] for run in runs]),
        attention=np.stack([run["attention"][:, rows] for run in runs]),
        accuracies=accuracies,
        medians=medians.astype(np.float16),
        shares=shares,
    )


def _most_typical(plan: Plan, probabilities: np.ndarray, medians: np.ndarray, made: Recorded) -> tuple[list[int], int]:
    """Of the bags watched, the most typical ones of every class, and which of these is the most typical of all.

    Typical is a bag with the probabilities of the median bag, of the true label, the average candidate and the average
    non-candidate, with DEMIPL and with ELIMIPL, that also gains as much from one to the other, over all epochs.
    `probabilities` are (M, T + 1, b, k), `medians` (M, T + 1, 3).
    """
    labels = plan.training.labels[plan.watched]
    members = plan.training.candidates[plan.watched]
    both = [made.methods.index(name) for name in ("DEMIPL", "ELIMIPL")]
    three = np.array([[three_probabilities(p.astype(float), members, labels) for p in probabilities[i]] for i in both])
    usual = medians[both].astype(np.float64)[:, :, None]
    level = np.abs(three - usual).mean(axis=(0, 1, 3))
    gain = np.abs((three[1] - three[0]) - (usual[1] - usual[0])).mean(axis=(0, 2))
    away = level + gain
    chosen = [
        int(bag)
        for label in range(plan.training.n_classes)
        for bag in sorted(np.flatnonzero(labels == label), key=away.__getitem__)[:SHOWN_PER_CLASS]
    ]
    return chosen, int(np.argmin(away[chosen]))


def _run_path(folder: Path, name: str, method: str, seed: int) -> Path:
    return folder / f"{name} {method} {seed}.npz"


def _run(folder: Path, name: str, method: str, seed: int, epochs: int) -> dict[str, np.ndarray]:
    """What a training gave, staying as it is after its last epoch."""
    with np.load(_run_path(folder, name, method, seed)) as kept:
        at = {key: np.minimum(np.arange(epochs + 1), len(kept[key]) - 1) for key in kept.files}
        return {key: kept[key][at[key]] for key in kept.files if key != "weights"}


def _measured(plan: Plan, elsewhere: BagDataset | None) -> dict[str, BagDataset]:
    parts = dict(zip(MEASURED, (plan.training, plan.held_out, elsewhere), strict=True))
    return {name: part for name, part in parts.items() if part is not None}


def _asked(elsewhere: BagDataset | None, seed: int) -> BagDataset | None:
    """The bags from elsewhere with candidate sets of their own crowd."""
    return None if elsewhere is None else Candidates("crowd", seed=seed).given_to(elsewhere)


@lru_cache(maxsize=1)
def _bags(bags: str, source: Path) -> tuple[BagDataset, BagDataset | None]:
    return (build_crc_mipl(source), build_crc_val(source)) if bags == "crc-row" else (load_bag_set(bags), None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record the trainings of the Compare page.")
    parser.add_argument("pathmnist", type=Path, help="PathMNIST's npz")
    parser.add_argument("runs", type=Path, help="folder that keeps what each training gave")
    parser.add_argument("--only", choices=RECORDED, help="one recording")
    parser.add_argument("--trainings", type=int, default=10, help="of each method")
    given = parser.parse_args()
    given.runs.mkdir(parents=True, exist_ok=True)
    for name in RECORDED if given.only is None else (given.only,):
        recorded = record(name, given.pathmnist, given.runs, given.trainings)
        recorded.save(TRAJECTORIES_FOLDER / f"{name}.safetensors")
        for part in recorded.about.measured:
            found = recorded.figure_two("DEMIPL", "ELIMIPL", part)
            print(f"{name}, {part}: window {found.window}, at best {found.at_best}, at the end {found.at_the_end:.2f}")
