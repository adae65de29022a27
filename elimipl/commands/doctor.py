"""Check this computer: packages, models, samples, space, device. Every finding that is not PASS says what to do."""

from __future__ import annotations

import argparse
from pathlib import Path

from elimipl.doctor import FAIL, examine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `doctor` asks for."""
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")


def run(args: argparse.Namespace) -> int:
    """Print the findings as they come; exit code 1 when one is FAIL."""
    failed = False
    for check in examine(args.folder):
        print(check, flush=True)
        failed |= check.status == FAIL
    return 1 if failed else 0
