"""Write the numbers of docs/scale.md: what was measured, and what the model of `scripts/scale_model.py` makes of it.

python benchmarks/bench_scale.py --bags 1000 10000 100000 1000000
python benchmarks/bench_workers.py
python benchmarks/bench_training_scale.py --bags 10000 100000
python scripts/crc100k_miniature.py --kill
python scripts/update_scale.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scripts.scale_model import ASSUMED, SLIDE_TILES, Estimate, epoch, pictures
from scripts.update_readme import filled

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
RESULTS = ROOT / "benchmarks" / "results"
TILE_BYTES = 150_806
WORKERS = (1, 8, 64)
MILLION = 1_000_000
BUSY = "The machine had other work: times are too long, processor time is what counts. "


def main() -> None:
    """Fill the page."""
    names = ("scale", "workers", "training_scale", "training", "generators", "crc100k")
    found = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    text = PAGE.read_text(encoding="utf-8")
    parts = {
        "growth": growth(found["scale"]),
        "measured": measured(found),
        "simulated": simulated(found),
        "assumed": f"Assumed: {ASSUMED}.",
        "memory": memory(found["training_scale"]),
        "amp": amp(found["training_scale"]["amp"]),
        "crc100k": crc100k(found["crc100k"]),
    }
    for mark, table in parts.items():
        text = filled(text, mark, table)
    PAGE.write_text(text, encoding="utf-8")


def growth(found: dict[str, Any]) -> str:
    """Speed and memory from few to many, and whether they grow as they should."""
    counts = sorted({row["count"] for row in found["rows"]})
    lines = [f"| | {' | '.join(f'{count:,}' for count in counts)} | each more |", "|---|" + "---|" * (len(counts) + 1)]
    for one in found["growth"]:
        mine = {row["count"]: row for row in found["rows"] if (row["what"], row["way"]) == (one["what"], one["way"])}
        cells = [
            f"{count / mine[count]['seconds']:,.0f} a second, {mine[count]['own'] / 1e6:,.0f} MB"
            if count in mine
            else ""
            for count in counts
        ]
        grows = "" if one["linear"] and one["flat"] else " (**grows**)"
        time = "too short to say" if one["time_of_one_grows"] is None else f"× {one['time_of_one_grows']:.2f} time"
        lines.append(
            f"| {one['what']}, {one['way']} | {' | '.join(cells)} | {time}, {one['bytes_for_one']:,} bytes{grows} |"
        )
    about = (
        f"{found['machine']}; {found['tiles']} as hard links, generator {found['generator']}; MB without mapped files"
    )
    return "\n".join(lines) + f"\n\n{about}."


def measured(found: dict[str, Any]) -> str:
    """One and two workers, side by side."""
    workers, training = found["workers"], found["training_scale"]
    lines = ["| | processor time | one worker | two workers |", "|---|---|---|---|"]
    for name, times in {**workers["tiles"], "slide": workers["slide"]}.items():
        what = f"a tile of a slide (of {times['1']['tiles']}), Deep" if name == "slide" else f"a tile of 224 px, {name}"
        spent = f"{times['1']['processor_seconds_a_tile'] * 1e3:.1f} ms"
        pair = [f"{times[n]['seconds_a_tile'] * 1e3:.1f} ms" for n in ("1", "2")]
        lines.append(f"| {what} | {spent} | {pair[0]} | {pair[1]} |")
    bags, settings = int(training["settings"]["processes_on"]), training["settings"]
    about = f"{bags:,} bags of {settings['instances']} × {settings['dim']}, l = {settings['hidden']}"
    times = training["processes"]
    lines.append(f"| an epoch of {about} | | {times['1']:.1f} s | {times['2']:.1f} s |")
    each = [f"{times[n] / bags * 1e3:.2f} ms" for n in ("1", "2")]
    lines.append(f"| a bag in an epoch | | {each[0]} | {each[1]} |")
    pool = f"Two workers of the pool did {2 * pool_efficiency(found):.2f} times the work of one on the idle machine."
    load = f"load average {workers['load_average']} (tiles and slide) and {training['load_average']} (training)"
    busy = "" if max(workers["load_average"], training["load_average"]) < workers["cores"] else BUSY
    return "\n".join([*lines, "", f"{workers['cores']} cores, {load}. {busy}{pool}"])


def simulated(found: dict[str, Any]) -> str:
    """1,000 slides and a million bags on few and on many workers."""
    workers, training = found["workers"], found["training_scale"]
    tiles, slide = workers["tiles"], workers["slide"]
    rows: dict[str, list[Estimate]] = {}
    of_slide = slide["1"]["processor_seconds_a_tile"] * SLIDE_TILES
    share = pool_efficiency(found)
    rows["map 1,000 slides, Deep"] = [pictures(1000, of_slide, SLIDE_TILES * 50_000, n, share) for n in WORKERS]
    for name in ("deep", "row"):
        each = tiles[name]["1"]["processor_seconds_a_tile"]
        rows[f"a million bags, {name}"] = [pictures(MILLION, each, TILE_BYTES, n, share) for n in WORKERS]
    settings = training["settings"]
    a_step = found["training"]["fast_against_plain"]["sizes"]["paper"]["fast_ms_a_step"] / 1e3
    a_bag = training["processes"]["1"] / int(settings["processes_on"]) - a_step / 64
    parameters = settings["hidden"] * (settings["dim"] + 16)
    for batch in (64, 4096):
        rows[f"an epoch of a million bags, {batch:,} a step"] = [
            epoch(MILLION, batch, max(a_bag, 0.0), a_step, parameters, n) for n in WORKERS
        ]
    lines = [f"| | {' | '.join(f'{n} worker' + 's' * (n > 1) for n in WORKERS)} |", "|---|---|---|---|"]
    for name, estimates in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{duration(one.seconds)} ({one.limited_by})' for one in estimates)} |")
    return "\n".join(lines)


def pool_efficiency(found: dict[str, Any]) -> float:
    """What each of two workers does of what one alone does, as benchmarks/bench_generators.py measured it."""
    (pool,) = (row for row in found["generators"]["comparisons"] if row["name"].startswith("generate_many, 2"))
    return min(1.0, float(pool["times_as_fast"]) / 2)


def memory(training: dict[str, Any]) -> str:
    """How much training from disk takes."""
    lines = ["| bags | instances of an epoch | peak | above the program itself |", "|---|---|---|---|"]
    for count, one in training["bags"].items():
        share = f"{one['times_working_set']:.2f} × the instances"
        lines.append(f"| {int(count):,} | {one['working_set_mb']:,.0f} MB | {one['peak_mb']:,.0f} MB | {share} |")
    return "\n".join(lines) + f"\n\nThe program itself takes {training['program_mb']:,.0f} MB."


def amp(found: dict[str, Any]) -> str:
    """Accuracy with both widths."""
    pairs = [f"{name} {', '.join(f'{value:.4f}' for value in values)}" for name, values in found["accuracy"].items()]
    return f"Test accuracy on 2,100 of 7,000 made-up bags, {found['epochs']} epochs, seeds 0–2: {'; '.join(pairs)}."


def crc100k(found: dict[str, Any]) -> str:
    """The recipe for the real sets, extrapolated."""
    real, tiles = found["real"], sum(found["costs"]["tiles"].values())
    lines = ["| step | hours | GB |", "|---|---|---|"]
    for name, cost in real["steps"].items():
        lines.append(f"| {name} | {cost['hours']:.1f} | {cost['gb']:.1f} |")
    total = [sum(cost[kind] for cost in real["steps"].values()) for kind in ("hours", "gb")]
    lines.append(f"| together | {total[0]:.1f} | {total[1]:.1f} |")
    made = f"{real['workers']} workers, {real['epochs']} epochs; by the processor time of a miniature of {tiles} tiles"
    killed = f"A trial of its own was ended with -9 {found['killed_times']} times and went on"
    return "\n".join(lines) + f"\n\n{made}, and 10 MB/s from the server. {killed}."


def duration(seconds: float) -> str:
    """A rounded time in the unit a person would use."""
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.1f} days"


if __name__ == "__main__":
    main()
