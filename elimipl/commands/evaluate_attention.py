"""`evaluate --attention`: how far to trust explanations, of a model that exists or of one trained on each split."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bag_generators.validation import plain
from elimipl.cards.finish import finish
from elimipl.cards.trust import MethodTrust, Trust
from elimipl.commands import arguments
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.predictor import Predictor
from elimipl.training.loop import fit
from elimipl.training.splits import Split
from elimipl.trust import measure_trust


def run(args: argparse.Namespace, dataset: BagDataset, config: Config, splits: Callable[[], Sequence[Split]]) -> int:
    """Measure the model that was named on all bags, or a fresh one on the test bags of every split."""
    if args.model is not None:
        measured = [measure_trust(Predictor.load(args.model, args.folder), dataset, args.split_seed)]
    else:
        measured = list(_of_splits(args, dataset, config, splits()))
    print(json.dumps([plain(one) for one in measured], indent=2) if args.json else table(measured))
    return 0


def _of_splits(
    args: argparse.Namespace, dataset: BagDataset, config: Config, splits: Sequence[Split]
) -> Iterator[Trust]:
    with arguments.progress_bar(args, len(splits), config.method, "split") as bar:
        for train, test in splits:
            learned, unseen = dataset.subset(train), dataset.subset(test)
            fitted = fit(learned, config, device=args.device)
            finished = finish(fitted, learned, arguments.candidates_from(args), created_by="", held_out=unseen)
            yield measure_trust(finished.predictor, unseen, args.split_seed, "the test bags of a split")
            bar.update()


def table(measured: Sequence[Trust]) -> str:
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
