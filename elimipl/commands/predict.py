"""Classify pictures, in the order given: label, what else is possible, whether to trust it, and why not."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bag_generators import Bag
from bag_generators.errors import printable
from bag_generators.formats import in_words
from bag_generators.parallel import Outcome, Wanted, generate_with_notes
from bag_generators.scale import check_scale
from elimipl.answer import answer
from elimipl.commands import arguments
from elimipl.predictor import Predictor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `predict` asks for."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"pictures ({in_words()})")
    parser.add_argument("--model", required=True, metavar="ID", help="see “python -m elimipl models”")
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")
    parser.add_argument("--workers", type=int, help="processes (default: as many as there are cores)")
    parser.add_argument(
        "--microns-per-pixel",
        type=float,
        metavar="X",
        help="scale of the pictures (default: as the file says, else by the size of their nuclei)",
    )
    parser.add_argument("--text", action="store_true", help="print sentences instead of one JSON line per file")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Predict each file; one that can't be used gives a line with its error, and the exit code is 1."""
    predictor = Predictor.load(args.model, args.folder)
    card = predictor.card
    failed = False
    if args.microns_per_pixel is not None:
        check_scale(args.microns_per_pixel)
    wanted = Wanted(quality=True, scale=True, microns_per_pixel=args.microns_per_pixel)
    outcomes = generate_with_notes(card.generator, args.files, args.workers, wanted=wanted, **card.generator_params)
    with arguments.progress_bar(args, len(args.files), "predict", "picture") as bar:
        for file, outcome in outcomes:
            failed |= not isinstance(outcome.result, Bag)
            bar.update()
            name = str(file).encode("utf-8", "replace").decode()
            if args.text:
                print("\n  ".join([printable(name), *_sentences(predictor, outcome)]), flush=True)
            else:
                line = {"file": name, "model": card.id, **_line(predictor, outcome)}
                print(json.dumps(line, ensure_ascii=False), flush=True)
    return 1 if failed else 0


def _sentences(predictor: Predictor, outcome: Outcome) -> tuple[str, ...]:
    """What is said about one file, for a person."""
    bag = outcome.result
    if not isinstance(bag, Bag) or outcome.quality is None:
        return (str(bag),)
    given = answer(outcome.quality.numbers(), predictor, bag, predictor.predict(bag)).read_at(outcome.scale)
    return (*given.sentences(), *([] if outcome.scale is None else [outcome.scale.sentence]), *outcome.notes)


def _line(predictor: Predictor, outcome: Outcome) -> dict[str, Any]:
    """What is said about one file, for a program."""
    bag = outcome.result
    if not isinstance(bag, Bag) or outcome.quality is None:
        return {"error": str(bag)}
    prediction = predictor.predict(bag)
    names = prediction.label_space.names
    return {
        **answer(outcome.quality.numbers(), predictor, bag, prediction).read_at(outcome.scale).to_dict(),
        "probabilities": dict(zip(names, prediction.probabilities.tolist(), strict=True)),
        "attention": prediction.attention.tolist(),
        "notes": list(outcome.notes),
    }
