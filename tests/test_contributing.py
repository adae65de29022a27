"""The table of typical changes names files that exist, three at most, and tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|([^|]*)\|$", TEXT.partition("## Ten typical changes")[2], re.MULTILINE)[1:]


def test_there_are_ten() -> None:
    assert len(ROWS) == 10


def test_a_change_touches_three_files_at_most_and_they_exist() -> None:
    for change, files, held_by in ROWS:
        named = [name for name in re.findall(r"`([^`]+)`", files) if "/" in name or "." in name]
        assert 1 <= len(named) <= 3, change
        for name in named:
            assert (ROOT / name.replace("<name>", "sbn" if "generators" in name else "train")).exists(), name
        for name in re.findall(r"`([^`]+)`", held_by):
            assert (ROOT / name).is_file(), name
