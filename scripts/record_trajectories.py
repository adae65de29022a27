"""Record what the Compare page shows: `python scripts/record_trajectories.py [--only NAME]`.

The methods of the paper are trained on the same bags from the same seed. One recording has the settings of the authors'
code on the data nearest to the paper's Figure 2, a quarter of an hour on one core; the others, a few minutes
altogether, have small settings under which a class can see attention move: no dropout and a narrow embedding (the
attention of eq. 3 is the softmax of ξ/√l).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from elimipl.candidates.crowd import Candidates
from elimipl.config import Config
from elimipl.datasets.benchmark_sets import build_digits
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl.methods.networks import SUMMARIES, method_config, paper_config
from elimipl.training.stages import stages
from elimipl.training.trajectories import ACCURACIES, LOSSES, TRAJECTORIES_FOLDER, About, Trajectories
from elimipl_app.runs.plan import Plan, make_plan

METHODS = tuple(SUMMARIES)
SMALL = {"hidden": 16, "dropout": 0.0, "batch": 16, "lr": 0.1, "epochs": 60, "seed": 0}
AUTHORS = {"mu": 10.0, "gamma": 10.0, "epochs": 100, "seed": 0}  # for CRC-MIPL; one bag a step, l = 512
PER_CLASS = 2  # watched bags


@dataclass(frozen=True)
class Recorded:
    """What a recording is made of."""

    title: str
    bags: str
    candidates: Candidates
    methods: tuple[str, ...] = METHODS
    as_published: bool = False


RECORDED = {
    "tissue-row": Recorded("Tissue tiles, Row", "tissue7-row", Candidates("random", 2, seed=0)),
    "tissue-row-authors": Recorded(
        "Tissue tiles, Row, authors' settings",
        "tissue7-row",
        Candidates("crowd", seed=0),
        ("ELIMIPL", "DEMIPL", "MA"),
        as_published=True,
    ),
    "phantoms-row": Recorded("Phantoms, Row", "phantoms-row", Candidates("random", 2, seed=0)),
    "phantoms-kmeansseg": Recorded("Phantoms, KMeansSeg", "phantoms-kmeansseg", Candidates("random", 3, seed=0)),
    "digits": Recorded("Digits", "digits", Candidates("random", 1, seed=0)),
}


def plan_of(name: str, method: str) -> Plan:
    """The training of one method on one data set."""
    made = RECORDED[name]
    dataset = build_digits() if made.bags == "digits" else load_bag_set(made.bags)
    watch = PER_CLASS * dataset.n_classes
    return make_plan(made.title, dataset, made.candidates, _config(made, method), watch=watch)


def _config(made: Recorded, method: str) -> Config:
    if made.as_published:
        return paper_config(method, **AUTHORS)
    return method_config(method, **SMALL, scaling="global" if made.bags == "digits" else "zscore")


def record(name: str) -> Trajectories:
    """Train every method on a data set and keep what becomes of the watched bags."""
    methods = RECORDED[name].methods
    plans = {method: plan_of(name, method) for method in methods}
    first = plans[methods[0]]
    watched = first.training.subset(first.watched)
    runs = [_one_run(plan, watched) for plan in plans.values()]
    truth = watched.instance_truth
    return Trajectories(
        about=About(
            id=name,
            title=RECORDED[name].title,
            bags=RECORDED[name].bags,
            candidates=first.candidates.kind,
            r=first.candidates.r,
            candidate_seed=first.candidates.seed,
            methods=methods,
            configs={method: plan.config.to_dict() for method, plan in plans.items()},
            bag_names=watched.names,
            training_bags=len(first.training),
            held_out_bags=len(first.held_out) if first.held_out is not None else 0,
            label_space=watched.label_space,
        ),
        labels=watched.labels,
        candidates=watched.candidates,
        offsets=watched.offsets,
        instance_truth=np.zeros(len(watched.instances), bool) if truth is None else truth,
        all_labels=first.training.labels,
        all_candidates=first.training.candidates,
        **{key: np.stack([run[key] for run in runs]) for key in runs[0]},
    )


def _one_run(plan: Plan, watched: BagDataset) -> dict[str, np.ndarray]:
    probabilities, weights, attention = [], [], []
    for _, fitted in stages(plan.training, plan.config, range(1, plan.config.epochs + 1), plan.held_out):
        outputs = fitted.predict(watched)
        probabilities.append(outputs.probabilities)
        weights.append(fitted.weights[plan.watched])
        attention.append(outputs.attention)
    history = fitted.history
    return {
        "probabilities": np.array(probabilities, np.float16),
        "weights": np.array(weights, np.float16),
        "attention": np.array(attention, np.float16),
        "losses": np.array([[report.losses[part] for part in LOSSES] for report in history], np.float32),
        "all_probabilities": np.array(fitted.predict(plan.training).probabilities, np.float16),
        "accuracies": np.array([[getattr(report, kind) for kind in ACCURACIES] for report in history], np.float32),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record the trainings of the Compare page.")
    parser.add_argument("--only", choices=RECORDED, help="one recording")
    only = parser.parse_args().only
    for name in RECORDED if only is None else (only,):
        recorded = record(name)
        recorded.save(TRAJECTORIES_FOLDER / f"{name}.safetensors")
        found = dict(zip(recorded.about.methods, recorded.accuracies[:, -1, 1].round(3).tolist(), strict=True))
        print(f"{name}: held-out accuracy {found}")
