"""The command line: one file per command, each with `add_arguments(parser)` and `run(args) → exit code`.

Exit codes: 0 all well, 1 some of many failed (each is named), 2 nothing was done (one sentence on stderr says
why), 130 stopped by the person. `python -X dev -m elimipl …` shows the traceback of a failure.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

COMMANDS = {
    "app": "start the app and say where to open it",
    "bags": "turn a folder of class folders into a bag data set",
    "train": "train a model on a bag data set",
    "evaluate": "measure a method by repeated random splits, as the paper does",
    "benchmark": "run the paper's comparison: every method, every table",
    "models": "list the trained models",
    "predict": "classify pictures and say whether to trust the answer",
    "map": "map a whole slide: classes, areas in mm², outlines for QuPath",
    "replay": "get a result of Explore again and compare every number",
    "doctor": "check this computer and say how to fix what is wrong",
    "fetch": "get real tissue tiles from the internet",
}
PROGRAM = "python -m elimipl"
STOPPED = 130


class SentenceParser(argparse.ArgumentParser):
    """An argument parser that refuses with one sentence instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. Run “{self.prog} --help” to see what can be given.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; whatever goes wrong ends in a sentence and an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has no ± is no reason to fail
    try:
        return _run(given)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # Whoever read our output has enough; Python would complain again when it flushes on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        print(_sentence(error), file=sys.stderr)
        return 2


def _run(given: Sequence[str]) -> int:
    if not given or given[0] not in COMMANDS:
        return _without_command(given)
    # Only the chosen command is imported: the doctor has to work where torch or OpenCV are broken.
    command = import_module(f"{__name__}.{given[0]}")
    parser = SentenceParser(prog=f"{PROGRAM} {given[0]}", description=command.__doc__)
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(given[1:])))


def _without_command(given: Sequence[str]) -> int:
    listed = "\n".join(f"  {name:<10}{summary}" for name, summary in COMMANDS.items())
    parser = SentenceParser(
        prog=PROGRAM,
        description="Multi-instance partial-label learning on colorectal tissue, from the command line.",
        epilog=f"commands:\n{listed}\n\n“{PROGRAM} COMMAND --help” tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.parse_args(given)
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"A part of the program can't be loaded ({error}). Run “{PROGRAM} doctor” to see what is missing."
    from bag_generators.base.errors import InputError

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "This computer has too little memory for that. Give fewer or smaller bags."
    if isinstance(error, OSError):
        return f"The system refused: {error}. Check the file, its rights and the space left."
    kind = type(error).__name__
    return f"This is a fault of the program ({kind}: {error}). Run it with “python -X dev” and report what it says."
