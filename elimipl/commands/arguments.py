"""What several commands ask for in the same words: bags, candidate sets, settings, a progress bar."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bag_generators.base.errors import InputError, printable
from elimipl.candidates.crowd import Candidates
from elimipl.cards.files import DEFAULT
from elimipl.config import PRESETS, Config
from elimipl.datasets.dataset import UNLABELLED, BagDataset
from elimipl.datasets.matlab import load_bags

_MOST_NAMED = 10


def add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")


def add_model(parser: argparse.ArgumentParser, of_what: str) -> None:
    """A model and how to read pictures for it; `of_what` has the scale that may be given."""
    parser.add_argument(
        "--model", default=DEFAULT, metavar="ID", help="see “python -m elimipl models” (default: %(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: as many as there are cores)")
    parser.add_argument(
        "--microns-per-pixel",
        type=float,
        metavar="X",
        help=f"scale of {of_what} (default: as the file says, else by the size of the nuclei)",
    )


def progress_bar(args: argparse.Namespace, total: int | None, doing: str, unit: str) -> tqdm:
    """A bar on stderr; written rarely where stderr is a file instead of a terminal."""
    return tqdm(
        total=total,
        desc=doing,
        unit=unit,
        unit_scale=total is None or total > 1_000_000,  # bytes
        file=sys.stderr,
        disable=args.quiet,
        mininterval=0.1 if sys.stderr.isatty() else 10.0,
    )


class StepBar:
    """One bar after the other: a new one whenever the name of the step changes."""

    def __init__(self, args: argparse.Namespace, unit: str = "") -> None:
        self._args, self._unit, self._step = args, unit, ""
        self._bar: tqdm | None = None

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._bar is None or step != self._step or done < self._bar.n:
            self.close()
            self._step, self._bar = step, progress_bar(self._args, total or None, step, self._unit)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """End the last bar."""
        if self._bar is not None:
            self._bar.close()


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="bag data set (.safetensors or .shards), or the authors' .mat"
    )


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler whose workers do it, such as tcp://host:8786; “local” starts one here",
    )


def add_candidates(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--r", type=int, metavar="N", help="candidate sets of the true label and N random others")
    which.add_argument(
        "--crowd",
        type=float,
        nargs="?",
        const=0.0,
        metavar="SIZE",
        help="candidate sets of three simulated annotators, SIZE labels on average (the paper's 2.08 unless given)",
    )
    parser.add_argument("--candidate-seed", type=int, default=0, metavar="SEED", help="seed of --r or --crowd")


def load_data(path: Path) -> BagDataset:
    """The bags in a file of this program or of the authors; bags whose candidates miss the true label are named."""
    dataset = load_bags(path) if path.suffix.lower() == ".mat" else BagDataset.load(path)
    if dataset.label_space == UNLABELLED:
        raise InputError(
            f"Nobody has labelled the bags in “{path}”.",
            "Put the pictures into a folder for each class and use “python -m elimipl bags”.",
        )
    if len(outside := dataset.truth_outside):
        named = ", ".join(dataset.names[i] for i in outside[:_MOST_NAMED])
        more = f" and {len(outside) - _MOST_NAMED} more" if len(outside) > _MOST_NAMED else ""
        print(
            printable(
                f"The true label of {len(outside)} of {len(dataset)} bags in “{path}” is not among their candidates: "
                f"{named}{more}."
            ),
            file=sys.stderr,
        )
    return dataset


def candidates_from(args: argparse.Namespace) -> Candidates:
    """The candidate sets asked for; otherwise the data's own."""
    if args.r is not None:
        return Candidates("random", r=args.r, seed=args.candidate_seed)
    if args.crowd is not None:
        return Candidates("crowd", seed=args.candidate_seed, size=args.crowd or None)
    return Candidates()


def add_settings(parser: argparse.ArgumentParser, **method: Any) -> None:
    """`method` replaces what may be said as --method."""
    parser.add_argument(
        "--method", default="elimipl", **(method or {"choices": Config.choices("method"), "type": str.lower})
    )
    parser.add_argument("--preset", choices=PRESETS, default="default", help="settings to start from")
    parser.add_argument("--epochs", type=int, metavar="T")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--lr", type=float, help="learning rate")
    parser.add_argument("--batch", type=int, help="bags per step")
    parser.add_argument("--hidden", type=int, metavar="L", help="width of the embedding")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting of the training"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")


def config_from(args: argparse.Namespace) -> Config:
    """The settings asked for: the preset, with what was given changed. A device that isn't there is refused here."""
    from elimipl.model.device import resolve_device  # loads torch, which making bags can do without

    config = Config.preset(args.preset, **{"method": args.method, **changes_from(args)})
    resolve_device(args.device, config.dtype)
    return config


def changes_from(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given."""
    named = {name: getattr(args, name) for name in ("epochs", "seed", "lr", "batch", "hidden")}
    return {name: value for name, value in named.items() if value is not None} | assignments(args.set)


def assignments(texts: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE texts as a table; numbers, true and false are read as such.

    >>> assignments(["mu=0.5", "sparsity=l1", "cosine=false"])
    {'mu': 0.5, 'sparsity': 'l1', 'cosine': False}
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"“{text}” sets nothing.", "Write NAME=VALUE, such as mu=0.5.")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values
