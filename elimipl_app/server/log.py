"""What the app did, as one JSON object per line on stderr: what, for which picture and model, how long, how it ended.

A picture is named by the first twelve digits of its sha256, a place in the code by its module and function. Nothing a
person typed or uploaded is written: no pixels, no file names, no labels, no texts of errors (they may quote a name).
"""

import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bag_generators import GENERATORS, InputError
from bag_generators.base.assets import INSTALLED, PROJECT
from elimipl.cards.card import Card
from elimipl.jobs import Job

OK, REFUSED, FAULT = "ok", "refused", "fault"
_OWN_CODE = {"app.py", "pages", "bag_generators", "elimipl", "elimipl_app"}
_ROOTS = (PROJECT, Path(__file__).resolve().parents[2])  # the same folder, unless the package was installed
_OWN_MODEL = "mine-"  # what the ids of visitors' models begin with; the rest is made of their own label spaces


class _JsonLines(logging.Formatter):
    """The facts of a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return json.dumps({"time": f"{when}.{int(record.msecs):03d}Z", "event": record.msg, **record.__dict__["facts"]})


class _Stderr(logging.StreamHandler):
    """Writes to what `sys.stderr` is now, not to what it was when the app started."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _make_logger() -> logging.Logger:
    logger = logging.getLogger("elimipl.app")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if not logger.handlers:
        handler = _Stderr()
        handler.setFormatter(_JsonLines())
        logger.addHandler(handler)
    return logger


_logger = _make_logger()


def log_event(event: str, outcome: str = OK, **facts: str | int | float) -> None:
    """Write one line. Facts are numbers, or words of the program's own."""
    _logger.info(event, extra={"facts": {**facts, "outcome": outcome}})


@contextmanager
def timed(event: str, **facts: str | int | float) -> Iterator[None]:
    """Write one line when the block ends: its milliseconds, and whether it was done, refused or went wrong."""
    start = time.perf_counter()

    def log_outcome(outcome: str, **more: str) -> None:
        log_event(event, outcome, **facts, ms=round(1000 * (time.perf_counter() - start), 1), **more)

    try:
        yield
    except InputError as error:
        log_outcome(REFUSED, where=raised_in(error))
        raise
    except Exception as error:
        log_outcome(FAULT, kind=type(error).__name__, where=raised_in(error))
        raise
    log_outcome(OK)


def log_job(event: str, job: Job[Any], **facts: str | int | float) -> None:
    """Write one line on how a job in the background ended."""
    if job.fault is None:
        log_event(event, job.progress.state, **facts)
    elif isinstance(job.fault, InputError):
        log_event(event, REFUSED, **facts, where=raised_in(job.fault))
    else:
        log_event(event, FAULT, **facts, kind=type(job.fault).__name__, where=raised_in(job.fault))


def picture_name(sha256: str) -> dict[str, str]:
    """A picture as a fact of a line."""
    return {"image": sha256[:12]}


def model_name(card: Card) -> dict[str, str]:
    """A model and its generator as facts of a line; visitors' own are named by their sha256."""
    name = f"{_OWN_MODEL}{card.sha256[:12]}" if card.id.startswith(_OWN_MODEL) else card.id
    return {"generator": card.generator if card.generator in GENERATORS else "other", "model": name}


def raised_in(error: BaseException) -> str:
    """The innermost place in this project's code that raised the error, such as bag_generators.image._decode:120."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = Path(frame.f_code.co_filename)
        for inner in (path.relative_to(root) for root in _ROOTS if path.is_relative_to(root)):
            if inner.parts[0] in _OWN_CODE if INSTALLED else ".venv" not in inner.parts:
                return f"{'.'.join(inner.with_suffix('').parts)}.{frame.f_code.co_name}:{line}"
    return "elsewhere"
