"""The files that a generator computes with, by their sums: other files give other numbers under the same name."""

from __future__ import annotations

from bag_generators import GENERATORS
from bag_generators.assets import asset_sha256


def generator_files(name: str) -> dict[str, str]:
    """The sha256 of each file below `assets` that a generator works with; empty for most, and for unknown ones."""
    generator = GENERATORS.get(name)
    sums = {} if generator is None else {file: asset_sha256(file) for file in generator.files}
    return {file: found for file, found in sums.items() if found is not None}
