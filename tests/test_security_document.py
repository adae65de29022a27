"""SECURITY.md says what was measured, and every test it names exists."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from scripts.update_readme import filled
from scripts.update_security import GROUPS, RESULTS, behaviours, measured, results_table

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


def test_a_behaviour_counts_once_however_many_cases_it_has(tmp_path):
    program = tmp_path / "test_tried.py"
    program.write_text(
        "import pytest\n\n"
        "@pytest.mark.parametrize('n', range(5))\ndef test_many(n): pass\n\n"
        "@pytest.mark.parametrize('n', range(5))\ndef test_one_case_fails(n): assert n != 3\n\n"
        "@pytest.mark.skip\ndef test_skipped(): pass\n\n"
        "@pytest.fixture\ndef broken(): raise ValueError\n\n"
        "def test_error(broken): pass\n",
        encoding="utf-8",
    )
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(report), str(program)]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    held = {name.rpartition(".")[2]: outcome for name, outcome in behaviours(report).items()}
    assert held == {"test_many": True, "test_one_case_fails": False, "test_error": False}


def test_nothing_was_lost_under_load_and_a_missed_limit_is_said():
    load = measured("load")
    assert load["errors"] == []
    assert all(row["errors"] == row["foreign_results"] == 0 for row in load["crowds"])
    assert {row["visitors"] for row in load["crowds"]} >= {1, 8, 32}
    missed = load["p95_rise_by_training"] > load["allowed_rise"]
    assert (", missed)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")) == missed
