"""Fuzz the readers: guided by coverage where Atheris can be imported, else by hypothesis.

    python -m fuzz [--seconds 60] [picture card weights bag-file tile-zip matlab]

Each reader gets its own process, so that a crash of compiled code is a finding like any other. Found inputs are
kept in `artefacts/fuzz`; the counts go to `benchmarks/results/fuzz.json`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
FOUND = ROOT / "artefacts" / "fuzz"
NAMES = tuple(TARGETS)
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=NAMES, help=f"of {', '.join(NAMES)} (left out: all)")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(NAMES):
        parser.error(f"there is no reader called {', '.join(unknown)}")
    guided = importlib.util.find_spec("atheris") is not None
    way = "atheris, guided by coverage" if guided else "hypothesis"
    if not guided:
        print("Atheris can't be imported here: fuzzing with hypothesis, without coverage to guide it.")
    FOUND.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in arguments.targets:
        print(f"{name}: {arguments.seconds} s with {way} …", flush=True)
        results[name] = _guided(name, arguments.seconds) if guided else _unguided(name, arguments.seconds)
        print(f"  {results[name]['executions']:,} executions, {results[name]['findings']} findings", flush=True)
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    told = {**known, **{name: {"with": way, **result} for name, result in results.items()}}
    RESULTS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 1 if any(result["findings"] for result in results.values()) else 0


def _guided(name: str, seconds: int) -> dict[str, int]:
    """libFuzzer, which ends at the first finding and says so with its exit code."""
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as corpus:
        command = [sys.executable, "-m", "fuzz.guided", name, corpus, f"-max_total_time={seconds}"]
        options = ["-timeout=20", "-rss_limit_mb=3000", "-max_len=200000", "-print_final_stats=1"]
        done = subprocess.run(
            [*command, *options, f"-artifact_prefix={FOUND}/{name}-"], cwd=ROOT, capture_output=True, text=True
        )
    counted = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode:
        print(done.stderr[-4000:])
    return {
        "executions": int(counted.group(1)) if counted else 0,
        "seconds": seconds,
        "findings": int(done.returncode != 0),
    }


def _unguided(name: str, seconds: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.unguided", name, str(seconds)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stderr[-4000:])
    counted = re.search(r"(\d+) executions", done.stdout)
    return {
        "executions": int(counted.group(1)) if counted else 0,
        "seconds": seconds,
        "findings": int(done.returncode != 0),
    }


if __name__ == "__main__":
    sys.exit(main())
