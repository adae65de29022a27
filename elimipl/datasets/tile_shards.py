"""A folder of class folders of any size → a sharded data set; on this machine or on a cluster, the same bits.

A rerun makes only what is missing: a bag is found again by the name, size and time of its picture and by the generator
with its parameters. Pictures that gave no bag are tried again.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bag_generators import Bag, InputError, TissueImage, generate, generate_many
from bag_generators.base import shards
from bag_generators.base.assets import program_version
from bag_generators.base.bag_file import plain_json
from bag_generators.base.mapped_rows import TENSOR, MappedRows
from bag_generators.base.pool import ProcessDiedError, Standby
from bag_generators.base.storage import only_writer
from bag_generators.generator import Generator
from bag_generators.parallel import BAGS_ONLY, Progress, crashed, outcome_of
from bag_generators.registry import recipe_of, register_again
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import LabelSpace
from elimipl.cluster.engine import LostTaskError, connected, on_cluster
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.tiles import list_tiles

PICTURES_A_PART = 128
"""What a worker that dies can lose, and what one waits for."""
_BESIDE = ("keys", "sizes", "image_sha256")
"""The small tensors of a part, one row for each bag."""


class TilePicture(NamedTuple):
    """A picture by its name below the folder, and the key under which its bag is found again."""

    name: str
    key: int


Refused: TypeAlias = tuple[str, InputError]
"""The name of a picture and why it gave no bag."""


class _Numbers(NamedTuple):
    features: np.ndarray
    image_sha256: str


@dataclass(frozen=True)
class ShardedTiles:
    """The data set, the pictures that could not be used with the reason for each, and how many were looked at."""

    dataset: BagDataset
    refused: tuple[Refused, ...]
    looked_at: int
    """0 where every bag was there already."""


def shards_from_tiles(
    folder: str | Path,
    out: str | Path,
    generator: str,
    *,
    label_space: LabelSpace | None = None,
    candidates: Candidates | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    source: str = "",
    licence: str = "",
    **params: Any,
) -> ShardedTiles:
    """Turn every picture into a bag of the sharded data set `out`; what `bags_from_tiles` makes, without keeping it.

    `scheduler` is the address of a Dask scheduler or “local”; without it the work is done by the pool with `workers`
    processes. Broken pictures are reported, and noted in the index. However it ends, the parts that are done stay.
    """
    plan = _Plan.of(Path(folder).absolute(), Path(out).absolute(), generator, params)
    shards.check_out(plan.out)
    names, labels, space = list_tiles(plan.folder, label_space)
    keys = plan.keys(names)
    with only_writer(plan.out / shards.INDEX, "The data set"):
        missing = np.flatnonzero(_bags_in(plan).of(keys) < 0)
        refused: dict[str, InputError] = {}
        done = len(names) - len(missing)
        for looked_at, refusals in _made(plan, _Pictures(names, keys, missing), scheduler, workers):
            done += looked_at
            refused |= refusals
            if progress is not None:
                progress(done, len(names))
        found = _bags_in(plan)
        places = found.of(keys)
        used = np.flatnonzero(places >= 0)
        if not len(used):
            name, error = next(iter(refused.items()))
            raise InputError(f"None of the {len(names)} pictures can be used; “{name}”: {error.what}", error.fix)
        chosen, truths = places[used], np.array(labels)[used]
        dataset = BagDataset(
            instances=found.rows(chosen, plan.dim),
            offsets=np.concatenate([[0], np.cumsum(found.sizes[chosen])]),
            candidates=truths[:, None] == np.arange(len(space)),
            labels=truths,
            label_space=space,
            generator=generator,
            params=plan.described["params"],
            groups=np.unique(found.image_sha256[chosen], axis=0, return_inverse=True)[1].reshape(-1),
            names=tuple(names[i] for i in used),
            source=source or plan.folder.name,
            licence=licence,
        )
        dataset = (candidates or Candidates()).given_to(dataset)
        failed = tuple((name, refused[name]) for name in names if name in refused)
        which, reasons = tuple(name for name, _ in failed), tuple(str(why) for _, why in failed)
        shards.write(plan.out, replace(dataset.as_file(), failed=which, reasons=reasons))
    return ShardedTiles(dataset, failed, len(missing))


@dataclass(frozen=True)
class _Plan:
    """What is to be made of which folder, here or on a worker of a cluster."""

    folder: Path
    out: Path
    generator: str
    params: dict[str, Any]
    dim: int
    described: dict[str, Any]
    """What stands in every part: bags made in another way don't belong here."""
    recipe: Generator | None
    """How other processes load the generator; None where they can't."""
    environment: dict[str, str]
    """What was chosen for the generators here, such as the device, holds on every worker."""

    @classmethod
    def of(cls, folder: Path, out: Path, generator: str, params: dict[str, Any]) -> _Plan:
        """A blank picture tells whether the generator and its parameters are right, and what its bags are like."""
        blank = generate(generator, TissueImage.from_array(np.full((64, 64, 3), 255, np.uint8)), **params)
        described = {"generator": generator, "params": plain_json(blank.params), "version": program_version()}
        environment = {name: value for name, value in os.environ.items() if name.startswith("BAG_GENERATORS_")}
        dim = blank.features.shape[1]
        return cls(folder, out, generator, params, dim, described, recipe_of(generator), environment)

    def keys(self, names: list[str]) -> np.ndarray:
        """A number for each picture, (m,) uint64: equal where the same bag would be made of the same file."""
        recipe = json.dumps(self.described, sort_keys=True)
        return np.fromiter((self._key(recipe, name) for name in names), np.uint64, len(names))

    def _key(self, recipe: str, name: str) -> int:
        facts = (self.folder / name).stat()
        said = f"{recipe}\n{name}\n{facts.st_size}\n{facts.st_mtime_ns}".encode("utf-8", "surrogateescape")
        return int.from_bytes(hashlib.sha256(said).digest()[:8], "little")


@dataclass(frozen=True)
class _Pictures:
    """Some of all pictures, by their numbers."""

    names: list[str]
    keys: np.ndarray
    chosen: np.ndarray

    def parts(self) -> Iterator[tuple[TilePicture, ...]]:
        """As many as one part holds at a time."""
        for start in range(0, len(self.chosen), PICTURES_A_PART):
            numbers = self.chosen[start : start + PICTURES_A_PART].tolist()
            yield tuple(TilePicture(self.names[number], int(self.keys[number])) for number in numbers)


class _Files(Sequence[Path]):
    """Their paths, made one at a time: all at once they would take more memory than everything else."""

    def __init__(self, folder: Path, pictures: _Pictures) -> None:
        self._folder, self._pictures = folder, pictures

    def __len__(self) -> int:
        return len(self._pictures.chosen)

    def __getitem__(self, number: Any) -> Any:
        return self._folder / self._pictures.names[self._pictures.chosen[number]]


class _Found(NamedTuple):
    """The K bags that lie in the parts of a folder."""

    paths: list[Path]
    keys: np.ndarray  # (K,) uint64
    part_of: np.ndarray  # (K,) int32
    starts: np.ndarray  # (K,) int64
    sizes: np.ndarray  # (K,) int64
    image_sha256: np.ndarray  # (K, 32) uint8

    def of(self, wanted: np.ndarray) -> np.ndarray:
        """The number of the bag with each of these keys, (m,) int64; −1 where there is none."""
        if not len(self.keys):
            return np.full(len(wanted), -1)
        order = np.argsort(self.keys, kind="stable")
        nearest = order[np.searchsorted(self.keys[order], wanted).clip(max=len(order) - 1)]
        return np.where(self.keys[nearest] == wanted, nearest, -1)

    def rows(self, chosen: np.ndarray, dim: int) -> MappedRows:
        """The instances of the bags with these numbers."""
        return MappedRows(self.paths, self.part_of[chosen], self.starts[chosen], self.sizes[chosen], dim)


def _bags_in(plan: _Plan) -> _Found:
    """What the parts of a folder hold; those of another generator or other parameters are refused."""
    paths: list[Path] = []
    columns: list[tuple[np.ndarray, ...]] = []
    for path in shards.part_paths(plan.out):
        if (part := shards.read_beside(path, _BESIDE)) is None:
            continue  # damaged: made again
        tensors, its_own = part
        if its_own != plan.described:
            raise InputError(
                f"“{plan.out.name}” holds bags of another generator, other parameters or another version of it.",
                "Choose another folder, or delete this one.",
            )
        sizes = tensors["sizes"]
        number = np.full(len(sizes), len(paths), np.int32)
        columns.append((tensors["keys"], number, np.cumsum(sizes) - sizes, sizes, tensors["image_sha256"]))
        paths.append(path)
    if not columns:
        none = np.empty(0, np.int64)
        return _Found([], none.astype(np.uint64), none, none, none, np.empty((0, 32), np.uint8))
    return _Found(paths, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def _made(
    plan: _Plan, missing: _Pictures, scheduler: str | None, workers: int | None
) -> Iterator[tuple[int, list[Refused]]]:
    """Make the bags that are missing, part by part; for each the number of its pictures and those it refused."""
    if not len(missing.chosen):
        return
    if scheduler is not None:
        if plan.recipe is None:
            raise InputError(
                f"Other processes can't load the generator “{plan.generator}”.",
                "Put it into a module, or use no scheduler.",
            )
        yield from _made_on_cluster(plan, missing.parts(), scheduler, workers)
        return
    results = generate_many(plan.generator, _Files(plan.folder, missing), workers, **plan.params)
    for part in missing.parts():
        made = [result for _, (_, result) in zip(part, results, strict=False)]
        yield len(part), _write_part(plan, part, made)


def _write_part(
    plan: _Plan, pictures: Sequence[TilePicture], made: Sequence[Bag | _Numbers | InputError]
) -> list[Refused]:
    """Write the bags of some pictures as one part, if there are any; the pictures that gave none."""
    pairs = list(zip(pictures, made, strict=False))
    bags = [(picture.key, bag) for picture, bag in pairs if not isinstance(bag, InputError)]
    if bags:
        digests = b"".join(bytes.fromhex(bag.image_sha256) for _, bag in bags)
        tensors = {
            TENSOR: np.concatenate([bag.features for _, bag in bags]),
            "keys": np.array([key for key, _ in bags], np.uint64),
            "sizes": np.array([len(bag.features) for _, bag in bags], np.int64),
            "image_sha256": np.frombuffer(digests, np.uint8).reshape(-1, 32),
        }
        shards.write_part(plan.out, tensors, plan.described)
    return [(picture.name, error) for picture, error in pairs if isinstance(error, InputError)]


def _made_on_cluster(
    plan: _Plan, parts: Iterable[tuple[TilePicture, ...]], scheduler: str, workers: int | None
) -> Iterator[tuple[int, list[Refused]]]:
    """A part that is lost with its workers is tried again in halves, until the picture that does it is alone."""
    with connected(scheduler, workers) as client:
        while True:
            halves: list[tuple[TilePicture, ...]] = []
            for part, result in on_cluster(client, make_part, parts, shared=(plan,)):
                if not isinstance(result, LostTaskError):
                    yield len(part), result
                elif len(part) == 1:
                    yield 1, [(part[0].name, crashed())]
                else:
                    halves += [part[: len(part) // 2], part[len(part) // 2 :]]
            if not halves:
                return
            parts = halves


def make_part(plan: _Plan, pictures: tuple[TilePicture, ...]) -> list[Refused]:
    """Make and write one part on a worker of a cluster; says which pictures gave no bag.

    The pictures are read in a process of their own, so that one that crashes a library doesn't end the worker: then
    they are read again one at a time, and the one that did it has its reason.
    """
    for folder in (plan.folder, plan.out):
        if not folder.is_dir():
            raise InputError(
                f"The worker on {socket.gethostname()} does not see the folder “{folder}”.",
                "Give every worker the same files under the same paths.",
            )
    # A worker may have several threads, and a process answers one at a time.
    if not hasattr(_of_this_thread, "reader"):
        _of_this_thread.reader = Standby(bags_of)
    made: list[_Numbers | InputError] = []
    try:
        made = _of_this_thread.reader.ask((plan, pictures))
    except ProcessDiedError:
        for picture in pictures:
            try:
                made += _of_this_thread.reader.ask((plan, (picture,)))
            except ProcessDiedError:
                made.append(crashed())
    return _write_part(plan, pictures, made)


def bags_of(task: tuple[_Plan, tuple[TilePicture, ...]]) -> list[_Numbers | InputError]:
    """The bags of some pictures, or the reasons why not."""
    plan, pictures = task
    os.environ.update(plan.environment)
    assert plan.recipe is not None
    name = register_again(plan.recipe)
    results = [outcome_of(name, plan.params, BAGS_ONLY, plan.folder / picture.name).result for picture in pictures]
    # The regions of a bag can be larger than its numbers; they stay here.
    return [_Numbers(one.features, one.image_sha256) if isinstance(one, Bag) else one for one in results]


_of_this_thread = threading.local()
