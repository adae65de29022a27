"""List the trained models: what they read, what they answer, how well they do."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from elimipl.cards.card import Card
from elimipl.cards.files import list_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `models` asks for."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")


def run(args: argparse.Namespace) -> int:
    """Print one line a model."""
    cards = list_models(args.folder)
    if args.json:
        print(json.dumps([_entry(card) for card in cards], indent=2, ensure_ascii=False))
        return 0
    width = max((len(card.id) for card in cards), default=0)
    for card in cards:
        print(f"{card.id:<{width}}  {_accuracy(card)}")
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
    }


def _accuracy(card: Card) -> str:
    measured = card.accuracy
    if measured is None:
        return "accuracy not measured"
    spread = "" if measured.std is None else f"±{measured.std:.3f}"
    return f"accuracy {measured.value:.3f}{spread}, n = {measured.n}, on {measured.split}"
