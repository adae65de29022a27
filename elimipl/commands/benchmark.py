"""Run the paper's comparison on the data at hand, cell by cell; stop it when you like, it goes on where it was.

Split 0 of every cell comes before split 1 of any, cheap cells first. Each split runs in a process of its own. Results
go to benchmark.json after each split, tables to benchmark.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bag_generators.base.assets import WORK
from bag_generators.base.errors import InputError
from elimipl.benchmark.cells import DATA, SINCE, SPLITS, VIEWS, Cell
from elimipl.benchmark.records import FILE, Records
from elimipl.benchmark.report import tables_of_views, write_report
from elimipl.benchmark.sources import USUAL_FOLDERS, DataFolders, Shelf, available
from elimipl.benchmark.tasks import Session, to_do
from elimipl.commands import STOPPED, arguments
from elimipl.methods import METHODS
from elimipl.model.device import resolve_device

_REPORT_EVERY = 20.0  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `benchmark` asks for."""
    tables = [id_.removeprefix("table ") for id_ in VIEWS if id_.startswith("table ")]
    parser.add_argument("--table", action="append", choices=tables, default=[], help="a table of the paper")
    parser.add_argument("--figure", action="append", choices=["4"], default=[], help="a figure of the paper")
    parser.add_argument("--only", nargs="+", metavar="DATA", help=f"leave other data sets out ({', '.join(DATA)})")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"leave other methods out ({', '.join(METHODS)})")
    parser.add_argument("--r", nargs="+", type=int, metavar="N", help="leave other numbers of false positives out")
    parser.add_argument("--splits", type=int, default=SPLITS, metavar="N", help=f"splits of each cell, 1 to {SPLITS}")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of the raw data (default: data)")
    parser.add_argument("--mat", type=Path, metavar="FOLDER", help="folder of the authors' .mat files, run as well")
    parser.add_argument(
        "--results", type=Path, default=WORK / "benchmarks" / "results", metavar="FOLDER", help="folder of the results"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="splits side by side")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, mps or auto")
    parser.add_argument("--show", action="store_true", help="print the tables of what has been run, and run nothing")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Run what is missing; exit code 1 when a split failed or a cell had to be skipped, each with a sentence."""
    wanted = _wanted(args)
    if args.show:
        print(tables_of_views(Records(args.results / FILE), _views(args)))
        return 0
    folders = DataFolders((args.data, *USUAL_FOLDERS) if args.data else USUAL_FOLDERS, args.mat)
    cells, missing = available(wanted, folders)
    for reason in missing:
        print(f"{reason} Its cells are skipped.", file=sys.stderr)
    if not cells:
        raise InputError("Nothing of what was asked for can be run.", "Ask for other cells, or get the data.")
    records, report = Records(args.results / FILE), args.results / "benchmark.md"
    tile_bar = arguments.StepBar(args, "tile")
    session = Session(
        records, Shelf(folders, lambda done, total: tile_bar("bags", done, total)), args.workers, args.device
    )
    todo, every = to_do(cells, args.splits, records), len(cells) * args.splits
    written = time.monotonic()
    with arguments.progress_bar(args, every, "benchmark", "split") as bar:
        bar.update(every - len(todo))
        try:
            for task, _ in session.run(todo):
                bar.set_postfix_str(task.cell.name, refresh=False)
                bar.update()
                if time.monotonic() > written + _REPORT_EVERY:
                    write_report(records, report)
                    written = time.monotonic()
        except KeyboardInterrupt:
            print("Stopped. The same command goes on from here.", file=sys.stderr)
            return STOPPED
        finally:
            tile_bar.close()
            write_report(records, report)
    for problem in session.problems:
        print(problem, file=sys.stderr)
    print(tables_of_views(records, _views(args)))
    print(f"The tables are in {report}.")
    return 1 if session.problems else 0


def _wanted(args: argparse.Namespace) -> list[Cell]:
    """The cells asked for, each once; what can't be meant is refused."""
    views = _views(args)
    if not views:
        raise InputError("Nothing was asked for.", "Give --table 2, 3, 4 or 5, or --figure 4.")
    if not 1 <= args.splits <= SPLITS:
        raise InputError(f"{args.splits} splits can't be run.", f"Ask for 1 to {SPLITS}.")
    if args.workers < 1:
        raise InputError(f"{args.workers} workers can't do anything.", "Ask for at least 1.")
    _known("data set", args.only, DATA)
    _known("method", args.methods, METHODS)
    for folder in (args.data, args.mat):
        if folder is not None and not folder.is_dir():
            raise InputError(f"There is no folder “{folder}”.", "Check the name.")
    resolve_device(args.device)
    added = [name for name in (*SINCE, *METHODS.added) if name in (args.methods or ())]
    cells = [cell for view in views for cell in VIEWS[view].cells(added)]
    return [
        cell
        for cell in dict.fromkeys(cells)
        if (args.mat is not None or not cell.data.startswith("authors-"))
        and (args.only is None or cell.data in args.only)
        and (args.methods is None or cell.method in args.methods)
        and (args.r is None or cell.r in args.r)
    ]


def _views(args: argparse.Namespace) -> list[str]:
    return [*(f"table {number}" for number in args.table), *(f"figure {number}" for number in args.figure)]


def _known(what: str, names: Sequence[str] | None, all_names: Iterable[str]) -> None:
    for name in names or ():
        if name not in all_names:
            raise InputError(f"There is no {what} “{name}”.", f"Choose from: {', '.join(all_names)}.")
