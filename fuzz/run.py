"""One reader for some time, under Atheris where it is there: `python -m fuzz.run NAME SECONDS CORPUS LAST_INPUT`."""

from __future__ import annotations

import mmap
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random

try:
    import atheris
except ImportError:  # it is made for few versions of Python
    atheris = None

INSTRUMENTED = ["bag_generators", "elimipl", "elimipl_app", "PIL", "zipfile", "safetensors", "json"]
with atheris.instrument_imports(include=INSTRUMENTED) if atheris else nullcontext():
    from fuzz.mutations import mutated, with_right_sums
    from fuzz.seeds import kept
    from fuzz.targets import TARGETS, outcome

LONGEST = 200_000
"""Bytes of an input."""
LIMITS = ("-timeout=20", "-rss_limit_mb=4000", f"-max_len={LONGEST}")


def _mutate(data: bytes, most: int, seed: int) -> bytes:
    """Half of the changes are libFuzzer's own, guided by what it saw compared; half know the formats."""
    rng = Random(seed)
    if rng.random() < 0.5:
        return with_right_sums(bytes(atheris.Mutate(data, most)))[:most]
    return mutated(data, rng)[:most]


def _kept_in(path: Path, read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """`read` that leaves the number of its calls and its input in a file, however this process ends."""
    path.write_bytes(bytes(16 + LONGEST))
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 16 + LONGEST)

    def kept_and_read(data: bytes) -> None:
        calls = int.from_bytes(memory[:8], "little") + 1
        memory[: 16 + len(data)] = calls.to_bytes(8, "little") + len(data).to_bytes(8, "little") + data
        read(data)

    return kept_and_read


def main() -> None:
    name, seconds, corpus, last = sys.argv[1:]
    target = TARGETS[name]
    seeds = [*target.seeds(), *kept(name)]
    read = _kept_in(Path(last), lambda data: outcome(target, data))
    if atheris is None:
        end, rng = time.monotonic() + float(seconds), Random(time.time_ns())
        while time.monotonic() < end:
            read(mutated(rng.choice(seeds), rng)[:LONGEST])
        return
    for number, seed in enumerate(seeds):
        (Path(corpus) / f"seed-{number}").write_bytes(seed)
    options = [f"-max_total_time={seconds}", f"-runs={target.runs_of_a_round}", *LIMITS]
    atheris.Setup([sys.argv[0], corpus, *options], read, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
