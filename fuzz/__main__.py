"""Fuzz the readers: guided by coverage where Atheris can be imported, else by changes that know the formats.

    python -m fuzz [--seconds 60] [--keep] [picture tiff card …]

Each reader gets its own process, so that a crash of compiled code is a finding like any other. A run goes on with the
inputs that earlier ones found (`artefacts/fuzz/corpus`, and the few that are kept in `fuzz/corpus`: `--keep` chooses
them). Findings are written to `artefacts/fuzz`; `benchmarks/results/fuzz.json` adds up the runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fuzz.seeds import CORPUS
from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
FOUND = ROOT / "artefacts" / "fuzz"
WORKING = FOUND / "corpus"
MOST_KEPT, LARGEST_KEPT = 10, 3000  # files of a reader in fuzz/corpus, and bytes of each
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=tuple(TARGETS), help=f"of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--keep", action="store_true", help="keep the smallest inputs that found something new")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"there is no reader called {', '.join(unknown)}")
    way = "atheris, guided by coverage" if importlib.util.find_spec("atheris") else "changes, without coverage"
    FOUND.mkdir(parents=True, exist_ok=True)
    findings = 0
    for name in arguments.targets:
        print(f"{name}: {arguments.seconds} s with {way} …", flush=True)
        result = _run(name, arguments.seconds)
        print(f"  {result['executions']:,} executions, {result['findings']} findings", flush=True)
        _add_up(name, way, result)
        findings += result["findings"]
        if arguments.keep:
            _keep(name)
    return 1 if findings else 0


def _run(name: str, seconds: int) -> dict[str, int]:
    """Rounds over one corpus up to the first finding, whose input is kept."""
    executions, findings, end = 0, 0, time.monotonic() + seconds
    corpus, last = WORKING / name, FOUND / f"{name}-last"
    corpus.mkdir(parents=True, exist_ok=True)
    while (left := round(end - time.monotonic())) > 0 and not findings:
        command = [sys.executable, "-m", "fuzz.run", name, str(left), str(corpus), str(last)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
        content = last.read_bytes() if last.is_file() else bytes(16)
        executions += int.from_bytes(content[:8], "little")
        if done.returncode:
            findings += 1
            kept = FOUND / f"{name}-found-{time.time_ns()}"
            kept.write_bytes(content[16 : 16 + int.from_bytes(content[8:16], "little")])
            print(f"{done.stderr[-4000:]}\n  ended with {done.returncode}; its last input is {kept}")
        last.unlink(missing_ok=True)
    return {"executions": executions, "seconds": seconds, "findings": findings}


def _add_up(name: str, way: str, result: dict[str, int]) -> None:
    """Add a run to those before it; findings are those of the last run, for earlier ones have been repaired."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    today = time.strftime("%Y-%m-%d", time.gmtime())
    before = known.get(name, {"executions": 0, "seconds": 0, "first": today})
    known[name] = {
        "with": way,
        "executions": before["executions"] + result["executions"],
        "seconds": before["seconds"] + result["seconds"],
        "findings": result["findings"],
        "first": before.get("first", today),
        "last": today,
    }
    RESULTS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _keep(name: str) -> None:
    """Copy the smallest of the inputs that led somewhere new to where they are committed."""
    found = [path for path in (WORKING / name).glob("*") if not path.name.startswith("seed-")]
    small = [path for path in found if path.stat().st_size <= LARGEST_KEPT]
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    for path in sorted(small, key=lambda path: (path.stat().st_size, path.name))[:MOST_KEPT]:
        shutil.copyfile(path, CORPUS / name / path.name)


if __name__ == "__main__":
    sys.exit(main())
