"""Rebuild the paper's benchmark table: `make reproduce`. Stop it when you like, it goes on where it was.

Ten random splits for each of 18 cells: ELIMIPL and DEMIPL on Birdsong-, MNIST- and FMNIST-MIPL with one to three
false positive labels. Birdsong takes minutes, the pictures take hours on a CPU. Split 0 of every cell comes before
split 1 of any, so that a table of fewer splits is complete, too.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bag_generators.errors import InputError
from benchmarks.reproduction.cells import DATA_SEED, SPLITS, Cell, study_cells, table_cells
from benchmarks.reproduction.records import Records
from benchmarks.reproduction.report import write_report
from benchmarks.reproduction.sources import ROOT, SOURCES, bags_of, find
from elimipl.protocol import SplitResult, evaluate, stratified_splits

_CELLS = {"table": table_cells, "study": study_cells}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing in the results file; write the report again after each split."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.workers < 1:
        parser.error("--workers needs a number from 1.")
    try:
        _run(args)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return 130
    return 0


def _run(args: argparse.Namespace) -> None:
    records = Records(args.results / "reproduction.json")
    report = args.results / "reproduction.md"
    available = _available(args.only or list(SOURCES), args.data)
    cells = [cell for cell in _CELLS[args.cells]() if cell.data in available]
    done = sum(split < args.splits for cell in cells for split in records.finished(cell))
    with tqdm(total=len(cells) * args.splits, initial=done, unit="split") as bar:
        for cell, end in _in_order(cells, args.splits, args.workers):
            bar.set_description(cell.name)
            _run_until(records, cell, end, args, bar.update)
            write_report(records, report)
    write_report(records, report)
    print(f"The table is in {report}.")


def _run_until(
    records: Records, cell: Cell, end: int, args: argparse.Namespace, on_split: Callable[[], object]
) -> None:
    """Run the splits below `end` that are not finished, side by side."""
    finished = {split: result for split, result in records.finished(cell).items() if split < end}
    if len(finished) == end:
        return
    config, dataset = cell.config(), bags_of(cell, args.data)
    records.check(cell, config, dataset)

    def keep(result: SplitResult) -> None:
        records.add(cell, config, dataset, result)
        on_split()

    evaluate(
        dataset,
        config,
        stratified_splits(dataset.labels, SPLITS, seed=DATA_SEED)[:end],
        workers=args.workers,
        on_split=keep,
        done=finished,
        device=args.device,
    )


def _in_order(cells: Sequence[Cell], splits: int, workers: int) -> Iterator[tuple[Cell, int]]:
    """Cells and how many of their splits to finish: Birdsong first, because it is cheap; then round by round."""
    for cheap in (True, False):
        for begin in range(0, splits, workers):
            for cell in cells:
                if (cell.data == "birdsong") == cheap:
                    yield cell, min(begin + workers, splits)


def _available(names: Sequence[str], folder: Path) -> set[str]:
    """The data sets whose raw data is there; of the others it says how to get them."""
    found = set()
    for name in names:
        try:
            find(name, folder)
            found.add(name)
        except InputError as error:
            print(f"{error} Its cells are skipped.", file=sys.stderr)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the raw data (default: data)")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/results", help="folder of the results")
    parser.add_argument("--only", nargs="+", choices=list(SOURCES), help="leave the other data sets out")
    parser.add_argument("--splits", type=int, choices=range(1, SPLITS + 1), default=SPLITS, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="splits side by side")
    parser.add_argument(
        "--cells",
        choices=list(_CELLS),
        default="table",
        help="table: the paper's; study: other shares of positives",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda, mps or auto")
    return parser


if __name__ == "__main__":
    sys.exit(main())
