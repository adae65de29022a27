"""Train the models of real tissue: colon and tissue7, five generators, ELIMIPL and DEMIPL, each with its full card.

The colon's learn from the train parts of four sources joined by candidate sets (`elimipl.datasets.colon`), those of
tissue7 from one of them; for those the other sources are the strangers. All are reported on held-back pictures: a third
of tissue7's tiles, slides 03 and 08 of kather8, lesion5/val, ebhi6/val. Temperature, label sets and trust come from
models, and for Deep from encoders, without a fold of the train parts and without whole sources
(`scripts.colon.left_out`); nothing is fitted on what is reported.

    python scripts/train_models.py --encoders runs/enc [--space colon] [--generator deep] [--method elimipl]

For Deep the folder holds cal.safetensors (without fold 1), and no-SOURCE and no-SOURCE-SOURCE.safetensors (without that
fold and one or two sources), all by scripts/adapt_encoder.py; assets/encoder holds what ships.
"""

import argparse
import json
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch
from scipy.stats import binomtest

from bag_generators import load
from bag_generators.base.assets import assets
from bag_generators.tissue.quality import measure_for
from elimipl.answers.acceptance import KnownBags
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import COLON
from elimipl.cards.calibration import expected_calibration_error, temper
from elimipl.cards.card import Accuracy, CandidateScheme, FirstMap
from elimipl.cards.finish import HeldOut, finish, measure_model
from elimipl.cards.limits import derive_limits
from elimipl.model.network import build_network
from elimipl.training.loop import Fitted
from scripts.colon.bags import COLON_TASK, TISSUE7_TASK, Task
from scripts.colon.learn import (
    Said,
    ask,
    darkness,
    gland_auroc,
    known_bags,
    learned,
    left_out,
    signs_of,
    spread_out,
    teaching,
)
from scripts.colon.left_out import Study, chances
from scripts.colon.readings import Reader, Readings, read
from scripts.colon.recipes import CLASSICAL, METHODS, recipe
from scripts.colon.sources import DATA, taught

QUALITIES = 60
SCHEME = "the label of each source as a candidate set of the colon's classes, with the doubt of pathologists on top"


def train(study: Study, out: Path) -> None:
    """One model: calibrate, fit the rule, learn from everything, measure."""
    task, data, whole = study.task, study.data, study.recipe.whole
    folds = study.own_folds()
    outputs = held_out([said for said, _ in folds.values()], "left-out folds of the train parts")

    reader = study.reader()
    known = teaching(reader, task, task.sources, data, study.recipe, whole.per_class)
    fitted, bags = learned(reader, known, whole, task, study.recipe.config(study.method))
    neighbours = known_bags(fitted, known, task)
    said = {s: ask(fitted, task.shown(left_out(reader, s, data, None)), task) for s in task.sources}
    named = ", ".join(task.sources)
    reported = held_out(list(said.values()), f"held-back pictures of {named}")
    accuracy = Accuracy(
        float(np.mean([one.right.mean() for one in said.values()])),
        sum(len(one.cells) for one in said.values()),
        f"{reported.called}, mean of the sources; right = in the set that the source's label means",
    )
    finished = finish(
        fitted,
        bags,
        Candidates("own"),
        created_by="scripts/train_models.py",
        measured=measure_model(outputs, accuracy, reported, shared_threshold=True),
        name=named,
        known=neighbours,
        acceptance=study.rule({name: rows for name, (_, rows) in folds.items()}, len(neighbours.meant)),
    )
    shown = [p for s in task.sources for p in spread_out(taught(s, data), QUALITIES)]
    originals = task.shown(read(reader, [p for p in shown if p.label not in ("BACK", "EMPTY")]))
    limits = derive_limits(
        [measure_for(study.generator, load(p.path)).numbers() for p in originals.pictures],
        [features.astype(np.float32) for features in originals.features],
        list(temper(ask(fitted, originals, task).probabilities, finished.card.temperature)),
    )
    scheme = SCHEME if task.space is COLON else Candidates("crowd").scheme
    candidates = CandidateScheme(scheme, float(bags.candidates.sum(1).mean()), 0)
    card = replace(finished.card, checks=limits, candidates=candidates)
    predictor = finished.predictor.with_card(card)
    card = replace(
        card,
        first_map=first_map(fitted, reader, data, whole.per_class) if study.generator == "deep" else None,
        measured={source: on_source(predictor, task, fitted, neighbours, one) for source, one in said.items()},
    )
    replace(finished, predictor=predictor.with_card(card)).save(out)
    print(card.id, json.dumps(card.measured), card.first_map, card.acceptance, card.conformal.coverage, flush=True)


def held_out(said: list[Said], called: str, each: int = 400) -> HeldOut:
    """Answers about pictures whose label means one class, the same number of each source."""
    rng = np.random.default_rng(0)
    probabilities, labels, groups = [], [], []
    for number, one in enumerate(said):
        meant = one.cells.meant[:, one.columns]
        single = np.flatnonzero(meant.sum(1) == 1)
        chosen = rng.permutation(np.tile(single, -(-each // len(single))))[:each]
        probabilities.append(one.probabilities[chosen])
        labels.append(meant.argmax(1)[chosen])
        groups.append(chosen + 1_000_000 * number)
    return HeldOut(np.concatenate(probabilities), np.concatenate(labels), called, groups=np.concatenate(groups))


def first_map(fitted: Fitted, reader: Reader, data: Path, per_class: int) -> FirstMap:
    """The map that finds glands best on ebhi6/train, and how well it does on ebhi6/val."""
    choosing = read(reader, spread_out(taught("ebhi6", data), per_class))
    cells = left_out(reader, "ebhi6", data, None)
    on_train = {name: gland_auroc(choosing, found) for name, found in maps_of(fitted, choosing).items()}
    best = max(on_train, key=on_train.__getitem__)
    network = build_network(fitted.config, fitted.network.dim, fitted.network.n_classes, None)
    untrained = replace(fitted, network=network)
    dark = [darkness(p, grid) for p, grid in zip(cells.pictures, cells.grids, strict=True)]
    return FirstMap(
        name=best,
        auroc=round(gland_auroc(cells, maps_of(fitted, cells)[best]), 4),
        darkness=round(gland_auroc(cells, dark), 4),
        untrained=round(gland_auroc(cells, maps_of(untrained, cells)[best]), 4),
        n=len(cells),
        on="gland masks of ebhi6/val, pixel AUROC, mean over pictures",
        chosen_on="gland masks of ebhi6/train",
        others={name: round(value, 4) for name, value in on_train.items()},
    )


def maps_of(fitted: Fitted, cells: Readings) -> dict[str, list[np.ndarray]]:
    """What `elimipl.answers.explain.first_map` can show: one score for each cell of every picture."""
    network, maps = fitted.network, defaultdict(list)
    for features in cells.features:
        scaled = fitted.scaler.transform(features.astype(np.float32))
        x = torch.from_numpy(scaled).to(network.embed.weight.dtype)
        with torch.no_grad():
            scores, votes = network.read(x, torch.zeros(len(x), dtype=torch.int64), 1)
            attention = network.attention_logits(scores).softmax(0)
            answer = int((attention @ votes).argmax())
            found = {
                "attention": attention,
                "vote": votes.softmax(1)[:, answer],
                "contribution": attention * votes[:, answer],
                "attention of the answer": attention * votes.softmax(1)[:, answer],
            }
        for name, scores in found.items():
            maps[name].append(np.asarray(scores.numpy(), np.float64))
    return dict(maps)


def on_source(predictor: Predictor, task: Task, fitted: Fitted, known: KnownBags, said: Said) -> dict[str, object]:
    """What the card says about the held-back pictures of one source."""
    card = predictor.card
    assert card.acceptance is not None
    assert card.conformal is not None
    trusted = chances(card.acceptance, signs_of(fitted, known, said.cells)) >= card.acceptance.limit
    probabilities = temper(said.probabilities, card.temperature)
    meant, top = said.cells.meant[:, task.columns], probabilities.argmax(1)
    members = card.conformal.members(probabilities)
    single = meant.sum(1) == 1
    labels = np.array([p.label for p in said.cells.pictures])
    # A label that means several classes counts as covered when one of them is in the set, and as right when answered.
    merged = np.where(single, meant.argmax(1), np.where(said.right, top, meant.argmax(1)))
    interval = binomtest(int(said.right.sum()), len(said.right)).proportion_ci(method="wilson")
    return {
        "n": len(said.cells),
        "n_per_class": {str(label): int((labels == label).sum()) for label in sorted(set(labels))},
        "right": round(float(said.right.mean()), 4),
        "interval": [round(float(end), 4) for end in interval],
        "balanced": round(said.balanced(), 4),
        "trusted": round(float(trusted.mean()), 4),
        "trusted_and_wrong": round(float((trusted & ~said.right).mean()), 4),
        "calibration_error": round(expected_calibration_error(probabilities, merged), 4),
        "sets_cover": round(float((members & meant).any(1).mean()), 4),
        "set_size": round(float(members.sum(1).mean()), 3),
        "kept_alone": kept_alone(task, fitted, said),
    }


def kept_alone(task: Task, fitted: Fitted, said: Said) -> dict[str, float]:
    """How the answer's probability changes when only the quarter with most, or least, attention is kept."""
    changes = []
    for quarter in (slice(0, 1), slice(-1, None)):
        parts = []
        for features, attention in zip(said.cells.features, said.attention, strict=True):
            order = np.array_split(np.argsort(-attention, kind="stable"), 4)
            parts.append(features[np.concatenate(order[quarter])])
        found = ask(fitted, Readings(said.cells.pictures, parts, said.cells.grids), task).probabilities
        rows, top = np.arange(len(parts)), said.probabilities.argmax(1)
        changes.append(found[rows, top] - said.probabilities[rows, top])
    gap = changes[0] - changes[1]
    means = [np.random.default_rng(i).choice(gap, len(gap)).mean() for i in range(1000)]
    return {
        "most": round(float(changes[0].mean()), 4),
        "least": round(float(changes[1].mean()), 4),
        "gap_low": round(float(np.quantile(means, 0.025)), 4),
        "gap_high": round(float(np.quantile(means, 0.975)), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoders", type=Path, default=Path("runs/enc"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--space", choices=("colon", "tissue7"), action="append")
    parser.add_argument("--generator", choices=("deep", *CLASSICAL), action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--out", type=Path, default=assets("models"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tasks = [task for task in (COLON_TASK, TISSUE7_TASK) if task.space.id in (arguments.space or (task.space.id,))]
    generators, methods = arguments.generator or ("deep", *CLASSICAL), arguments.method or METHODS
    for task, generator, method in product(tasks, generators, methods):
        made = recipe(task.space.id, generator)
        train(Study(task, generator, method, made, arguments.encoders, arguments.data), arguments.out)


if __name__ == "__main__":
    main()
