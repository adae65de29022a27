"""Tasks on the workers of a Dask scheduler, with the promises of our own pool.

One machine needs none of it: `bag_generators.base.pool` starts faster and is faster there. Here the workers may be
anywhere that sees the same files under the same paths and has the same versions installed.
"""

from __future__ import annotations

import logging
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from bag_generators.base.errors import InputError
from bag_generators.base.pool import number_of_workers

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL = "local"
"""In place of an address: start a scheduler and workers on this machine, for as long as the work takes."""
_AT_ONCE = 512  # tasks that the scheduler knows of: bounds its memory, feeds as many workers
_SECONDS_TO_CONNECT = 15
_SECONDS_BETWEEN_LOOKS = 15
_LOOKS_WITHOUT_WORKERS = 8
# What the numbers depend on.
_PACKAGES = ("elimipl-pathology", "numpy", "opencv-python-headless", "Pillow", "PyWavelets", "scipy", "torch")


class LostTaskError(Exception):
    """A task took its worker with it as often as the scheduler allows, or its workers were killed meanwhile."""


@contextmanager
def connected(scheduler: str, workers: int | None = None) -> Iterator[Any]:
    """A Dask client of the scheduler at an address such as tcp://host:8786; `LOCAL` starts one with so many workers."""
    distributed = _distributed()
    with ExitStack() as stack:
        if scheduler == LOCAL:
            address: Any = stack.enter_context(local_cluster(number_of_workers(workers, 2**31)))
        elif workers is not None:
            raise InputError(
                "The number of workers is that of the scheduler.", f"Leave out --workers, or use --scheduler {LOCAL}."
            )
        else:
            address = scheduler
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False))
        except (OSError, ValueError):  # TimeoutError is an OSError
            raise InputError(
                f"There is no Dask scheduler at “{scheduler}”.",
                f"Give its address, such as tcp://host:8786, or “{LOCAL}” to start one here.",
            ) from None
        yield client


def on_cluster(
    client: Any, function: Callable[..., Result], tasks: Iterable[Task], *, shared: tuple[Any, ...] = ()
) -> Iterator[tuple[Task, Result | LostTaskError]]:
    """Yield (task, function(*shared, task)) for every task as it ends; a `LostTaskError` stands for one that is lost.

    `function` stands at the top level of a module. A worker that dies costs time: the scheduler gives its tasks to
    others, and a task that was with several workers that died has a last chance, alone, at the end. An `InputError` of
    the function is raised here, and so is one where a worker lacks the program or has other versions of what the
    numbers depend on; so is one where all workers have gone for two minutes.
    """
    killed = _distributed().KilledWorker
    waiting = iter(tasks)
    versions = _versions()
    ended: SimpleQueue[Any] = SimpleQueue()

    def submit(task: Task) -> Any:
        future = client.submit(_answer, versions, function, shared, task, pure=False)
        future.add_done_callback(ended.put)  # `distributed.wait` leaves something behind for all that have not ended
        return future

    given = {submit(task): task for task in islice(waiting, _AT_ONCE)}
    lost: list[Task] = []
    has_workers = bool(client.nthreads())
    while given:
        future = _next_of(ended, client, has_workers)
        has_workers = True
        task = given.pop(future)
        result = _result_of(future, killed)
        given |= {submit(following): following for following in islice(waiting, 1)}
        if isinstance(result, LostTaskError):
            lost.append(task)  # perhaps it was only near another that kills
        else:
            yield task, result
    for task in lost:
        submit(task)
        yield task, _result_of(_next_of(ended, client, has_workers), killed)


def _next_of(ended: SimpleQueue[Any], client: Any, seen: bool) -> Any:
    """The next that has ended. Workers may come late, but when those once `seen` have gone nobody will ever answer."""
    without = 0
    while True:
        with suppress(Empty):
            return ended.get(timeout=_SECONDS_BETWEEN_LOOKS)
        there = bool(client.nthreads())
        seen, without = seen or there, 0 if there else without + 1
        if seen and without >= _LOOKS_WITHOUT_WORKERS:
            raise InputError(
                "The workers of the cluster have gone.", "Start them and run it again: what is done is kept."
            )


def _result_of(future: Any, killed: type[Exception]) -> Any:
    try:
        return future.result()
    except InputError:
        raise
    except killed:
        return LostTaskError()
    except ImportError as error:
        raise InputError(
            f"A worker of the cluster can't load this program ({error}).",
            "Install the same versions on every worker (pip install -r requirements.txt).",
        ) from None


def _answer(versions: dict[str, str], function: Callable[..., Result], shared: tuple[Any, ...], task: Task) -> Result:
    """The function's answer on a worker, refused where its numbers might be others than here."""
    for name, own in _versions().items():
        if own != versions[name]:
            raise InputError(
                f"The worker on {socket.gethostname()} has {name} {own}, the computer that asks has {versions[name]}.",
                "Install the same versions on every worker (pip install -r requirements.txt).",
            )
    return function(*shared, task)


@cache
def _versions() -> dict[str, str]:
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "from its folder"
    return found


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A Dask cluster of processes of this machine, which no other machine can reach and which shows no dashboard.

    Dask runs what it is sent, so scheduler and workers listen only to those who hold a certificate that is made here
    and thrown away. No other program of this machine does.

    A worker that dies always comes back. Left to itself, Dask looks 15 s after a death whether the worker is there
    again and gives it up for good when it is not, also where that is because it has died once more since; a picture
    that kills every worker so leaves a cluster without any.
    """
    import dask
    from distributed import LocalCluster

    settings = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.deploy.lost-worker-timeout": "365 days",
    }
    with (
        tempfile.TemporaryDirectory(prefix="elimipl-dask-") as scratch,
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            protocol="tls://",
            security=_distributed().Security.temporary(),
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            local_directory=scratch,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _distributed() -> Any:
    try:
        import cryptography  # noqa: F401 — Dask makes the certificates of a local cluster with it
        import distributed
    except ImportError:
        raise InputError(
            "Dask is not installed.", "Run “pip install 'elimipl-pathology[cluster]'”, or leave out --scheduler."
        ) from None
    return distributed
