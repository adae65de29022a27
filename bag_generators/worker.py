"""One process of `generate_many`: paths come in through a pipe, bags go out."""

import signal
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from os import PathLike
from typing import Any, NamedTuple

import cv2

from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.image import load
from bag_generators.registry import generate
from bag_generators.tissue.quality import Quality, measure


class Outcome(NamedTuple):
    """What became of one file: a bag with the loader's notes, or the reason why not."""

    result: Bag | InputError
    notes: tuple[str, ...] = ()
    quality: Quality | None = None
    """The pixel measures of the picture, where it could be used."""


def outcome_of(name: str, path: str | PathLike[str], params: dict[str, Any], with_quality: bool) -> Outcome:
    """Load one picture and make its bag; measure its pixels too where that is asked for."""
    try:
        image = load(path)
        return Outcome(generate(name, image, **params), image.notes, measure(image) if with_quality else None)
    except InputError as refusal:
        return Outcome(refusal)


def serve(pipe: int) -> None:
    """Say that we are ready (None), take the job, then answer each path until the caller hangs up.

    The job is the generator, its parameters and whether to measure the pixels too. A mistake of ours is answered with
    its traceback, to be raised where the caller can see it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's to handle: it ends its workers
    cv2.setNumThreads(0)
    with Connection(pipe) as connection, suppress(EOFError, ConnectionError):
        connection.send(None)
        name, params, with_quality = connection.recv()
        while True:
            path = connection.recv()
            try:
                connection.send(outcome_of(name, path, params, with_quality))
            except ConnectionError:
                raise
            except Exception:
                connection.send(traceback.format_exc())
