"""List the trained models: what they read, what they answer, how well they do."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bag_generators.base.validation import plain
from elimipl.cards.card import Card
from elimipl.cards.files import list_models
from elimipl.cards.wording import all_sentences, trust_summary

_MEASURED = (
    *("calibration", "conformal", "conformal_by_candidates", "reliability", "trust"),
    *("acceptance", "first_map", "measured", "training_data"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `models` asks for."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.add_argument("--measured", action="store_true", help="say all that was measured of each model, and on what")
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")


def run(args: argparse.Namespace) -> int:
    """Print one line per model, or all that was measured of it."""
    cards = list_models(args.folder)
    if args.json:
        print(json.dumps([_entry(card) for card in cards], indent=2, ensure_ascii=False))
        return 0
    width = max((len(card.id) for card in cards), default=0)
    for card in cards:
        first, *more = all_sentences(card)
        print(f"{card.id:<{width}}  {first} {trust_summary(card)}".rstrip())
        if args.measured:
            print(*(f"  {said}" for said in more), sep="\n")
    if not cards:
        print("There are no models.")
    return 0


def _entry(card: Card) -> dict[str, Any]:
    measured = card.accuracy
    return {
        "id": card.id,
        "method": card.method,
        "generator": card.generator,
        "label_space": card.label_space.id,
        "pictures": card.pictures,
        "accuracy": None if measured is None else measured.value,
        "accuracy_n": None if measured is None else measured.n,
        "accuracy_on": None if measured is None else measured.split,
        **{name: plain(getattr(card, name)) for name in _MEASURED},
    }
