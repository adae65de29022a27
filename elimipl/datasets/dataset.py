"""The one container of bags: flat instances with offsets, candidate sets, labels; a safe file or folder on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.base import bag_file, shards
from bag_generators.base.errors import InputError
from bag_generators.base.mapped_rows import MappedRows
from elimipl.candidates.labels import LabelSpace, as_label_space

InstanceTable: TypeAlias = np.ndarray | MappedRows
"""(N, d) float32 instances in memory, or on disk and read where they are indexed."""
UNLABELLED = LabelSpace.of(
    ("one class", "another class"), id="unlabelled", source="bags that nobody has labelled; their classes are not known"
)
"""Stands in where a file has no label space, since a data set needs one: every label is −1, every class possible."""


def gathered(table: InstanceTable, chosen: np.ndarray, rows: Callable[[], np.ndarray]) -> np.ndarray:
    """The instances of the bags with these numbers, one bag after the other; `rows` says which rows those are."""
    return table.blocks(chosen) if isinstance(table, MappedRows) else table[rows()]


class LabelledBag(NamedTuple):
    """One bag of a data set."""

    features: np.ndarray  # (n, d) float32, read-only
    candidates: np.ndarray  # (k,) bool, read-only
    label: int  # −1 = unknown
    name: str


@dataclass(frozen=True, eq=False, repr=False)
class BagDataset:
    """m bags of altogether N instances, stored one after the other; bag i is rows offsets[i]..offsets[i+1].

    A candidate set need not contain the true label: builders and `elimipl.candidates.crowd` see to that (the paper's
    assumption), a person who sets candidates by hand may be wrong. `groups` says which bags come from the
    same source picture, so that a split never parts augmented copies; by default every bag is its own group.
    `instance_truth` marks the instances that really carry the bag's label, where that is known. `sources` names the
    data set each bag came from, where several were joined (`elimipl.join`): one name per bag, or none at all.
    All arrays are read-only. The instances of a folder of shards stay on disk (`MappedRows`): they are read where they
    are indexed, and neither a subset nor other candidate sets read any.
    """

    instances: InstanceTable  # (N, d) float32
    offsets: np.ndarray  # (m + 1,) int64
    candidates: np.ndarray  # (m, k) bool
    labels: np.ndarray  # (m,) int64, −1 = unknown
    label_space: LabelSpace
    generator: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    groups: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # (m,) int64
    instance_truth: np.ndarray | None = None  # (N,) bool
    names: tuple[str, ...] = ()
    source: str = ""
    licence: str = ""
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        m = max(np.size(self.offsets) - 1, 0)
        self._set("label_space", as_label_space(self.label_space))
        candidates = candidate_matrix(self.candidates, self.label_space)
        groups = np.arange(m) if np.size(self.groups) == 0 else self.groups
        names = tuple(str(name) for name in self.names) or tuple(f"bag {i}" for i in range(m))
        if not self.on_disk:
            self._set("instances", frozen(self.instances, np.float32, "The instances", dims=2))
        self._set("offsets", frozen(self.offsets, np.int64, "The offsets", dims=1))
        self._set("candidates", frozen(candidates, np.bool_, "The candidate sets", dims=2))
        self._set("labels", frozen(self.labels, np.int64, "The labels", dims=1))
        self._set("groups", frozen(groups, np.int64, "The groups", dims=1))
        self._set("names", names)
        self._set("sources", tuple(str(name) for name in self.sources))
        self._set("params", bag_file.plain_json(dict(self.params)))
        if self.instance_truth is not None:
            self._set("instance_truth", frozen(self.instance_truth, np.bool_, "The instance truth", dims=1))
        validate(self)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> LabelledBag:
        """Bag i, so that a data set can be indexed, iterated over and read by a torch `DataLoader`."""
        features = self.bag(i)
        return LabelledBag(features, self.candidates[i], int(self.labels[i]), self.names[i])

    def __iter__(self) -> Iterator[LabelledBag]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"BagDataset({len(self)} bags of {self.sizes.min()}..{self.sizes.max()} x {self.dim}, "
            f"{self.label_space.id}, generator={self.generator!r})"
        )

    @property
    def on_disk(self) -> bool:
        """Whether the instances are read from a folder of shards where they are needed."""
        return isinstance(self.instances, MappedRows)

    @property
    def sizes(self) -> np.ndarray:
        """Instances in each bag, (m,) int64."""
        return np.diff(self.offsets)

    @property
    def dim(self) -> int:
        """Features of an instance, d."""
        return int(self.instances.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, k."""
        return len(self.label_space)

    @property
    def truth_outside(self) -> np.ndarray:
        """Numbers of the bags whose true label is known and not one of their candidates, (n,) int64."""
        among = np.take_along_axis(self.candidates, np.maximum(self.labels, 0)[:, None], axis=1)[:, 0]
        return np.flatnonzero((self.labels >= 0) & ~among)

    @property
    def _kind(self) -> tuple[int, LabelSpace, str]:
        """What bags must share to be learned from together."""
        return self.dim, self.label_space, self.generator

    def bag(self, i: int) -> np.ndarray:
        """The instances of bag i, (n_i, d), as a read-only view."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"bag {i} of a data set of {len(self)} bags")
        i %= len(self)
        return self.instances[self.offsets[i] : self.offsets[i + 1]]

    def subset(self, indices: ArrayLike) -> BagDataset:
        """The bags at `indices` (numbers or a mask of length m), in that order; groups are kept."""
        chosen = np.arange(len(self))[np.asarray(indices, dtype=None if np.size(indices) else np.int64)]
        rows = self._rows(chosen) if self.instance_truth is not None or not self.on_disk else np.empty(0, np.int64)
        return replace(
            self,
            instances=self.instances.subset(chosen) if isinstance(self.instances, MappedRows) else self.instances[rows],
            offsets=np.concatenate([[0], np.cumsum(self.sizes[chosen])]),
            candidates=self.candidates[chosen],
            labels=self.labels[chosen],
            groups=self.groups[chosen],
            names=tuple(self.names[i] for i in chosen),
            sources=tuple(self.sources[i] for i in chosen) if self.sources else (),
            instance_truth=None if self.instance_truth is None else self.instance_truth[rows],
        )

    def gather(self, chosen: ArrayLike) -> np.ndarray:
        """The instances of the bags with these numbers, one bag after the other, (n, d), in memory."""
        numbers = np.asarray(chosen, np.int64)
        return gathered(self.instances, numbers, lambda: self._rows(numbers))

    def _rows(self, chosen: np.ndarray) -> np.ndarray:
        sizes = self.sizes[chosen]
        ends = np.cumsum(sizes)
        return np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.offsets[chosen] - (ends - sizes), sizes)

    def with_candidates(self, candidates: Any) -> BagDataset:
        """The same bags with other candidate sets, (m, k) bool or a list of classes for each bag."""
        return replace(self, candidates=candidates)

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write one bag file (`bag_generators.base.bag_file`), all or nothing: a crash never leaves half a file.

        A path that ends in “.shards” becomes a folder of shards (`bag_generators.base.shards`) for bags beyond memory.
        `half` keeps the features as float16 (three significant digits) and halves the file; they are float32
        again after loading. (A folder always has float32.)
        """
        if Path(path).suffix == shards.SUFFIX:
            shards.write(Path(path), self.as_file())
            return
        content = self.as_file()
        if half:
            with np.errstate(over="ignore"):
                content = replace(content, instances=np.asarray(self.instances).astype(np.float16))
            if not np.isfinite(content.instances).all():
                largest = np.abs(np.asarray(self.instances)).max()
                raise InputError(f"A feature of {largest:g} is too large for 16 bits.", "Save the bags with 32 bits.")
        bag_file.write(Path(path), content)

    def as_file(self) -> bag_file.BagFile:
        """Everything a file or an index holds of these bags."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return bag_file.BagFile(**{**values, "label_space": self.label_space.to_dict()})

    @classmethod
    def load(cls, path: str | Path, called: str = "") -> BagDataset:
        """Read a bag file or a folder of shards. Never runs code from it; anything else is refused with a sentence.

        `called` is what a refusal calls the file (its path unless given). Bags of `elimipl bags --unlabelled`, which
        have no labels, get −1 for each, the classes of `UNLABELLED` as candidates, and a group for each picture.
        """
        file = (shards if Path(path).is_dir() else bag_file).read(Path(path), called)
        values: dict[str, Any] = {one.name: getattr(file, one.name) for one in fields(cls)}
        if file.label_space is None:
            m = max(file.offsets.size - 1, 0)
            values |= {
                "label_space": UNLABELLED,
                "candidates": np.ones((m, len(UNLABELLED)), dtype=bool),
                "labels": np.full(m, -1),
                "groups": np.unique(file.image_sha256, return_inverse=True)[1],
            }
        else:
            values["label_space"] = LabelSpace.from_dict(file.label_space)
        return cls(**values)

    @classmethod
    def from_bags(
        cls,
        bags: Sequence[ArrayLike],
        label_space: LabelSpace | Iterable[str],
        labels: ArrayLike | None = None,
        candidates: Any = None,
        instance_truth: Sequence[ArrayLike] | None = None,
        **described: Any,
    ) -> BagDataset:
        """A data set of a list of (n_i, d) arrays.

        The classes are a label space or just their names. `labels` are class numbers. `candidates` are (m, k) true and
        false, or for each bag a list of the names or numbers of its classes; without them a known label is its own only
        candidate and an unknown one leaves every class possible. `instance_truth` is a list like `bags`; `described`
        are the remaining fields (generator, names, …).

        >>> bags = BagDataset.from_bags([[[0.0]], [[1.0]]], ["a", "b"], candidates=[["a", "b"], ["b"]])
        >>> bags.candidates.tolist()
        [[True, True], [False, True]]
        """
        arrays, space = bag_arrays(bags), as_label_space(label_space)
        truths = np.full(len(arrays), -1) if labels is None else frozen(labels, np.int64, "The labels", dims=1)
        if candidates is None:
            candidates = (truths[:, None] == np.arange(len(space))) | (truths[:, None] == -1)
        return cls(
            instances=np.concatenate(arrays),
            offsets=np.concatenate([[0], np.cumsum([len(array) for array in arrays])]),
            candidates=candidates,
            labels=truths,
            label_space=space,
            instance_truth=None if instance_truth is None else np.concatenate(instance_truth),
            **described,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[BagDataset], keep_groups: bool = False) -> BagDataset:
        """All bags of `parts` in order; everything that describes them comes from the first.

        Groups are renumbered so that two parts never share one, unless `keep_groups`: then equal numbers
        mean the same source (parts that are augmented copies of each other).
        """
        if not parts:
            raise InputError("There is no data set to join.", "Give at least one.")
        first = parts[0]
        for part in parts[1:]:
            if part._kind != first._kind:
                raise InputError(
                    f"Bags of {part.dim} features from “{part.generator}” with the classes "
                    f"“{part.label_space.id}” don't belong with bags of {first.dim} features from "
                    f"“{first.generator}” with “{first.label_space.id}”.",
                    "Join data sets of one generator and one label space.",
                )
        groups, start = [], 0
        for part in parts:
            distinct, numbers = np.unique(part.groups, return_inverse=True)
            groups.append(part.groups if keep_groups else numbers + start)
            start += len(distinct)
        tables = [part.instances for part in parts]
        mapped = [table for table in tables if isinstance(table, MappedRows)]  # left there where all of them are
        sources = [part.sources or ("",) * len(part) for part in parts] if any(part.sources for part in parts) else []
        truths = [part.instance_truth for part in parts if part.instance_truth is not None]
        return replace(
            first,
            instances=MappedRows.joined(mapped)
            if len(mapped) == len(tables)
            else np.concatenate([*map(np.asarray, tables)]),
            offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            candidates=np.concatenate([part.candidates for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            groups=np.concatenate(groups),
            names=tuple(name for part in parts for name in part.names),
            sources=tuple(name for part in sources for name in part),
            instance_truth=np.concatenate(truths) if len(truths) == len(parts) else None,
        )


def save_pieces(folder: str | Path, pieces: Iterable[BagDataset]) -> BagDataset:
    """Write all bags of `pieces` in order as one data set, and give it back with its instances on disk.

    Memory holds the instances of one piece at a time. Descriptions come from the first piece, groups are renumbered as
    in `BagDataset.concatenate`. The name of the folder ends in “.shards”.
    """
    folder = Path(folder)
    shards.check_out(folder)
    written = [replace(piece, instances=shards.write_parts(folder, piece.instances, piece.sizes)) for piece in pieces]
    whole = BagDataset.concatenate(written)
    whole.save(folder)
    return whole


if TYPE_CHECKING:
    from elimipl.datasets.dataset import BagDataset


def bag_arrays(bags: Iterable[ArrayLike]) -> list[np.ndarray]:
    """Bags as (n_i, d) float32, refused where one is no table or has other features than the first."""
    arrays: list[np.ndarray] = []
    for i, bag in enumerate(bags):
        try:
            with np.errstate(over="ignore"):  # an infinite number is refused later, with the name of its bag
                array = np.asarray(bag, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError(f"Bag {i} is not a table of numbers.", _TABLES) from None
        if array.ndim != 2:
            raise InputError(f"Bag {i} has {array.ndim} dimension(s), its shape is {array.shape}.", _TABLES)
        if arrays and array.shape[1] != arrays[0].shape[1]:
            raise InputError(f"Bag {i} has the shape {array.shape}, the first one {arrays[0].shape}.", _TABLES)
        arrays.append(array)
    if not arrays:
        raise InputError("The data set has no bags.", "Give at least one bag.")
    return arrays


_TABLES = "Give every bag as a table of instances by features, (n, d), with the same features everywhere."


def candidate_matrix(given: Any, label_space: LabelSpace) -> np.ndarray:
    """Candidate sets as a table (m, k); lists of class names or numbers, one for each bag, are made into one.

    What is a table already is returned as it is: `frozen` and `validate` refuse what is wrong with it. Rows of k zeros
    and ones are a table, too. No candidate set is written like that, except all classes of two, which says nothing.
    """
    if hasattr(given, "__array__") and (table := np.asarray(given)).dtype != object:
        return table
    k, wanted = len(label_space), "Give (m, k) true and false, or a list of class names or numbers for each bag."
    try:
        rows = [[row] if isinstance(row, str) else list(row) for row in given]
    except TypeError:
        raise InputError("The candidates are not a list of sets.", wanted) from None
    if all(isinstance(label, bool | np.bool_) or (label in (0, 1) and len(row) == k) for row in rows for label in row):
        if len({len(row) for row in rows}) > 1:
            raise InputError("The rows of the candidate sets differ in length.", wanted)
        return np.array(rows)
    table = np.zeros((len(rows), k), dtype=bool)
    for i, row in enumerate(rows):
        for label in row:
            if isinstance(label, str):
                table[i, label_space.index(label)] = True
            elif isinstance(label, int | np.integer) and 0 <= label < k:
                table[i, label] = True
            else:
                raise InputError(f"Bag {i} has the candidate {label!r}.", f"{wanted} Numbers run from 0 to {k - 1}.")
    return table


def frozen(values: ArrayLike, dtype: type, what: str, dims: int) -> np.ndarray:
    """`values` as a read-only array of the wanted type, refused where a number would change its meaning."""
    try:
        given = np.asarray(values)
        with np.errstate(invalid="ignore", over="ignore"):  # what does not fit is refused below
            array: np.ndarray = np.ascontiguousarray(given, dtype=dtype).view()
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} are not a table of numbers.", "Give an array of numbers.") from None
    if given.ndim != dims:
        raise InputError(f"{what} have {given.ndim} dimension(s).", f"Give an array of {dims}.")
    if dtype is not np.float32 and not np.array_equal(given, array):
        raise InputError(f"{what} hold values that {dtype.__name__} can't.", "Check the numbers.")
    array.flags.writeable = False
    return array


def validate(data: BagDataset) -> None:
    """Refuse a data set whose parts contradict each other or hold numbers that can't be learned from."""
    m, k = len(data.offsets) - 1, len(data.label_space)
    if m < 1:
        raise InputError("The data set has no bags.", "Give at least one bag.")
    if data.dim < 1:
        raise InputError("The instances have no features.", "Give at least one number for each instance.")
    if data.offsets[0] != 0 or data.offsets[-1] != len(data.instances):
        raise InputError(
            f"The offsets run from {data.offsets[0]} to {data.offsets[-1]}, but there are "
            f"{len(data.instances)} instances.",
            "Start the offsets at 0 and end them at the number of instances.",
        )
    if (empty := np.flatnonzero(np.diff(data.offsets) < 1)).size:
        raise InputError(
            f"Bag {empty[0]} (“{_at(data.names, empty[0])}”) has no instances.",
            "Every bag needs at least one instance.",
        )
    if isinstance(data.instances, np.ndarray) and not np.isfinite(data.instances).all():  # on disk: when it is read
        row = int(np.flatnonzero(~np.isfinite(data.instances).all(axis=1))[0])
        bag = int(np.searchsorted(data.offsets, row, side="right")) - 1
        raise InputError(
            f"An instance of bag {bag} (“{_at(data.names, bag)}”) holds a number that is not finite.",
            "Remove the NaN or infinite values.",
        )
    if data.candidates.shape != (m, k):
        raise InputError(
            f"The candidate sets have the shape {data.candidates.shape}, but there are {m} bags and {k} classes.",
            "Give one row for each bag and one column for each class.",
        )
    if not (filled := data.candidates.any(axis=1)).all():
        bag = int(np.flatnonzero(~filled)[0])
        raise InputError(
            f"Bag {bag} (“{_at(data.names, bag)}”) has an empty candidate set.",
            "Give every bag at least one candidate label.",
        )
    per_bag: dict[str, Sized] = {"labels": data.labels, "groups": data.groups, "names": data.names}
    if data.sources:
        per_bag["sources"] = data.sources
    for what, values in per_bag.items():
        if len(values) != m:
            raise InputError(f"There are {len(values)} {what} for {m} bags.", "Give one for each bag.")
    if data.labels.min() < -1 or data.labels.max() >= k:
        raise InputError(
            f"The labels run from {data.labels.min()} to {data.labels.max()}.",
            f"Use 0 to {k - 1} for the classes of “{data.label_space.id}” and -1 for an unknown label.",
        )
    if data.instance_truth is not None and len(data.instance_truth) != len(data.instances):
        raise InputError(
            f"There are {len(data.instance_truth)} instance marks for {len(data.instances)} instances.",
            "Give one mark for each instance.",
        )


def _at(names: Sequence[str], i: int) -> str:
    return names[i] if i < len(names) else f"bag {i}"
