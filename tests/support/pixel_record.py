"""The pixels that every good file of the corpora decodes to, kept so that another way to read pictures must agree.

python -m tests.support.pixel_record   # write tests/records/pixels.json anew: only when pixels shall change
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from bag_generators import InputError, load
from bag_generators.tissue.samples import SAMPLES_FOLDER
from tests.support.bad_inputs import INPUTS, Outcome

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "records" / "pixels.json"


def good_files() -> Iterator[tuple[str, bytes]]:
    """Names and contents: odd files that open, sample pictures, and finds of the fuzzer (some of which open)."""
    yield from ((f"odd/{row.name}", row.make()) for row in INPUTS if row.outcome is not Outcome.REFUSED)
    for folder in (SAMPLES_FOLDER, *(ROOT / "fuzz" / "corpus" / kind for kind in ("picture", "tiff"))):
        paths = (path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != ".json")
        yield from ((f"{folder.name}/{path.name}", path.read_bytes()) for path in paths)


def decoded() -> dict[str, str]:
    """Size and sha256 of the pixels of every file that opens, by its name."""
    found = {}
    for name, content in good_files():
        try:
            pixels = load(content).pixels
        except InputError:
            continue
        digest = hashlib.sha256(pixels.tobytes()).hexdigest()
        found[name] = f"{pixels.shape[1]} x {pixels.shape[0]} {digest}"
    return found


def recorded() -> dict[str, str]:
    """What was kept."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


if __name__ == "__main__":
    RECORD.write_text(json.dumps(decoded(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
