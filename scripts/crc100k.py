"""From the server to models in one go: NCT-CRC-HE-100K → bags of every generator → models, measured on CRC-VAL-HE-7K.

    make crc100k                                  # in data/crc100k; CRC100K=FOLDER for another place
    python scripts/crc100k.py --folder FOLDER --only-announce

Says first what it will take in time and space. Start it again after whatever stopped it: files go on where they broke
off and are checked, bags that are there are not made again, training resumes from its checkpoint. Ends with a table of
the models in FOLDER/summary.md; each model has its card.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bag_generators import GENERATORS
from bag_generators.errors import InputError
from bag_generators.storage import write_whole
from elimipl.cards.card import Card
from elimipl.data.fetch import ZENODO, ArchiveSize, measure_whole
from elimipl.labels import TISSUE7
from scripts.crc100k_recipe.costs import announce
from scripts.crc100k_recipe.steps import TEST, TRAINING, Journal, Recipe, steps_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Announce, then every step that is not done yet."""
    args = _parser().parse_args(arguments)
    recipe = Recipe(args.folder, args.url, args.generators, args.epochs, args.workers, args.processes)
    try:
        announce(recipe, sizes_of(recipe))
        if args.only_announce:
            return 0
        return run(recipe)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2


def run(recipe: Recipe) -> int:
    """Every step that is not done yet, and the table of the models."""
    journal = Journal(recipe.folder / "steps.json")
    for step in steps_of(recipe):
        if journal.is_done(step.name):
            print(f"{step.name}: done before.")
            continue
        print(f"{step.name} …", flush=True)
        code = journal.run(step)
        if code not in (0, 1):
            print(f"“{step.name}” did not end. Start again: it goes on where it was.", file=sys.stderr)
            return code
    summary = summary_of(recipe)
    write_whole(recipe.folder / "summary.md", summary.encode(), "The summary")
    print(summary)
    return 0


def sizes_of(recipe: Recipe) -> dict[str, ArchiveSize]:
    """What the server has; asked once and kept, so that a finished fetch needs no server any more."""
    path = recipe.folder / "sizes.json"
    if path.exists():
        return {name: ArchiveSize(**size) for name, size in json.loads(path.read_text(encoding="utf-8")).items()}
    sizes = {name: measure_whole(name, TISSUE7.names, recipe.url) for name in (TRAINING, TEST)}
    write_whole(path, json.dumps({name: vars(size) for name, size in sizes.items()}).encode(), "The list of sizes")
    return sizes


def summary_of(recipe: Recipe) -> str:
    """The models, best first."""
    cards = sorted(
        (Card.read(recipe.card(name)) for name in recipe.generators),
        key=lambda card: -(card.accuracy.value if card.accuracy else 0),
    )
    lines = ["| model | accuracy | measured on | training bags |", "|---|---|---|---|"]
    for card in cards:
        measured = card.accuracy
        found = ("–", "–") if measured is None else (f"{measured.value:.3f}", f"{measured.n:,} bags of {TEST}")
        lines.append(f"| {card.id} | {found[0]} | {found[1]} | {card.training_data.bags:,} |")
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("data/crc100k"))
    parser.add_argument("--url", default=ZENODO, help="server to ask (default: Zenodo)")
    parser.add_argument("--generators", nargs="+", choices=GENERATORS, default=list(GENERATORS))
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make bags")
    parser.add_argument("--processes", type=int, default=1, help="of torchrun, for training")
    parser.add_argument("--only-announce", action="store_true", help="say what it will take, and do nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
