"""Fuzz the readers: guided by coverage where Atheris can be imported, else by hypothesis.

    python -m fuzz [--seconds 60] [picture camera-data colour-profile card weights bag-file tile-zip matlab]

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
import time
from pathlib import Path

from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
# Under Atheris memory grows by about 100 KB an execution, which the same kind of inputs without it does not show:
# rounds of so many runs bound what piles up.
LIMITS = ("-runs=20000", "-timeout=20", "-rss_limit_mb=4000", "-max_len=200000", "-print_final_stats=1")
FOUND = ROOT / "artefacts" / "fuzz"
NAMES = tuple(TARGETS)
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=NAMES, help=f"of {', '.join(NAMES)} (default: all)")
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
    all_results = {**known, **{name: {"with": way, **result} for name, result in results.items()}}
    RESULTS.write_text(json.dumps(all_results, indent=2) + "\n", encoding="utf-8")
    return 1 if any(result["findings"] for result in results.values()) else 0


def _guided(name: str, seconds: int) -> dict[str, int]:
    """libFuzzer in rounds over one corpus; a round ends at the first finding and says so with its exit code."""
    executions, findings, end = 0, 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as corpus:
        while (left := round(end - time.monotonic())) > 0 and not findings:
            options = [f"-max_total_time={left}", f"-artifact_prefix={FOUND}/{name}-", *LIMITS]
            said, failed = _run("fuzz.guided", name, corpus, *options)
            executions += _number(r"number_of_executed_units:\s*(\d+)", said)
            findings += failed
    return {"executions": executions, "seconds": seconds, "findings": findings}


def _unguided(name: str, seconds: int) -> dict[str, int]:
    said, failed = _run("fuzz.unguided", name, str(seconds))
    return {"executions": _number(r"(\d+) executions", said), "seconds": seconds, "findings": int(failed)}


def _run(module: str, *arguments: str) -> tuple[str, bool]:
    """What a run said, and whether it found something, which is printed."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    if done.returncode:
        print(done.stderr[-4000:])
    return done.stdout + done.stderr, done.returncode != 0


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


if __name__ == "__main__":
    sys.exit(main())
