"""SECURITY.md says what was measured, and every test it names exists."""

import ast
import re
from pathlib import Path

from scripts.update_readme import filled
from scripts.update_security import GROUPS, RESULTS, measured, results_table

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


def test_the_results_are_those_of_the_files():
    table = results_table()
    assert filled(TEXT, "results", table) == TEXT
    assert table in (RESULTS / "hardening.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists():
    there = set()
    for path in {path for path, _ in NAMED}:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        there |= {(path, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert len(NAMED) > 100
    assert set(NAMED) - there == set()


def test_every_threat_has_an_answer_and_something_that_shows_it():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and line.count(" | ") == 2]
    threats = [row.strip("| ").split(" | ") for row in rows if "`tests/" in row]
    assert len(threats) >= 20
    assert all(len(cell) > 10 for row in threats for cell in row)


def test_everything_held_and_every_counted_test_is_there():
    counts = measured("hardening")
    assert list(counts) == list(GROUPS)
    assert all(count["tried"] == count["held"] > 0 for count in counts.values())
    assert all((ROOT / path).exists() for paths in GROUPS.values() for path in paths)


def test_nothing_was_lost_under_load_and_a_missed_limit_is_said():
    load = measured("load")
    assert load["errors"] == []
    assert all(row["errors"] == row["foreign_results"] == 0 for row in load["crowds"])
    assert {row["visitors"] for row in load["crowds"]} >= {1, 8, 32}
    missed = load["p95_rise_by_training"] > load["allowed_rise"]
    assert (", missed)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")) == missed
