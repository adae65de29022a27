"""Fuzz the readers: guided by coverage where Atheris can be imported, else by hypothesis.

    python -m fuzz [--seconds 60] [--keep] [picture tiff camera-data …]

Each reader gets its own process, so that a crash of compiled code is a finding like any other. A run goes on with the
inputs that earlier ones found (`artefacts/fuzz/corpus`, and the few that are kept in `fuzz/corpus`: `--keep` chooses
them). Findings are written to `artefacts/fuzz`; `benchmarks/results/fuzz.json` adds up the runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fuzz import LONGEST
from fuzz.seeds import CORPUS
from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ("-timeout=20", "-rss_limit_mb=4000", f"-max_len={LONGEST}", "-print_final_stats=1")
FOUND = ROOT / "artefacts" / "fuzz"
WORKING = FOUND / "corpus"
MOST_KEPT, LARGEST_KEPT = 10, 3000  # files of a reader in fuzz/corpus, and bytes of each
NAMES = tuple(TARGETS)
_COUNTS = re.compile(r"^#(\d+)", re.MULTILINE)
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=NAMES, help=f"of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--keep", action="store_true", help="keep the smallest inputs that found something new")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(NAMES):
        parser.error(f"there is no reader called {', '.join(unknown)}")
    guided = importlib.util.find_spec("atheris") is not None
    way = "atheris, guided by coverage" if guided else "hypothesis"
    if not guided:
        print("Atheris can't be imported here: fuzzing with hypothesis, without coverage to guide it.")
    FOUND.mkdir(parents=True, exist_ok=True)
    findings = 0
    for name in arguments.targets:
        print(f"{name}: {arguments.seconds} s with {way} …", flush=True)
        result = _guided(name, arguments.seconds) if guided else _unguided(name, arguments.seconds)
        print(f"  {result['executions']:,} executions, {result['findings']} findings", flush=True)
        _add_up(name, way, result)
        findings += result["findings"]
        if arguments.keep:
            _keep(name)
    return 1 if findings else 0


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


def _guided(name: str, seconds: int) -> dict[str, int]:
    """libFuzzer in rounds over one corpus; a round ends at the first finding and says so with its exit code."""
    executions, findings, end = 0, 0, time.monotonic() + seconds
    corpus, last = WORKING / name, FOUND / f"{name}-last"
    corpus.mkdir(parents=True, exist_ok=True)
    while (left := round(end - time.monotonic())) > 0 and not findings:
        options = [f"-max_total_time={left}", f"-runs={TARGETS[name].runs_of_a_round}"]
        prefix = f"-artifact_prefix={FOUND}/{name}-"
        said, failed = _run("fuzz.guided", name, str(corpus), str(last), prefix, *options, *LIMITS)
        executions += _number(r"number_of_executed_units:\s*(\d+)", said) or max(
            map(int, _COUNTS.findall(said)), default=0
        )
        findings += failed
        if failed and "Test unit written to" not in said:
            _keep_last(last, FOUND / f"{name}-ended-{time.time_ns()}")
    last.unlink(missing_ok=True)
    return {"executions": executions, "seconds": seconds, "findings": findings}


def _keep_last(last: Path, kept: Path) -> None:
    """Keep the input at which a process ended without a word: by a signal from outside, or out of stack."""
    content = last.read_bytes()
    kept.write_bytes(content[8 : 8 + int.from_bytes(content[:8], "little")])
    print(f"  its last input is {kept.relative_to(ROOT)}")


def _unguided(name: str, seconds: int) -> dict[str, int]:
    said, failed = _run("fuzz.unguided", name, str(seconds))
    return {"executions": _number(r"(\d+) executions", said), "seconds": seconds, "findings": int(failed)}


def _run(module: str, *arguments: str) -> tuple[str, bool]:
    """What a run said, and whether it found something, which is printed."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    if done.returncode:
        print(f"{done.stderr[-4000:]}\n  ended with {done.returncode}")
    return done.stdout + done.stderr, done.returncode != 0


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


if __name__ == "__main__":
    sys.exit(main())
