"""The command line called from tests."""

from pathlib import Path

from elimipl.commands import main

ROOT = Path(__file__).resolve().parents[3]
QUICK = ["--epochs", "4", "--hidden", "8", "--batch", "8", "--device", "cpu", "--quiet"]


def run(*arguments):
    """The exit code, also where argparse ends the program itself."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def is_one_sentence_or_two(text):
    return len(text.strip().splitlines()) == 1 and text.strip().endswith(".") and "Traceback" not in text
