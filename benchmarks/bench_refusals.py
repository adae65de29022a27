"""What it costs to refuse a bomb: seconds and memory, what the largest picture allowed takes, and every bad input.

Each row gets its own process, so that its peak memory is its own. The time is the processor's for `load` alone, the
best of some runs; memory is how far the process grew beyond what it had with the file in hand (Linux, VmHWM).

    python benchmarks/bench_refusals.py
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from bag_generators import InputError, load
from scripts.bad_inputs import hostile
from scripts.bad_inputs.budget import MOST_MEGABYTES
from scripts.bad_inputs.encodings import encoded, tissue
from scripts.make_bad_inputs import make_all

ROOT = Path(__file__).resolve().parents[1]

RUNS = 5
ALLOWED = {"ms": 50, "mb": 20}
LARGEST = "largest-allowed.png"


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(cost(Path(sys.argv[1]))))
        return
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, _) in hostile.FILES.items():
            rows[name] = measured(Path(folder) / name, make())
        rows[LARGEST] = measured(Path(folder) / LARGEST, encoded("PNG", tissue().resize((8000, 5000))))
    show_and_save(rows, cost_of_every_input())


def measured(path: Path, data: bytes) -> dict[str, float | str]:
    """The cost of one file in a fresh process."""
    path.write_bytes(data)
    done = subprocess.run([sys.executable, __file__, str(path)], check=True, capture_output=True, text=True)
    path.unlink()
    return {"bytes": len(data), **json.loads(done.stdout)}


def cost(path: Path) -> dict[str, float | str]:
    """Time and memory of loading one file, from its bytes as an upload comes."""
    data = path.read_bytes()
    load(encoded("PNG", Image.new("RGB", (64, 64), "pink")))  # what every first load of a process needs
    before = memory("VmRSS")
    reset_peak()
    seconds, said = [], "opened"
    for _ in range(RUNS):
        start = time.process_time()
        try:
            load(data)
        except InputError as refusal:
            said = refusal.what
        seconds.append(time.process_time() - start)
    return {"ms": 1000 * min(seconds), "mb": max(0.0, memory("VmHWM") - before), "said": said}


def cost_of_every_input() -> dict[str, float]:
    """The most that any bad input takes, refused or opened: processor seconds and memory of its whole process."""
    with tempfile.TemporaryDirectory() as folder:
        make_all(Path(folder))
        command = [sys.executable, "-m", "scripts.bad_inputs.budget", folder]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    costs = [json.loads(line) for line in done.stdout.splitlines()]
    most = {unit: max(row[unit] for row in costs) for unit in ("seconds", "megabytes")}
    return {"files": len(costs), **most, "allowed": {"seconds": 1, "megabytes": MOST_MEGABYTES}}


def memory(field: str) -> float:
    """Resident memory of this process in MB: now (VmRSS) or at most so far (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


def reset_peak() -> None:
    Path(f"/proc/{os.getpid()}/clear_refs").write_text("5")


def show_and_save(rows: dict, every_input: dict) -> None:
    print(f"{'file':<42}{'bytes':>12}{'ms':>9}{'MB':>9}")
    for name, row in rows.items():
        print(f"{name:<42}{row['bytes']:>12,}{row['ms']:>9.1f}{row['mb']:>9.1f}")
    refused = {name: row for name, row in rows.items() if row["said"] != "opened"}
    worst = {unit: max(row[unit] for row in refused.values()) for unit in ALLOWED}
    over = [name for name, row in refused.items() if any(row[unit] > ALLOWED[unit] for unit in ALLOWED)]
    print(
        f"\n{len(refused)} refused; the dearest took {worst['ms']:.1f} ms and {worst['mb']:.1f} MB (allowed: {ALLOWED})"
    )
    print(f"any of {every_input['files']}: {every_input['seconds']:.2f} s, {every_input['megabytes']} MB in all")
    report = {"allowed": ALLOWED, "worst": worst, "over": over, "files": refused, "largest_allowed": rows[LARGEST]}
    report["every_input"] = every_input
    target = ROOT / "benchmarks" / "results" / "refusals.json"
    target.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
