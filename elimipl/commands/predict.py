"""Classify pictures: one JSON line per file, in the order given: label, probabilities, attention, checks, notes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bag_generators import Bag
from bag_generators.formats import in_words
from bag_generators.parallel import Outcome, generate_with_notes
from elimipl.commands import arguments
from elimipl.predictor import Predictor
from elimipl.scope import judge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `predict` asks for."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"pictures ({in_words()})")
    parser.add_argument("--model", required=True, metavar="ID", help="see “python -m elimipl models”")
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")
    parser.add_argument("--workers", type=int, help="processes (default: as many as there are cores)")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Predict each file; one that can't be used gives a line with its error, and the exit code is 1."""
    predictor = Predictor.load(args.model, args.folder)
    card = predictor.card
    failed = False
    outcomes = generate_with_notes(card.generator, args.files, args.workers, with_quality=True, **card.generator_params)
    with arguments.progress_bar(args, len(args.files), "predict", "picture") as bar:
        for file, outcome in outcomes:
            line = _line(predictor, outcome)
            failed |= "error" in line
            bar.update()
            named = {"file": str(file).encode("utf-8", "replace").decode(), "model": card.id}
            print(json.dumps({**named, **line}, ensure_ascii=False), flush=True)
    return 1 if failed else 0


def _line(predictor: Predictor, outcome: Outcome) -> dict[str, Any]:
    """What is said about one file; `in_scope` is null where the model came without limits to check by."""
    bag = outcome.result
    if not isinstance(bag, Bag) or outcome.quality is None:
        return {"error": str(bag)}
    prediction = predictor.predict(bag)
    names = prediction.label_space.names
    return {
        "label": prediction.label,
        "probability": prediction.probability,
        "probabilities": dict(zip(names, prediction.probabilities.tolist(), strict=True)),
        "attention": prediction.attention.tolist(),
        **judge(outcome.quality.numbers(), predictor, bag, prediction).to_dict(),
        "notes": list(outcome.notes),
    }
