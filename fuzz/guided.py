"""One reader under Atheris: `python -m fuzz.guided NAME CORPUS_FOLDER [libFuzzer options]`."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["bag_generators", "elimipl", "PIL", "zipfile", "safetensors", "json"]):
    from fuzz.mutations import mutated, with_right_sums
    from fuzz.targets import TARGETS, outcome


def _mutate(data: bytes, most: int, seed: int) -> bytes:
    """Half of the changes are libFuzzer's own, guided by what it saw compared; half know the formats."""
    rng = Random(seed)
    if rng.random() < 0.5:
        return with_right_sums(bytes(atheris.Mutate(data, most)))[:most]
    return mutated(data, rng)[:most]


def main() -> None:
    name, corpus, *options = sys.argv[1:]
    target = TARGETS[name]
    for number, seed in enumerate(target.seeds()):
        (Path(corpus) / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], corpus, *options], lambda data: outcome(target, data) and None, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
