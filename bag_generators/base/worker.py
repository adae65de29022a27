"""One process of the pool: tasks come in through a pipe, answers go out."""

import os
import select
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from operator import attrgetter
from threading import Thread
from typing import Any

import cv2

from bag_generators.base.errors import InputError

_ANSWERED, _CALLER_GONE = 113, 114  # exit codes that no library uses


class Answer(Enum):
    """What a worker says; each comes with a value."""

    READY = "started, waiting for the job"
    RESULT = "what the function returned"
    REFUSED = "the InputError it raised"
    MISTAKE = "the traceback of anything else"
    DIED = "the exit code of the process that had the task"


def serve(pipe: int) -> None:
    """Say that we are ready, take the job (function, shared values, a process each?), then answer task after task."""
    cv2.setNumThreads(0)
    with Connection(pipe) as connection, suppress(EOFError, ConnectionError):
        connection.send((Answer.READY, None))
        try:
            name, shared, one_process_each = connection.recv()
            function = partial(imported(name), *shared)
            if one_process_each:
                _answer_in_copies(connection, function)
            _watch(connection)
            while True:
                _answer(connection, function)
        except (EOFError, ConnectionError):
            raise
        except Exception:
            connection.send((Answer.MISTAKE, traceback.format_exc()))


def imported(name: str) -> Any:
    """The function of a module:attribute."""
    module, _, qualname = name.partition(":")
    return attrgetter(qualname)(import_module(module))


def _answer(connection: Connection, function: Callable[[Any], Any]) -> None:
    task = connection.recv()
    answer: tuple[Answer, object]
    try:
        answer = Answer.RESULT, function(task)
    except InputError as refusal:
        answer = Answer.REFUSED, refusal
    except Exception:
        answer = Answer.MISTAKE, traceback.format_exc()
    connection.send(answer)


def _answer_in_copies(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Answer every task in a copy of this process, which has loaded the libraries and has no other thread."""
    while True:
        connection.poll(None)  # until there is a task, or nobody to work for
        copy = os.fork()
        if copy == 0:
            _answer_and_exit(connection, function)
        _, status = os.waitpid(copy, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == _CALLER_GONE:
            raise EOFError
        if code != _ANSWERED:
            connection.send((Answer.DIED, code))


def _answer_and_exit(connection: Connection, function: Callable[[Any], Any]) -> None:
    code = 1
    try:
        _watch(connection)
        _answer(connection, function)
        code = _ANSWERED
    except (EOFError, ConnectionError):
        code = _CALLER_GONE
    except Exception:
        connection.send((Answer.MISTAKE, traceback.format_exc()))
        code = _ANSWERED
    finally:
        os._exit(code)


def _watch(connection: Connection) -> None:
    """End this process when the caller has gone: a caller that was killed can't end it, and nobody needs the result."""

    def wait_for_hang_up() -> None:
        ends = select.poll()
        ends.register(connection.fileno(), 0)  # nothing but the end of the other side
        ends.poll()
        os._exit(_CALLER_GONE)

    Thread(target=wait_for_hang_up, daemon=True).start()
