"""One reader without Atheris: `python -m fuzz.unguided NAME SECONDS`; also what the test suite runs, bounded."""

from __future__ import annotations

import random
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz.mutations import mutated
from fuzz.seeds import kept
from fuzz.targets import TARGETS, outcome

ROUND = 200


def fuzz(name: str, examples: int, first: int = 0) -> int:
    """Run `examples` changed files through a reader, the same ones for the same `first`; how many were refused."""
    target, refused = TARGETS[name], 0
    seeds = [*target.seeds(), *kept(name)]

    @seed(first)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, len(seeds) - 1), st.integers(0, 2**32))
    def check(start: int, number: int) -> None:
        nonlocal refused
        refused += outcome(target, mutated(seeds[start], random.Random(number))) is not None

    check()
    return refused


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    rounds, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        fuzz(name, ROUND, first=rounds)
        rounds += 1
    sys.stdout.write(f"{rounds * ROUND} executions\n")


if __name__ == "__main__":
    main()
