"""One reader under Atheris: `python -m fuzz.guided NAME CORPUS_FOLDER LAST_INPUT [libFuzzer options]`."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["bag_generators", "elimipl", "ui", "PIL", "zipfile", "safetensors", "json"]):
    from fuzz.mutations import mutated, with_right_sums
    from fuzz.seeds import kept
    from fuzz.targets import TARGETS, outcome

from fuzz import LONGEST


def _mutate(data: bytes, most: int, seed: int) -> bytes:
    """Half of the changes are libFuzzer's own, guided by what it saw compared; half know the formats."""
    rng = Random(seed)
    if rng.random() < 0.5:
        return with_right_sums(bytes(atheris.Mutate(data, most)))[:most]
    return mutated(data, rng)[:most]


def _kept_in(path: Path, read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """`read` that leaves its input in a file: a process that is ended from outside writes none itself."""
    path.write_bytes(bytes(8 + LONGEST))
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 8 + LONGEST)

    def kept_and_read(data: bytes) -> None:
        memory[:8] = len(data).to_bytes(8, "little")
        memory[8 : 8 + len(data)] = data
        read(data)

    return kept_and_read


def main() -> None:
    name, corpus, last, *options = sys.argv[1:]
    target = TARGETS[name]
    for number, seed in enumerate([*target.seeds(), *kept(name)]):
        (Path(corpus) / f"seed-{number}").write_bytes(seed)
    read = _kept_in(Path(last), lambda data: outcome(target, data))
    atheris.Setup([sys.argv[0], corpus, *options], read, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
