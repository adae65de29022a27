"""What is done with the arrays of bag data sets: put together, numbered anew, made smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bag_generators.errors import InputError
from bag_generators.mapped_rows import MappedRows

if TYPE_CHECKING:
    from elimipl.dataset import BagDataset

InstanceTable: TypeAlias = np.ndarray | MappedRows
"""(N, d) float32 instances in memory, or on disk and read where they are indexed."""


def gathered(table: InstanceTable, chosen: np.ndarray, rows: Callable[[], np.ndarray]) -> np.ndarray:
    """The instances of the bags with these numbers, one bag after the other; `rows` says which rows those are."""
    return table.blocks(chosen) if isinstance(table, MappedRows) else table[rows()]


def joined(tables: Sequence[InstanceTable]) -> InstanceTable:
    """The instances of several data sets, one after the other; left on disk where all of them are there."""
    mapped = [table for table in tables if isinstance(table, MappedRows)]
    return MappedRows.joined(mapped) if len(mapped) == len(tables) else np.concatenate([*map(np.asarray, tables)])


def disjoint_groups(parts: Sequence[BagDataset]) -> list[np.ndarray]:
    """The groups of each part, numbered anew from where the part before ended."""
    renumbered, start = [], 0
    for part in parts:
        distinct, numbers = np.unique(part.groups, return_inverse=True)
        renumbered.append(numbers + start)
        start += len(distinct)
    return renumbered


def halved(instances: np.ndarray) -> np.ndarray:
    """(N, d) float32 instances as float16, refused where one is too large for it."""
    with np.errstate(over="ignore"):
        halved = instances.astype(np.float16)
    if not np.isfinite(halved).all():
        raise InputError(
            f"A feature of {np.abs(instances).max():g} is too large for 16 bits.", "Save the bags with 32 bits."
        )
    return halved
