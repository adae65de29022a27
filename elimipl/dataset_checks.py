"""What the arrays of a bag data set must be before anything is learned from them; refusals name the bag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.errors import InputError
from elimipl.labels import LabelSpace

if TYPE_CHECKING:
    from elimipl.dataset import BagDataset


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
