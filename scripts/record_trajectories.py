"""Record what the Compare page shows: `python scripts/record_trajectories.py [FOLDER]`, a few minutes on one core.

Every method of the paper is trained on the same bags from the same seed, with small settings under which a class
can see attention move: no dropout and a narrow embedding (the attention of eq. 3 is the softmax of ξ/√l).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from elimipl.data.candidates import Candidates
from elimipl.data.shipped import load_bag_set
from elimipl.data.sklearn_digits import build_digits
from elimipl.dataset import BagDataset
from elimipl.methods.networks import SUMMARIES, method_config
from elimipl.training.stages import stages
from elimipl.training.trajectories import ACCURACIES, LOSSES, TRAJECTORIES_FOLDER, About, Trajectories
from ui.train.plan import Plan, make_plan

METHODS = tuple(SUMMARIES)
SETTINGS = {"hidden": 16, "dropout": 0.0, "batch": 16, "lr": 0.1, "epochs": 60, "seed": 0}
# id: title, bag set, false positive labels
RECORDED = {
    "tissue-row": ("Tissue tiles, Row", "tissue7-row", 2),
    "phantoms-row": ("Phantoms, Row", "phantoms-row", 2),
    "phantoms-kmeansseg": ("Phantoms, KMeansSeg", "phantoms-kmeansseg", 3),
    "digits": ("Digits", "digits", 1),
}


def plan_of(name: str, method: str) -> Plan:
    """The training of one method on one data set."""
    title, bags, r = RECORDED[name]
    dataset = build_digits() if bags == "digits" else load_bag_set(bags)
    scaling = "global" if bags == "digits" else "zscore"
    config = method_config(method, **SETTINGS, scaling=scaling)
    return make_plan(title, dataset, Candidates("random", r, seed=0), config)


def record(name: str) -> Trajectories:
    """Train every method on a data set and keep what becomes of the watched bags."""
    plans = {method: plan_of(name, method) for method in METHODS}
    first = plans[METHODS[0]]
    watched = first.training.subset(first.watched)
    runs = [_one_run(plan, watched) for plan in plans.values()]
    truth = watched.instance_truth
    return Trajectories(
        about=About(
            id=name,
            title=RECORDED[name][0],
            bags=RECORDED[name][1],
            r=first.candidates.r,
            candidate_seed=first.candidates.seed,
            methods=METHODS,
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
        "accuracies": np.array([[getattr(report, kind) for kind in ACCURACIES] for report in history], np.float32),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record the trainings of the Compare page.")
    parser.add_argument("folder", nargs="?", type=Path, default=TRAJECTORIES_FOLDER)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in RECORDED:
        recorded = record(name)
        recorded.save(folder / f"{name}.safetensors")
        found = dict(zip(METHODS, recorded.accuracies[:, -1, 1].round(3).tolist(), strict=True))
        print(f"{name}: held-out accuracy {found}")
