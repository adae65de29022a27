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
from bag_generators.registry import generate, register_again


class Outcome(NamedTuple):
    """What became of one file: a bag with the loader's notes, or the reason why not."""

    result: Bag | InputError
    notes: tuple[str, ...] = ()


def outcome_of(name: str, path: str | PathLike[str], params: dict[str, Any]) -> Outcome:
    """Load one picture and make its bag."""
    try:
        image = load(path)
        return Outcome(generate(name, image, **params), image.notes)
    except InputError as refusal:
        return Outcome(refusal)


def serve(pipe: int) -> None:
    """Say that we are ready (None), take the job (recipe, params), then answer each path until the caller hangs up.

    A mistake of ours is answered with its traceback, to be raised where the caller can see it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's to handle: it ends its workers
    cv2.setNumThreads(0)
    with Connection(pipe) as connection, suppress(EOFError, ConnectionError):
        connection.send(None)
        recipe, params = connection.recv()
        name = register_again(recipe)
        while True:
            path = connection.recv()
            try:
                connection.send(outcome_of(name, path, params))
            except ConnectionError:
                raise
            except Exception:
                connection.send(traceback.format_exc())
