"""What several commands ask for in the same words: bags, candidate sets, settings, a progress bar."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bag_generators.errors import InputError
from elimipl.config import PRESETS, Config
from elimipl.data.crowd import simulate, uniform_false_positives
from elimipl.data.matlab import load_bags
from elimipl.dataset import BagDataset
from elimipl.model.device import resolve_device


@dataclass(frozen=True, eq=False)
class Bags:
    """A data set and, in words, where its candidate sets come from."""

    dataset: BagDataset
    candidate_scheme: str
    candidate_seed: int | None


def add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")


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


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="bag data set (.safetensors), or the authors' .mat")


def add_candidates(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--r", type=int, metavar="N", help="candidate sets of the true label and N random others")
    which.add_argument(
        "--crowd",
        type=float,
        nargs="?",
        const=0.0,
        metavar="SIZE",
        help="candidate sets of three simulated annotators, SIZE labels on average (left out: the paper's 2.08)",
    )
    parser.add_argument("--candidate-seed", type=int, default=0, metavar="SEED", help="seed of --r or --crowd")


def load_data(path: Path) -> BagDataset:
    """The bags in a file of this program or of the authors."""
    return load_bags(path) if path.suffix.lower() == ".mat" else BagDataset.load(path)


def with_candidates(dataset: BagDataset, args: argparse.Namespace, otherwise: str) -> Bags:
    """The data set with the candidate sets asked for, or with its own; `otherwise` says where those come from."""
    seed: int = args.candidate_seed
    if args.r is not None:
        candidates = uniform_false_positives(dataset.labels, dataset.n_classes, args.r, seed)
        return Bags(dataset.with_candidates(candidates), f"true label and {args.r} random others", seed)
    if args.crowd is not None:
        crowd = simulate(dataset.labels, dataset.label_space, target_size=args.crowd or None, seed=seed)
        return Bags(dataset.with_candidates(crowd.candidates), "three simulated annotators, two of three", seed)
    return Bags(dataset, otherwise, None)


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", choices=Config.choices("method"), default="elimipl")
    parser.add_argument("--preset", choices=PRESETS, default="default", help="settings to start from")
    parser.add_argument("--epochs", type=int, metavar="T")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--lr", type=float, help="learning rate")
    parser.add_argument("--batch", type=int, help="bags a step")
    parser.add_argument("--hidden", type=int, metavar="L", help="width of the embedding")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting of the training"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")


def config_from(args: argparse.Namespace) -> Config:
    """The settings asked for: the preset, with what was given changed. A device that isn't there is refused here."""
    named = {name: getattr(args, name) for name in ("epochs", "seed", "lr", "batch", "hidden")}
    changes = {name: value for name, value in named.items() if value is not None}
    config = Config.preset(args.preset, **{"method": args.method, **changes, **assignments(args.set)})
    resolve_device(args.device, config.dtype)
    return config


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
