"""Train the models that read cells, colon and tissue7, ELIMIPL and DEMIPL, each with its full card.

The colon's learn from the train parts of four sources joined by candidate sets (`elimipl.data.colon`), those of tissue7
from one of them; for those the other sources are the strangers. All are reported on held-back pictures: a third of
tissue7's tiles, slides 03 and 08 of kather8, lesion5/val, ebhi6/val.
Temperature, label sets and trust come from encoders that were adapted without a fold of the train parts (`cal`) and
without a whole source (`no-SOURCE`, a short adaptation); nothing is fitted on what is reported.

    python scripts/train_colon.py --encoders runs/enc [--space colon] [--method elimipl]

The folder holds full.safetensors (which became assets/encoder), cal.safetensors and no-<source>.safetensors.
"""

import argparse
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch

from bag_generators import load
from bag_generators.assets import assets
from bag_generators.generators.encoder import Encoder, shipped_encoder
from bag_generators.tissue.quality import measure_for
from elimipl.acceptance import KnownBags
from elimipl.cards.calibration import expected_calibration_error, temper
from elimipl.cards.card import Accuracy, CandidateScheme
from elimipl.cards.finish import finish
from elimipl.cards.held_out import HeldOut, measure
from elimipl.cards.limits import derive_limits
from elimipl.cards.trust import FirstMap
from elimipl.data.candidates import Candidates
from elimipl.labels import COLON
from elimipl.predictor import Predictor
from elimipl.training.loop import Fitted
from scripts.colon.acceptance import Rows, fit_rule, on_card
from scripts.colon.bags import COLON_TASK, TISSUE7_TASK, Mixture, Task
from scripts.colon.cells import Cells, encoder_from, read_cells
from scripts.colon.learn import (
    Said,
    ask,
    config,
    darkness,
    gland_auroc,
    known_bags,
    learned,
    left_out_cells,
    signs_of,
    spread_out,
    teaching_cells,
)
from scripts.colon.maps import MAPS, maps_of
from scripts.colon.sources import DATA, ROOT, SOURCES, taught

FOLD = 1
"""Of the train parts: what calibrates."""
SMALL, ABROAD, WHOLE = Mixture(120, 1600, 800), Mixture(40, 800, 400), Mixture(160, 3200, 1600)
"""Bags of the models that calibrate, of those without a source, and of those that ship."""
ASKED, ASKED_ABROAD = 60, 40
"""Pictures of a class of a source that a calibrating model is asked about."""
KEPT = ROOT / "runs" / "rows"
QUALITIES = 60
SCHEME = "the label of each source as a candidate set of the colon's classes, with the doubt of pathologists on top"


def rows_of(task: Task, fitted: Fitted, known: KnownBags, cells: Cells) -> Rows:
    """The answers about some pictures, with their signs."""
    return Rows(signs_of(fitted, known, cells), ask(fitted, cells, task).right)


def calibrated(task: Task, encoders: Path, data: Path, method: str) -> tuple[HeldOut, dict[str, Rows], float]:
    """What a model without a fold says about it: probabilities, and rows by source."""
    encoder = encoder_from(encoders / "cal.safetensors", SOURCES, data, FOLD)
    taught_cells = teaching_cells(encoder, task, task.sources, data, SMALL.per_class, FOLD)
    fitted, _ = learned(taught_cells, SMALL, task, config(method))
    asked = {source: task.shown(left_out_cells(encoder, source, data, FOLD, ASKED)) for source in task.sources}
    said = {source: ask(fitted, cells, task) for source, cells in asked.items()}
    outputs = held_out(list(said.values()), "left-out folds of the train parts")
    temperature = measure(outputs).calibration.temperature  # type: ignore[union-attr]
    known = known_bags(fitted, taught_cells, task)
    rows = {source: Rows(signs_of(fitted, known, one.cells), one.right) for source, one in said.items()}
    return outputs, rows, temperature


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


def without(task: Task, source: str, encoders: Path, data: Path, method: str) -> Rows | None:
    """What a model that has never seen a source says about it; None where its encoder is not there."""
    path = encoders / f"no-{source}.safetensors"
    kept = KEPT / f"{task.space.id}-{method}-{source}.npz"
    if kept.is_file():
        with np.load(kept) as file:
            return Rows(file["signs"], file["right"])
    if not path.is_file():
        return None
    others = tuple(one for one in SOURCES if one != source)
    encoder = encoder_from(path, others, data, FOLD)
    own = tuple(one for one in task.sources if one != source)
    taught_cells = teaching_cells(encoder, task, own, data, ABROAD.per_class, FOLD)
    fitted, _ = learned(taught_cells, ABROAD, task, config(method))
    asked = read_cells(encoder, spread_out(taught(source, data), ASKED_ABROAD))
    rows = rows_of(task, fitted, known_bags(fitted, taught_cells, task), asked)
    KEPT.mkdir(parents=True, exist_ok=True)
    np.savez(kept, signs=rows.signs, right=rows.right)
    print(f"{task.space.id} {method} without {source}: right {rows.right.mean():.3f} of {len(rows.right)}", flush=True)
    return rows


def train(task: Task, method: str, encoders: Path, data: Path, out: Path) -> None:
    """One method: calibrate, fit the rule, learn from everything, measure."""
    outputs, own, temperature = calibrated(task, encoders, data, method)
    strangers = [s for s in SOURCES if task.sources != (s,)]
    abroad = {s: r for s in strangers if (r := without(task, s, encoders, data, method)) is not None}
    sets = {**{f"{s} left out": rows for s, rows in abroad.items()}, **{f"{s}, a fold": r for s, r in own.items()}}
    rule = fit_rule(sets)
    left_out = {
        source: fit_rule({name: one for name, one in sets.items() if not name.startswith(source)}).kept(rows)
        for source, rows in abroad.items()
    }
    print(f"{method}: T {temperature:.2f}, limit {rule.limit:.3f}", {s: vars(kept) for s, kept in left_out.items()})

    encoder = shipped_encoder()
    taught_cells = teaching_cells(encoder, task, task.sources, data, WHOLE.per_class)
    fitted, bags = learned(taught_cells, WHOLE, task, config(method))
    known = known_bags(fitted, taught_cells, task)
    asked = {source: task.shown(left_out_cells(encoder, source, data, None)) for source in task.sources}
    said = {source: ask(fitted, cells, task) for source, cells in asked.items()}
    accuracy = Accuracy(
        float(np.mean([one.right.mean() for one in said.values()])),
        sum(len(one.cells) for one in said.values()),
        f"held-back pictures of {', '.join(task.sources)}, mean of the sources; right = in the set that the source's "
        "label means",
    )
    called = f"held-back pictures of {', '.join(task.sources)}"
    measured = measure(outputs, accuracy, reported=held_out(list(said.values()), called))
    acceptance = on_card(
        rule, len(known.meant), "sources left out of encoder and model, and left-out folds of the others", left_out
    )
    finished = finish(
        fitted,
        bags,
        Candidates("own"),
        created_by="scripts/train_colon.py",
        measured=measured,
        name=", ".join(task.sources),
        known=known,
        acceptance=acceptance,
    )
    shown = [
        p for s in task.sources for p in spread_out(taught(s, data), QUALITIES) if p.label not in ("BACK", "EMPTY")
    ]
    originals = task.shown(read_cells(encoder, shown))
    limits = derive_limits(
        [measure_for("deep", load(p.path)).numbers() for p in originals.pictures],
        [features.astype(np.float32) for features in originals.features],
        list(temper(ask(fitted, originals, task).probabilities, temperature)),
    )
    scheme = SCHEME if task.space is COLON else Candidates("crowd").scheme
    candidates = CandidateScheme(scheme, float(bags.candidates.sum(1).mean()), 0)
    card = replace(finished.card, checks=limits, candidates=candidates)
    predictor = finished.predictor.with_card(card)
    card = replace(
        card,
        first_map=first_map(task, fitted, encoder, data),
        measured={source: on_source(predictor, task, fitted, known, one) for source, one in said.items()},
    )
    replace(finished, predictor=predictor.with_card(card)).save(out)
    print(card.id, json.dumps(card.measured, indent=1), card.first_map, flush=True)


def first_map(task: Task, fitted: Fitted, encoder: Encoder, data: Path) -> FirstMap:
    """The map that finds glands best on ebhi6/train, and how well it does on ebhi6/val."""
    choosing = read_cells(encoder, spread_out(taught("ebhi6", data), WHOLE.per_class))
    cells = left_out_cells(encoder, "ebhi6", data, None)
    on_train = {name: gland_auroc(choosing, maps_of(fitted, choosing, name)) for name in MAPS}
    best = max(on_train, key=lambda name: on_train[name])
    dark = [darkness(p, grid) for p, grid in zip(cells.pictures, cells.grids, strict=True)]
    return FirstMap(
        name=best,
        auroc=round(gland_auroc(cells, maps_of(fitted, cells, best)), 4),
        darkness=round(gland_auroc(cells, dark), 4),
        untrained=round(gland_auroc(cells, maps_of(untrained(fitted), cells, best)), 4),
        n=len(cells),
        on="gland masks of ebhi6/val, pixel AUROC, mean over pictures",
        chosen_on="gland masks of ebhi6/train",
        others={name: round(value, 4) for name, value in on_train.items()},
    )


def untrained(fitted: Fitted) -> Fitted:
    """The same network before it has learned anything."""
    from elimipl.model.network import build_network

    network = build_network(fitted.config, fitted.network.dim, fitted.network.n_classes, None)
    return replace(fitted, network=network)


def on_source(predictor: Predictor, task: Task, fitted: Fitted, known: KnownBags, said: Said) -> dict[str, object]:
    """What the card says about the held-back pictures of one source."""
    card = predictor.card
    assert card.acceptance is not None
    assert card.conformal is not None
    signs = signs_of(fitted, known, said.cells)
    chances = np.array([card.acceptance.chance(tuple(row)) for row in signs])
    trusted = chances >= card.acceptance.limit
    probabilities = temper(said.probabilities, card.temperature)
    meant, top = said.cells.meant[:, task.columns], probabilities.argmax(1)
    members = card.conformal.members(probabilities)
    single = meant.sum(1) == 1
    labels = np.array([p.label for p in said.cells.pictures])
    # A label that means several classes counts as covered when one of them is in the set, and as right when answered.
    merged = np.where(single, meant.argmax(1), np.where(said.right, top, meant.argmax(1)))
    return {
        "n": len(said.cells),
        "n_per_class": {str(label): int((labels == label).sum()) for label in sorted(set(labels))},
        "right": round(float(said.right.mean()), 4),
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
        found = ask(fitted, Cells(said.cells.pictures, parts, said.cells.grids), task).probabilities
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
    parser.add_argument("--encoders", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--space", choices=("colon", "tissue7"), action="append")
    parser.add_argument("--method", choices=("elimipl", "demipl"), action="append")
    parser.add_argument("--out", type=Path, default=assets("models"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tasks = [task for task in (COLON_TASK, TISSUE7_TASK) if task.space.id in (arguments.space or (task.space.id,))]
    for task, method in product(tasks, arguments.method or ("elimipl", "demipl")):
        train(task, method, arguments.encoders, arguments.data, arguments.out)


if __name__ == "__main__":
    main()
