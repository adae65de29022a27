"""Make every bad input of the table as a file, to try by hand what the tests try by themselves.

    python scripts/make_bad_inputs.py FOLDER

Some 190 files, 180 MB in all; two of them are one byte larger than an upload may be. Beside them `expected.tsv` says
what must come of each. Names that strangers think of are in `scripts/bad_inputs/names.py`; not all fit on a disk.
"""

import argparse
from pathlib import Path

from scripts.bad_inputs.table import INPUTS, BadInput

ROOT = Path(__file__).resolve().parents[1]


def make_all(folder: Path) -> list[tuple[BadInput, Path]]:
    """Write all inputs into `folder`, each under its own name; the rows with their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for row in INPUTS:
        path = folder / row.name
        path.write_bytes(row.make())
        files.append((row, path))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to put them; made if missing")
    folder = parser.parse_args().folder
    files = make_all(folder)
    lines = [f"{row.name}\t{row.outcome.value}\t{row.says}" for row, _ in files]
    (folder / "expected.tsv").write_text("\n".join(["file\toutcome\tsays", *lines, ""]), encoding="utf-8")
    print(f"{len(files)} files in {folder}; what must come of each: {folder / 'expected.tsv'}")


if __name__ == "__main__":
    main()
