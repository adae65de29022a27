"""Bag data sets that never fit into memory, written piece by piece as one folder of shards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bag_generators import shards
from elimipl.dataset import BagDataset


def save_pieces(folder: str | Path, pieces: Iterable[BagDataset], keep_groups: bool = False) -> BagDataset:
    """Write all bags of `pieces` in order as one data set, and give it back with its instances on disk.

    Memory holds the instances of one piece at a time. Descriptions come from the first piece, groups are kept or
    renumbered as in `BagDataset.concatenate`. The name of the folder ends in “.shards”.
    """
    folder = Path(folder)
    shards.check_out(folder)
    written = [replace(piece, instances=shards.write_parts(folder, piece.instances, piece.sizes)) for piece in pieces]
    whole = BagDataset.concatenate(written, keep_groups)
    whole.save(folder)
    return whole
