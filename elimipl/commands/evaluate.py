"""Measure a method as the paper does: ten stratified 7:3 splits, last epoch, mean ± standard deviation.

With --attention: do its explanations find the instances that matter?
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.validation import plain
from elimipl.answers.predictor import Predictor
from elimipl.answers.trust import measure_trust
from elimipl.cards.card import MethodTrust, Trust
from elimipl.cards.finish import finish
from elimipl.commands import arguments
from elimipl.config import Config, Settings
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.matlab import load_splits
from elimipl.methods import METHODS, Method, find_method, settings_for
from elimipl.model.device import resolve_device
from elimipl.training.loop import fit
from elimipl.training.protocol import ProtocolResult, SplitResult, evaluate, stratified_splits
from elimipl.training.splits import Split
from elimipl.training.team import refuse_torchrun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `evaluate` asks for."""
    arguments.add_data(parser)
    arguments.add_candidates(parser)
    arguments.add_settings(
        parser, metavar="NAME", help=f"elimipl unless given; upper or lower case: {', '.join(METHODS)}"
    )
    parser.add_argument("--splits", type=int, default=10, metavar="N", help="number of random splits")
    parser.add_argument("--share", type=float, default=0.7, help="share of every class to train on")
    parser.add_argument("--split-seed", type=int, default=0, metavar="SEED")
    parser.add_argument("--index", type=Path, metavar="FOLDER", help="take the authors' split files instead")
    parser.add_argument("--workers", type=int, help="processes (unless given, as many as there are cores)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--attention", action="store_true", help="measure attention and explanations instead")
    parser.add_argument("--model", metavar="ID", help="with --attention: this model on all bags, without training")
    parser.add_argument("--folder", type=Path, help="folder of that model (default: the models that ship)")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Train and test on every split and print the table."""
    refuse_torchrun("Start it without: --workers spreads the splits over the cores.")
    if args.splits < 1:
        raise InputError(f"{args.splits} splits measure nothing.", "Ask for at least 1.")
    method = find_method(args.method)
    config = settings_for(method, preset=args.preset, **arguments.changes_from(args))
    resolve_device(args.device, getattr(config, "dtype", "float32"))  # one that isn't there is refused
    dataset = arguments.candidates_from(args).given_to(arguments.load_data(args.data))
    if args.attention:
        if not isinstance(config, Config):
            networks = ", ".join(name for name, one in METHODS.items() if one.is_network)
            raise InputError(f"{method.name} has no attention.", f"Choose one of {networks}.")
        if args.model is not None:
            measured = [measure_trust(Predictor.load(args.model, args.folder), dataset, args.split_seed)]
        else:
            measured = list(_trust_of_splits(args, dataset, config))
        print(json.dumps([plain(one) for one in measured], indent=2) if args.json else _trust_table(measured))
        return 0
    if args.model is not None:
        raise InputError("A trained model is measured by --attention only.", "Add --attention, or leave out --model.")
    splits = _splits(args, dataset)
    with arguments.progress_bar(args, len(splits), method.name, "split") as bar:

        def on_split(split: SplitResult) -> None:
            bar.set_postfix(accuracy=f"{split.accuracy:.3f}", refresh=False)
            bar.update()

        result = evaluate(
            dataset, config, splits, fit=method.fit, workers=args.workers, on_split=on_split, device=args.device
        )
    print(_as_json(result, method, config) if args.json else _as_table(result))
    return 0


def _splits(args: argparse.Namespace, dataset: BagDataset) -> list[Split]:
    if args.index is not None:
        return load_splits(args.index, len(dataset))
    return stratified_splits(dataset.labels, args.splits, args.share, args.split_seed, dataset.groups)


def _as_table(result: ProtocolResult) -> str:
    lines = ["split  accuracy  disambiguated  seconds"]
    for split in result.splits:
        right = "–" if split.disambiguation_accuracy is None else f"{split.disambiguation_accuracy:.3f}"
        lines.append(f"{split.index + 1:>5}  {split.accuracy:>8.3f}  {right:>13}  {split.seconds:>7.1f}")
    return "\n".join([*lines, f"mean ± std (ddof 0): {result} in {result.seconds:.1f} s"])


def _as_json(result: ProtocolResult, method: Method, config: Settings) -> str:
    content = {
        "method": method.name,
        "config": config.to_dict(),
        "accuracies": list(result.accuracies),
        "mean": result.mean,
        "std": result.std,
        "seconds": result.seconds,
    }
    return json.dumps(content, indent=2)


def _trust_of_splits(args: argparse.Namespace, dataset: BagDataset, config: Config) -> Iterator[Trust]:
    splits = _splits(args, dataset)
    with arguments.progress_bar(args, len(splits), config.method, "split") as bar:
        for train, test in splits:
            learned, unseen = dataset.subset(train), dataset.subset(test)
            fitted = fit(learned, config, device=args.device)
            finished = finish(fitted, learned, arguments.candidates_from(args), created_by="", held_out=unseen)
            yield measure_trust(finished.predictor, unseen, args.split_seed, "the test bags of a split")
            bar.update()


def _trust_table(measured: Sequence[Trust]) -> str:
    """Averages over the measurements, a line for each way to rank instances."""

    def mean(values: Sequence[float | None]) -> str:
        known = [value for value in values if value is not None]
        return f"{np.mean(known):.3f}" if known else "–"

    def numbers(methods: Sequence[MethodTrust]) -> list[str]:
        gain = mean([one.gain for one in methods])
        interval = f"{mean([one.gain_low for one in methods])}..{mean([one.gain_high for one in methods])}"
        return [
            mean([one.auroc for one in methods]),
            mean([one.average_precision for one in methods]),
            mean([one.area for one in methods]),
            f"{gain} ({interval})",
            mean([one.agreement for one in methods]),
        ]

    lines = [["ranked by", "AUROC", "precision", "area", "below random (95 %)", "as left out"]]
    lines += [[name, *numbers([one.methods[name] for one in measured])] for name in measured[0].methods]
    lines += [
        [f"{name}, random weights", *numbers([one.random_weights[name] for one in measured])]
        for name in measured[0].random_weights
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    shown = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    bags, located = (sum(getattr(one, name) for one in measured) for name in ("bags", "located"))
    even, random = (mean([getattr(one, name) for one in measured]) for name in ("evenness", "random_area"))
    said = (
        f"{bags} bags, {located} with instance truth; evenness of the attention {even}; area of random orders {random}"
    )
    return "\n".join([*shown, said])
