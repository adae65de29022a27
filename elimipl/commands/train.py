"""Train a model on a bag data set and write its two files: weights, and a card with what held-out bags tell.

Several processes train one model together: torchrun --nproc_per_node=N -m elimipl train …; a step's bags are divided
between them, so that the model is the same.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType

from bag_generators.base.errors import InputError
from bag_generators.base.storage import check_writable
from elimipl.cards.card import check_generator, check_id
from elimipl.cards.finish import Finished, finish, measure_on
from elimipl.commands import STOPPED, arguments
from elimipl.datasets.dataset import BagDataset
from elimipl.training.loop import fit
from elimipl.training.reports import EpochReport
from elimipl.training.splits import stratified_splits
from elimipl.training.team import Part, first_of_machine, joined


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `train` asks for."""
    arguments.add_data(parser)
    arguments.add_candidates(parser)
    arguments.add_settings(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to put the model's files")
    parser.add_argument("--id", default="", help="name of the model (default: label space, generator and method)")
    parser.add_argument(
        "--held-out",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="share of the bags to measure and calibrate on instead of training; 0 for none (default .2)",
    )
    parser.add_argument("--test", type=Path, metavar="DATA", help="measure on these bags; the others only calibrate")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="keep the state of the training here")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--amp", action="store_true", help="multiply bfloat16 numbers where the network is wide")
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Fit, measure, save. Ctrl-C ends after the running epoch and keeps the checkpoint."""
    try:
        with joined(args.device) as (part, device):
            return _run(args, part, device)
    except InputError:
        if first_of_machine():
            raise
        return 2  # what is wrong is said once


def _run(args: argparse.Namespace, part: Part, device: str) -> int:
    """`run` in one of several processes, of which only the first writes and speaks."""
    leads = part.rank == 0
    if args.resume and args.checkpoint is None:
        raise InputError("There is no checkpoint to resume from.", "Name its file with --checkpoint.")
    config = arguments.config_from(args)
    if args.amp:
        config = config.replace(amp=True)
    if args.id:
        check_id(args.id)
    candidates = arguments.candidates_from(args)
    dataset = candidates.given_to(arguments.load_data(args.data))
    training, held_out = _divided(dataset, args.held_out, config.seed)
    test = None if args.test is None else _test_bags(args.test, training, held_out)
    check_generator(training.generator)
    if leads:
        check_writable(args.out / "model", "The model")
    args.quiet |= not leads
    with (
        arguments.progress_bar(args, config.epochs, config.method, "epoch") as bar,
        _stop_request(part.size > 1) as stop,
    ):

        def on_epoch(report: EpochReport) -> None:
            bar.set_postfix(_numbers(report), refresh=False)
            bar.update(report.epoch - bar.n)

        fitted = fit(
            training,
            config,
            held_out=held_out,
            on_epoch=on_epoch if leads else None,
            should_stop=stop.is_set,
            checkpoint=args.checkpoint,
            resume=args.resume,
            device=device,
        )
    if not leads:
        return STOPPED if fitted.stopped else 0
    if fitted.unsaved is not None:
        print(f"{fitted.unsaved} The training itself went on.", file=sys.stderr)
    if fitted.stopped:
        further = "Go on with --resume." if args.checkpoint else "No model was written."
        print(f"Stopped after epoch {len(fitted.history)} of {config.epochs}. {further}")
        return STOPPED
    finished = finish(
        fitted,
        training,
        candidates,
        created_by="python -m elimipl train",
        held_out=held_out,
        measured=None if test is None or held_out is None else measure_on(fitted, held_out, test=test),
        model_id=args.id,
    )
    path, accuracy = _saved(finished, args.out), finished.card.accuracy
    measured_on = "held-out bags" if test is None else "test bags"
    said = "nothing held out" if accuracy is None else f"accuracy {accuracy.value:.3f} on {accuracy.n} {measured_on}"
    print(f"{path}: {finished.card.id}, {said}.")
    return 0


def _saved(finished: Finished, folder: Path) -> Path:
    """Where the card was written; the folder for temporary files when its own can't be written any more."""
    try:
        return finished.save(folder)
    except InputError as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="elimipl-"))
        try:
            path = finished.save(elsewhere)
        except InputError:
            shutil.rmtree(elsewhere, ignore_errors=True)
            raise error from None
        print(f"{error} It was saved elsewhere: move it from there.", file=sys.stderr)
        return path


def _divided(dataset: BagDataset, share: float, seed: int) -> tuple[BagDataset, BagDataset | None]:
    """The bags to train on and those to measure on; copies of one picture stay together."""
    if share == 0:
        return dataset, None
    if not 0 < share < 1:
        raise InputError(f"A share of {share:g} can't be held out.", "Give a number from 0 to 1, such as .2.")
    if (dataset.labels < 0).any():
        raise InputError("Some bags have no true label to measure on.", "Train on all of them with --held-out 0.")
    train, test = stratified_splits(dataset.labels, 1, 1 - share, seed, dataset.groups)[0]
    return dataset.subset(train), dataset.subset(test)


def _test_bags(path: Path, training: BagDataset, held_out: BagDataset | None) -> BagDataset:
    """Bags of another data set to measure on, refused where the model could not read them."""
    if held_out is None:
        raise InputError("Nothing is held out to calibrate on.", "Leave out --held-out 0, or leave out --test.")
    test = arguments.load_data(path)
    if (test.dim, test.generator, test.label_space) != (training.dim, training.generator, training.label_space):
        raise InputError(
            f"The bags in “{path}” are of another generator or other classes than those to train on.",
            "Make both with the same command.",
        )
    return test


def _numbers(report: EpochReport) -> dict[str, str]:
    held_out = report.held_out_accuracy
    shown = {"loss": f"{report.losses['total']:.3f}"}
    return shown if held_out is None else {**shown, "held_out": f"{held_out:.3f}"}


@contextmanager
def _stop_request(with_others: bool) -> Iterator[Event]:
    """An event that the first Ctrl-C sets; the second one interrupts as usual.

    With other processes all of them end after the same epoch, and the second one is torchrun passing on the first.
    """
    asked = Event()

    def ask(_signal: int, _frame: FrameType | None) -> None:
        asked.set()
        if not with_others:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
