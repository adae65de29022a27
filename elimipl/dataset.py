"""The one container of bags: flat instances with offsets, candidate sets, labels; one safe file on disk."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.errors import InputError
from elimipl import bag_file
from elimipl.labels import LabelSpace


def _no_numbers() -> np.ndarray:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class BagDataset:
    """m bags of altogether N instances, stored one after the other; bag i is rows offsets[i]..offsets[i+1].

    A candidate set need not contain the true label: builders and `elimipl.data.crowd` see to that (the paper's
    assumption), a person who sets candidates by hand may be wrong. `groups` says which bags come from the
    same source picture, so that a split never parts augmented copies; left out, every bag is its own group.
    `instance_truth` marks the instances that really carry the bag's label, where that is known.
    All arrays are read-only.
    """

    instances: np.ndarray  # (N, d) float32
    offsets: np.ndarray  # (m + 1,) int64
    candidates: np.ndarray  # (m, k) bool
    labels: np.ndarray  # (m,) int64, −1 = unknown
    label_space: LabelSpace
    generator: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    groups: np.ndarray = field(default_factory=_no_numbers)  # (m,) int64
    instance_truth: np.ndarray | None = None  # (N,) bool
    names: tuple[str, ...] = ()
    source: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        m = max(np.size(self.offsets) - 1, 0)
        groups = np.arange(m) if np.size(self.groups) == 0 else self.groups
        names = tuple(str(name) for name in self.names) or tuple(f"bag {i}" for i in range(m))
        self._set("instances", _frozen(self.instances, np.float32, "The instances", dims=2))
        self._set("offsets", _frozen(self.offsets, np.int64, "The offsets", dims=1))
        self._set("candidates", _frozen(self.candidates, np.bool_, "The candidate sets", dims=2))
        self._set("labels", _frozen(self.labels, np.int64, "The labels", dims=1))
        self._set("groups", _frozen(groups, np.int64, "The groups", dims=1))
        self._set("names", names)
        self._set("params", bag_file.plain_json(dict(self.params)))
        if self.instance_truth is not None:
            self._set("instance_truth", _frozen(self.instance_truth, np.bool_, "The instance truth", dims=1))
        self._validate()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _validate(self) -> None:
        m, k = len(self.offsets) - 1, len(self.label_space)
        if m < 1:
            raise InputError("The data set has no bags.", "Give at least one bag.")
        if self.dim < 1:
            raise InputError("The instances have no features.", "Give at least one number for each instance.")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.instances):
            raise InputError(
                f"The offsets run from {self.offsets[0]} to {self.offsets[-1]}, but there are "
                f"{len(self.instances)} instances.",
                "Start the offsets at 0 and end them at the number of instances.",
            )
        if (empty := np.flatnonzero(np.diff(self.offsets) < 1)).size:
            raise InputError(
                f"Bag {empty[0]} (“{_at(self.names, empty[0])}”) has no instances.",
                "Every bag needs at least one instance.",
            )
        if not np.isfinite(self.instances).all():
            row = int(np.flatnonzero(~np.isfinite(self.instances).all(axis=1))[0])
            bag = int(np.searchsorted(self.offsets, row, side="right")) - 1
            raise InputError(
                f"An instance of bag {bag} (“{_at(self.names, bag)}”) holds a number that is not finite.",
                "Remove the NaN or infinite values.",
            )
        if self.candidates.shape != (m, k):
            raise InputError(
                f"The candidate sets have the shape {self.candidates.shape}, but there are {m} bags and {k} classes.",
                "Give one row for each bag and one column for each class.",
            )
        if not (filled := self.candidates.any(axis=1)).all():
            bag = int(np.flatnonzero(~filled)[0])
            raise InputError(
                f"Bag {bag} (“{_at(self.names, bag)}”) has an empty candidate set.",
                "Give every bag at least one candidate label.",
            )
        per_bag: dict[str, Sized] = {"labels": self.labels, "groups": self.groups, "names": self.names}
        for what, values in per_bag.items():
            if len(values) != m:
                raise InputError(f"There are {len(values)} {what} for {m} bags.", "Give one for each bag.")
        if self.labels.min() < -1 or self.labels.max() >= k:
            raise InputError(
                f"The labels run from {self.labels.min()} to {self.labels.max()}.",
                f"Use 0 to {k - 1} for the classes of “{self.label_space.id}” and -1 for an unknown label.",
            )
        if self.instance_truth is not None and len(self.instance_truth) != len(self.instances):
            raise InputError(
                f"There are {len(self.instance_truth)} instance marks for {len(self.instances)} instances.",
                "Give one mark for each instance.",
            )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return (
            f"BagDataset({len(self)} bags of {self.sizes.min()}..{self.sizes.max()} x {self.dim}, "
            f"{self.label_space.id}, generator={self.generator!r})"
        )

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
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return replace(
            self,
            instances=self.instances[rows],
            offsets=offsets,
            candidates=self.candidates[chosen],
            labels=self.labels[chosen],
            groups=self.groups[chosen],
            names=tuple(self.names[i] for i in chosen),
            instance_truth=None if self.instance_truth is None else self.instance_truth[rows],
        )

    def with_candidates(self, candidates: ArrayLike) -> BagDataset:
        """The same bags with other candidate sets, (m, k) bool."""
        return replace(self, candidates=np.asarray(candidates))

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write one safetensors file, all or nothing: a crash never leaves half a file under this name.

        `half` keeps the features as float16 (three significant digits) and halves the file; they are float32
        again after loading.
        """
        arrays = {name: getattr(self, name) for name in bag_file.ARRAYS}
        if half:
            arrays["instances"] = _halved(self.instances)
        if self.instance_truth is not None:
            arrays["instance_truth"] = self.instance_truth
        described = {
            "label_space": self.label_space.to_dict(),
            "generator": self.generator,
            "params": self.params,
            "names": list(self.names),
            "source": self.source,
            "licence": self.licence,
        }
        bag_file.write(Path(path), arrays, described)

    @classmethod
    def load(cls, path: str | Path, called: str = "") -> BagDataset:
        """Read what `save` wrote. Never runs code from the file; anything else is refused with a sentence.

        `called` is what a refusal calls the file (left out: its path).
        """
        arrays, described = bag_file.read(Path(path), called or str(path))
        fields: dict[str, Any] = {**arrays, **described}
        return cls(**{**fields, "label_space": LabelSpace.from_dict(described["label_space"])})

    @classmethod
    def from_bags(
        cls,
        bags: Sequence[ArrayLike],
        label_space: LabelSpace,
        labels: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        instance_truth: Sequence[ArrayLike] | None = None,
        **described: Any,
    ) -> BagDataset:
        """A data set of a list of (n_i, d) arrays.

        Without `candidates` a known label is its own only candidate and an unknown one leaves every class
        possible. `instance_truth` is a list like `bags`; `described` are the remaining fields (generator,
        names, …).
        """
        with np.errstate(over="ignore"):  # an infinite number is refused below, with the name of its bag
            arrays = [np.asarray(bag, dtype=np.float32) for bag in bags]
        if not arrays:
            raise InputError("The data set has no bags.", "Give at least one bag.")
        for i, array in enumerate(arrays):
            if array.ndim != 2 or array.shape[1] != arrays[0].shape[-1]:
                raise InputError(
                    f"Bag {i} has the shape {array.shape}, the first one {arrays[0].shape}.",
                    "Give every bag as a table of instances by features, with the same features everywhere.",
                )
        truths = np.full(len(arrays), -1) if labels is None else np.asarray(labels)
        if candidates is None:
            candidates = (truths[:, None] == np.arange(len(label_space))) | (truths[:, None] == -1)
        return cls(
            instances=np.concatenate(arrays),
            offsets=np.concatenate([[0], np.cumsum([len(array) for array in arrays])]),
            candidates=np.asarray(candidates),
            labels=truths,
            label_space=label_space,
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
        groups = [part.groups for part in parts] if keep_groups else _disjoint_groups(parts)
        truths = [part.instance_truth for part in parts if part.instance_truth is not None]
        return replace(
            first,
            instances=np.concatenate([part.instances for part in parts]),
            offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            candidates=np.concatenate([part.candidates for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            groups=np.concatenate(groups),
            names=tuple(name for part in parts for name in part.names),
            instance_truth=np.concatenate(truths) if len(truths) == len(parts) else None,
        )


def _disjoint_groups(parts: Sequence[BagDataset]) -> list[np.ndarray]:
    """The groups of each part, numbered anew from where the part before ended."""
    renumbered, start = [], 0
    for part in parts:
        distinct, numbers = np.unique(part.groups, return_inverse=True)
        renumbered.append(numbers + start)
        start += len(distinct)
    return renumbered


def _frozen(values: ArrayLike, dtype: type, what: str, dims: int) -> np.ndarray:
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


def _halved(instances: np.ndarray) -> np.ndarray:
    """(N, d) float32 instances as float16, refused where one is too large for it."""
    with np.errstate(over="ignore"):
        halved = instances.astype(np.float16)
    if not np.isfinite(halved).all():
        raise InputError(
            f"A feature of {np.abs(instances).max():g} is too large for 16 bits.", "Save the bags with 32 bits."
        )
    return halved


def _at(names: Sequence[str], i: int) -> str:
    return names[i] if i < len(names) else f"bag {i}"
