"""Write the results in SECURITY.md and benchmarks/results/hardening.md from what was measured, so that they stay true.

python scripts/update_security.py          # fill the tables from benchmarks/results/
python scripts/update_security.py --test   # run the tests that are counted there first (some minutes)
python scripts/update_security.py --test "what one visit may keep or use"   # or some groups of them only
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from scripts.bad_inputs.table import INPUTS, Outcome
from scripts.update_readme import filled

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results"
GROUPS = {
    "bad pictures through the loader": ["tests/bag_generators/reading/test_bad_inputs.py"],
    "bad pictures through the pages": ["tests/pages/test_bad_inputs.py"],
    "bad pictures in a real browser": ["tests/browser/test_bad_inputs.py"],
    "harmful model cards, weights, bag files and zips": ["tests/elimipl/test_hostile_files.py"],
    "names, labels and texts of strangers": ["tests/ui/frame/test_names_of_strangers.py"],
    "what one visit may keep or use": ["tests/ui/frame/test_memory_of_a_visit.py"],
    "hostile requests to a running server": [
        "tests/server/test_security.py",
        "tests/server/test_connections.py",
        "tests/server/test_nginx.py",
    ],
    "visitors side by side at a running server": ["tests/server/test_visitors.py", "tests/server/test_ended_visits.py"],
    "faults: disk, model files, surroundings, kill -9": ["tests/faults", "tests/elimipl/training/test_checkpoint.py"],
    "faults: server killed with a page open": ["tests/browser/test_restart.py"],
    "class sessions: roles, guesses, floods, disks, kill -9": [
        "tests/ui/classroom/test_store.py",
        "tests/faults/test_class_sessions.py",
        "tests/server/test_class.py",
        "tests/browser/test_class.py",
    ],
}

IN_WORDS = {
    Outcome.REFUSED: "refused by the loader:",
    Outcome.UNFIT: "refused by the generators:",
    Outcome.NOTED: "opened with a note:",
    Outcome.DOUBTED: "opened and marked unreliable:",
    Outcome.TAKEN: "sound after all:",
}


def counted(paths: list[str]) -> dict[str, Any]:
    """Run some tests; how many behaviours they try, how many held, and when."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--junitxml", str(report), *paths]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        held = behaviours(report)
    return {"tried": len(held), "held": sum(held.values()), "date": date.today().isoformat()}


def behaviours(report: Path) -> dict[str, bool]:
    """Whether each behaviour held, from a report of tests: a test with all its cases is one, whatever their number.

    A case that was skipped tried nothing; a behaviour held when none of its cases failed.
    """
    held: dict[str, bool] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("skipped") is None:
            test = f"{case.get('classname')}.{case.get('name', '').partition('[')[0]}"
            held[test] = held.get(test, True) and case.find("failure") is None and case.find("error") is None
    return held


def measured(name: str) -> dict[str, Any]:
    """A file of results."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")))


def results_table() -> str:
    """What was tried and what held: tests, reading, load."""
    lines = ["| what was tried | how much | result |", "|---|---|---|"]
    for group, count in measured("hardening").items():
        lines.append(f"| {group} | {_behaviours(count['tried'])} | {count['held']} held{_on(count)} |")
    lines.insert(2, _inputs_row())
    reading = measured("reading")
    every, tile = reading["every_input"], reading["pictures"]["tile of 224 px, PNG"]
    lines.append(
        f"| any bad picture, refused or opened, in a process of its own | {every['files']} files | at most "
        f"{every['seconds']:.1f} s (allowed: {every['allowed']:.0f} s) |"
    )
    lines.append(
        f"| what that process costs on a tile of 224 px | | {tile['extra_ms']:.1f} ms more than reading it in the "
        f"server (allowed: {reading['allowed_extra_ms_of_a_tile']} ms) |"
    )
    lines += _fuzz_rows() + _noise_rows()
    load = measured("load")
    for row in load["crowds"]:
        switch = row["actions"]["switch generator"]
        lines.append(
            f"| {row['crowd']} | {sum(action['n'] for action in row['actions'].values()):,} actions | "
            f"{row['errors']} errors, {row['foreign_results']} results of somebody else; another generator takes "
            f"{switch['p50_ms'] / 1000:.1f} s (p95 {switch['p95_ms'] / 1000:.1f} s); server {row['memory_mb']} MB |"
        )
    lines.append(
        f"| p95 of the others beside a training | | × {load['p95_rise_by_training']:.2f} (allowed: × "
        f"{load['allowed_rise']:.0f}{', missed' if load['p95_rise_by_training'] > load['allowed_rise'] else ''}) |"
    )
    low, high = load["thinking_seconds"]
    summary = (
        f"\nLoad: {load['cores']} cores, shared with other programs (load average {load['load_average_before']:.1f}"
        f" before the run); everybody thinks {low:.0f} to {high:.0f} s between two actions."
    )
    return "\n".join([*lines, summary])


def _inputs_row() -> str:
    outcomes = Counter(row.outcome for row in INPUTS)
    counts = "; ".join(f"{IN_WORDS[outcome]} {count}" for outcome, count in outcomes.most_common())
    return f"| bad pictures in all | {len(INPUTS)} files | {counts} |"


def _on(count: dict[str, Any]) -> str:
    return f" ({count['date']})" if "date" in count else ""


def _behaviours(count: int) -> str:
    return f"{count} behaviour" if count == 1 else f"{count} behaviours"


def _fuzz_rows() -> list[str]:
    if not (RESULTS / "fuzz.json").is_file():
        return []
    readers = measured("fuzz")
    runs, seconds, findings = (
        sum(reader[name] for reader in readers.values()) for name in ("executions", "seconds", "findings")
    )
    last = max(reader.get("last", "") for reader in readers.values())
    return [
        f"| fuzzing of {len(readers)} readers | {runs:,} runs in {seconds / 60:.0f} min | {findings} findings in the "
        f"last run of each{_on({'date': last}) if last else ''} |"
    ]


def _noise_rows() -> list[str]:
    """Of each model that was measured: which noise changes its answer, and how often a check notices."""
    if not (RESULTS / "noise.json").is_file():
        return []
    rows = []
    for model, found in measured("noise").items():
        said = "; ".join(f"{kind}: {_flips(found[kind])}" for kind in ("random", "adversarial"))
        tiles = f"{found['tiles_in_scope']} tiles ({found['tiles']})"
        rows.append(f"| noise on tiles, {model}: answers that change | {tiles}, up to ±32 of 255 | {said} |")
    return rows


def _flips(by_amount: dict[str, dict[str, int]]) -> str:
    said = [
        f"±{amount} {count['flipped']} of {count['tiles']} ({count['out_of_scope'] + count['undecided']} noticed)"
        for amount, count in by_amount.items()
        if count["flipped"]
    ]
    return f"{', '.join(said)}, less noise none" if said else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test", nargs="*", choices=list(GROUPS), help="run the tests that are counted (of a group)")
    groups = parser.parse_args().test
    if groups is not None:
        known = measured("hardening")
        for group in groups or GROUPS:
            known[group] = counted(GROUPS[group])
            print(group, known[group], flush=True)
        counts = {group: known[group] for group in GROUPS if group in known}
        (RESULTS / "hardening.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    table = results_table()
    (RESULTS / "hardening.md").write_text(f"# What the app withstood\n\n{table}\n", encoding="utf-8")
    document = ROOT / "SECURITY.md"
    document.write_text(filled(document.read_text(encoding="utf-8"), "results", table), encoding="utf-8")


if __name__ == "__main__":
    main()
