"""The bag sets that come with the project, so that training works without any pictures.

`scripts/make_bag_sets.py` makes them; `bags.json` beside them says what each one is and where it is from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from bag_generators.assets import assets
from bag_generators.errors import InputError
from bag_generators.validation import Record, Sha256, read_json, validated
from elimipl.dataset import BagDataset

BAGS_FOLDER = assets("bags")
REPAIR = "Restore it with “git checkout -- assets/bags”, or make it anew with scripts/make_bag_sets.py."


class BagSet(Record):
    """One shipped file of bags; the fields are those of its entry in `bags.json`."""

    id: str
    file: str
    title: str
    generator: str
    bags: int
    copies: int
    """Augmented copies a source picture, itself included."""
    counts: Mapping[str, int]
    """Source pictures of each class."""
    pictures: tuple[str, ...]
    """Names of the source pictures in the published data set; empty for drawn ones."""
    source: str
    licence: str
    sha256: Sha256

    def load(self, folder: Path = BAGS_FOLDER) -> BagDataset:
        """The bags. A file that is missing or not the one that was shipped is an `InputError`."""
        path = folder / self.file
        try:
            content = path.read_bytes()
        except OSError:
            raise InputError(f"The bag set “{self.file}” is missing.", REPAIR) from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise InputError(f"The bag set “{self.file}” is not the one that was shipped.", REPAIR)
        return BagDataset.load(path, self.file)


def bag_sets(folder: Path = BAGS_FOLDER) -> dict[str, BagSet]:
    """The shipped sets by id, in the order of `bags.json`."""
    called = "The list of bag sets “bags.json”"
    sets = validated(tuple[BagSet, ...], read_json(folder / "bags.json", called, REPAIR), called, REPAIR)
    return {entry.id: entry for entry in sets}


def load_bag_set(name: str, folder: Path = BAGS_FOLDER) -> BagDataset:
    """The shipped bags with this id, such as tissue7-sbn; ids are looked up, never made into a path."""
    sets = bag_sets(folder)
    if name not in sets:
        raise InputError(f"There is no bag set “{name}”.", f"Choose one of: {', '.join(sets)}.")
    return sets[name].load(folder)
