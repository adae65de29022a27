"""What it costs to read uploads in a process of their own, and what the dearest of them take.

All times are of `read_upload` (the app) and `load` (the library), one after the other in the same run: their
difference is the price of the process. The dearest bad input says how long a visitor waits for a refusal at most.

    python benchmarks/bench_reading.py
"""

from collections.abc import Callable
from contextlib import suppress
from statistics import median

from bag_generators import InputError, TissueImage, load
from bag_generators.base.formats import MOST_PICTURE_SECONDS
from bag_generators.uploads import read_upload
from benchmarks.measuring import seconds_of, write
from tests.support.bad_files import encoded, tissue
from tests.support.bad_inputs import INPUTS

RUNS = {"tile of 224 px, PNG": 100, "tile of 224 px, JPEG": 100, "40 megapixels, JPEG": 5}
MOST_EXTRA_MS = 30


def main() -> None:
    files = (encoded("PNG"), encoded("JPEG"), encoded("JPEG", tissue().resize((8000, 5000))))
    rows = {}
    for (name, runs), data in zip(RUNS.items(), files, strict=True):
        read_upload(data)  # what every first picture of a process needs
        pairs = [(seconds(load, data), seconds(read_upload, data)) for _ in range(runs)]
        here, there = (1000 * median(column) for column in zip(*pairs, strict=True))
        rows[name] = {"load_ms": here, "read_upload_ms": there, "extra_ms": there - here}
    waits = {row.name: seconds(read_upload, row.make()) for row in INPUTS}
    dearest = max(waits, key=waits.__getitem__)
    report = {
        "pictures": rows,
        "allowed_extra_ms_of_a_tile": MOST_EXTRA_MS,
        "every_input": {
            "files": len(waits), "seconds": waits[dearest], "dearest": dearest, "allowed": MOST_PICTURE_SECONDS
        },
    }  # fmt: skip
    write("reading", report)


def seconds(read: Callable[[bytes], TissueImage], data: bytes) -> float:
    """How long it takes to read or to refuse a file."""

    def read_or_refuse() -> None:
        with suppress(InputError):
            read(data)

    return seconds_of(read_or_refuse)


if __name__ == "__main__":
    main()
