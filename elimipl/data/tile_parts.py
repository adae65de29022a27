"""Some pictures become one part of a sharded data set, by whichever process does it."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bag_generators import Bag, InputError, shards
from bag_generators.generator import Recipe
from bag_generators.mapped_rows import TENSOR
from bag_generators.parallel import BAGS_ONLY, crashed, outcome_of
from bag_generators.pool import ProcessDiedError, Standby
from bag_generators.registry import register_again

PICTURES_A_PART = 128
"""What a worker that dies can lose, and what one waits for."""
BESIDE = ("keys", "sizes", "image_sha256")
"""The small tensors of a part, one row for each bag."""


class Picture(NamedTuple):
    """A picture by its name below the folder, and the key under which its bag is found again."""

    name: str
    key: int


Refused: TypeAlias = tuple[str, InputError]
"""The name of a picture and why it gave no bag."""


class _Numbers(NamedTuple):
    """What a data set keeps of a bag."""

    features: np.ndarray
    image_sha256: str


def _own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("BAG_GENERATORS_")}


@dataclass(frozen=True)
class PartJob:
    """What all parts of a data set share."""

    folder: Path
    out: Path
    recipe: Recipe
    params: dict[str, Any]
    described: dict[str, Any]
    environment: dict[str, str] = field(default_factory=_own_environment)
    """What was chosen for the generators here, such as the device, holds on every worker."""


def write_part(
    out: Path, described: dict[str, Any], pictures: Sequence[Picture], bags: Sequence[Bag | _Numbers]
) -> None:
    """Write the bags of some pictures as one part; none, when there are no bags."""
    if not bags:
        return
    digests = b"".join(bytes.fromhex(bag.image_sha256) for bag in bags)
    tensors = {
        TENSOR: np.concatenate([bag.features for bag in bags]),
        "keys": np.array([picture.key for picture in pictures], np.uint64),
        "sizes": np.array([len(bag.features) for bag in bags], np.int64),
        "image_sha256": np.frombuffer(digests, np.uint8).reshape(-1, 32),
    }
    shards.write_part(out, tensors, described)


def make_part(job: PartJob, pictures: tuple[Picture, ...]) -> list[Refused]:
    """Make and write one part on a worker of a cluster; says which pictures gave no bag.

    The pictures are read in a process of their own, so that one that crashes a library doesn't end the worker: then
    they are read again one at a time, and the one that did it has its reason.
    """
    for folder in (job.folder, job.out):
        if not folder.is_dir():
            raise InputError(
                f"The worker on {socket.gethostname()} does not see the folder “{folder}”.",
                "Give every worker the same files under the same paths.",
            )
    try:
        outcomes = _reader().ask((job, pictures))
    except ProcessDiedError:
        outcomes = [_alone(job, picture) for picture in pictures]
    pairs = list(zip(pictures, outcomes, strict=True))
    made = [(picture, bag) for picture, bag in pairs if isinstance(bag, _Numbers)]
    write_part(job.out, job.described, [picture for picture, _ in made], [bag for _, bag in made])
    return [(picture.name, refusal) for picture, refusal in pairs if isinstance(refusal, InputError)]


def bags_of(task: tuple[PartJob, tuple[Picture, ...]]) -> list[_Numbers | InputError]:
    """The bags of some pictures, or the reasons why not."""
    job, pictures = task
    os.environ.update(job.environment)
    name = register_again(job.recipe)
    results = [outcome_of(name, job.params, BAGS_ONLY, job.folder / picture.name).result for picture in pictures]
    # The regions of a bag can be larger than its numbers; they stay here.
    return [_Numbers(one.features, one.image_sha256) if isinstance(one, Bag) else one for one in results]


def _alone(job: PartJob, picture: Picture) -> _Numbers | InputError:
    try:
        (outcome,) = _reader().ask((job, (picture,)))
    except ProcessDiedError:
        return crashed()
    result: _Numbers | InputError = outcome
    return result


_of_this_thread = threading.local()


def _reader() -> Standby:
    """The reading process of this thread: a worker may have several threads, and a process answers one at a time."""
    if not hasattr(_of_this_thread, "reader"):
        _of_this_thread.reader = Standby(bags_of)
    reader: Standby = _of_this_thread.reader
    return reader
