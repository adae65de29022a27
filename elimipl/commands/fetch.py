"""Get real tissue tiles (NCT-CRC-HE, CC BY 4.0) from Zenodo: a few of each class, or a whole set.

A few tiles cost a few megabytes. A whole set is 0.8 GB (CRC-VAL-HE-7K) or 11 GB (NCT-CRC-HE-100K); the same
command goes on where it broke off.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from elimipl.candidates.labels import TISSUE7
from elimipl.commands import arguments
from elimipl.datasets.fetch import DATASETS, LICENCE, ZENODO, fetch_tiles, fetch_whole, unpack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `fetch` asks for."""
    parser.add_argument("dataset", nargs="?", choices=DATASETS, default=DATASETS[0], metavar="DATASET",
                        help=f"{' or '.join(DATASETS)} (default: the first)")  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="gets one folder for each class")
    parser.add_argument("--per-class", type=int, default=10, metavar="N", help="tiles of each class (default 10)")
    parser.add_argument("--classes", nargs="+", metavar="CLASS", help="default: the seven; of a whole set, all")
    parser.add_argument("--seed", type=int, default=0, help="decides which tiles")
    parser.add_argument("--whole", action="store_true", help="fetch and unpack the whole set instead")
    parser.add_argument("--url", default=ZENODO, help="server to ask (default: Zenodo)")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Fetch, and say where the tiles are."""
    bar = arguments.StepBar(args)
    try:
        if args.whole:
            archive = fetch_whole(args.dataset, args.out, base_url=args.url, progress=bar)
            paths = unpack(archive, args.out, bar, args.classes)
        else:
            paths = fetch_tiles(
                args.dataset,
                args.per_class,
                args.out,
                classes=args.classes or TISSUE7.names,
                seed=args.seed,
                base_url=args.url,
                progress=bar,
            )
    finally:
        bar.close()
    print(f"{len(paths)} tiles of {args.dataset} ({LICENCE}) are in {args.out}.")
    return 0
