"""Write the tables of README.md and docs/ from model cards and benchmarks/results/, so that they stay true."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bag_generators import GENERATORS
from elimipl.benchmark.crowd import SETS, SHARES, crowd_curves
from elimipl.cards.card import Card
from elimipl.cards.files import list_models
from elimipl.cards.wording import by_source
from elimipl.datasets.colon import CREDITS
from tests.support.bad_inputs import INPUTS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
_SPACES = ("colon", "tissue7", "drawn7")
"""What the ids of models begin with, in the order of the tables."""
WAY = (
    ("elimipl_app/explore/page.py", "show_page", "the page from top to bottom; app.py calls it"),
    ("elimipl_app/inputs/picture.py", "choose_picture", "a sample, an upload or a picture of this visit"),
    ("bag_generators/uploads.py", "read_upload", "hands the bytes to a process with limits of time and memory"),
    ("bag_generators/reading/decoding.py", "decode", "there: what kind of file, Pillow, one refusal or pixels"),
    ("bag_generators/reading/pixel_values.py", "to_rgb", "16 bits, palettes, transparency and profiles to 8-bit sRGB"),
    ("elimipl_app/inputs/method.py", "choose_model", "the model that reads the bag"),
    ("elimipl_app/inputs/picture.py", "choose_field", "how much of the picture is read, and at which scale"),
    ("elimipl_app/explore/analysis.py", "analyse", "all that the page knows about what was read"),
    ("bag_generators/registry.py", "generate", "the generator by its name, on pixels at its scale"),
    ("bag_generators/generators/deep.py", "deep", "cells of 14 px, each with its surroundings"),
    ("bag_generators/generators/encoder.py", "cells", "the encoder over the whole picture, twice"),
    ("elimipl/answers/predictor.py", "predict", "bag → calibrated probabilities and attention"),
    ("elimipl/model/network.py", "read", "equations 1–4"),
    ("elimipl/answers/answer.py", "judge", "is this a picture the model may be asked about?"),
    ("elimipl/answers/answer.py", "of", "label, set, trusted or why not"),
    ("elimipl_app/explore/map_panel.py", "show_map", "which map, how it is painted, what a click does"),
    ("elimipl_app/explore/map_figure.py", "map_figure", "the Plotly figure"),
)
"""The way of one upload through the house: file, function, what happens there."""


def table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [list(map(str, row)) for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace(" --- ", "---")


def measured(name: str) -> dict[str, Any]:
    """A file of results."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")))


def way_table() -> str:
    """Every function of note on the way of one upload, with its file and line."""
    rows = []
    for path, name, what in WAY:
        text = (ROOT / path).read_text(encoding="utf-8")
        line = text[: text.index(f"def {name}(")].count("\n") + 1
        rows.append((f"`{path}:{line}`", f"`{name}`", what))
    return table(("where", "what", ""), rows)


def crowd_table() -> str:
    """CRC-MIPL rebuilt: accuracy by the share of training bags whose candidates miss the truth, beside the paper's."""
    rows = []
    for curve in crowd_curves():
        meets = "–" if curve.paper is None else "nowhere up to .5" if curve.meets is None else f"{curve.meets:.2f}"
        elsewhere = map(_number, (curve.elsewhere[0], curve.elsewhere[4]))
        rows.append((curve.data, curve.method, *map(_number, (curve.paper, *curve.accuracy)), meets, *elsewhere))
    return table(("", "method", "paper", *SHARES, "meets the paper at", "CRC-VAL at 0", "at .4"), rows)


def factors_table() -> str:
    """CRC-MIPL rebuilt, every truth among the candidates: one other thing changed at a time."""
    runs, short = measured("crowd"), {data: name for name, data in SETS.items()}
    changes = ({"missed": 0.0}, {"crowd": "appearance"}, {"scaling": "none"})
    rows = []
    for curve in crowd_curves():
        keys = (f"{short[curve.data]} 0 {curve.method} {json.dumps(changed)}" for changed in changes)
        found = (runs.get(key, {}).get("accuracy") for key in keys)
        rows.append((curve.data, curve.method, *map(_number, (curve.paper, *found))))
    return table(("", "method", "paper", "as simulated", "doubt by appearance", "not standardised"), rows)


def readings_table() -> str:
    """Numbers far from the paper's: accuracy with one setting changed, means over the splits that ran."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, accuracy in measured("readings").items():
        cell, _, rest = name.partition(", split ")
        found.setdefault(
            (cell, rest.partition(": ")[2].strip("{}").replace('"', "") or "as in the comparison"), []
        ).append(accuracy)
    return table(
        ("bags of seed 1", "changed", "accuracy", "splits"),
        ((*key, _number(sum(values) / len(values)), len(values)) for key, values in found.items()),
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def best_table() -> str:
    """The most accurate model of ELIMIPL of each label space, with what it was measured on."""
    measured_cards = [card for card in list_models() if card.method == "elimipl" and card.accuracy]
    rows = []
    for space in _SPACES:
        cards = (card for card in measured_cards if card.id.startswith(f"{space}-"))
        best = max(cards, key=lambda card: card.accuracy.value)
        on = f"{best.accuracy.split} (n = {best.accuracy.n:,})"
        rows.append((f"`{best.id}`", _number(best.accuracy.value), on, _map(best)))
    return table(("model", "right", "measured on", "map AUROC"), rows)


def models_table() -> str:
    """What was measured of every shipped model, a table per label space, each with what it was measured on."""
    return "\n\n".join(
        _of_space(space, [card for card in list_models() if card.id.startswith(f"{space}-")]) for space in _SPACES
    )


def _of_space(space: str, cards: list[Card]) -> str:
    by_method = {(card.generator, card.method): card for card in cards}
    rows = []
    for name in reversed(list(GENERATORS)):
        card, other = by_method[name, "elimipl"], by_method[name, "demipl"]
        right = (_number(one.accuracy and one.accuracy.value) for one in (card, other))
        rows.append((GENERATORS[name].title, *right, _calibration(card), _sets(card), _trusted(card), _map(card)))
    about = f"**{space}**, {len(cards[0].label_space)} classes. {_measured_on(cards)}\n\n"
    columns = "ELIMIPL", "DEMIPL", "calibration error", "sets: coverage, size", "trusted · and wrong", "map AUROC"
    return about + table(("generator", *columns), rows)


def _measured_on(cards: list[Card]) -> str:
    """One sentence for each way of measuring, with the number of pictures."""
    on = dict.fromkeys(f"{card.accuracy.split} (n = {card.accuracy.n:,})" for card in cards if card.accuracy)
    maps = dict.fromkeys(f"{card.first_map.on} (n = {card.first_map.n:,})" for card in cards if card.first_map)
    maps |= dict.fromkeys(f"{card.trust.on} (n = {card.trust.located:,})" for card in cards if card.trust)
    return f"Accuracy: {'; '.join(on)}. Maps: {'; '.join(maps)}."


def _calibration(card: Card) -> str:
    return "–" if card.calibration is None else f"{card.calibration.ece_before:.3f} → {card.calibration.ece_after:.3f}"


def _sets(card: Card) -> str:
    found = None if card.conformal is None else card.conformal.coverage
    return "–" if found is None else f"{found.value:.3f}, {found.size:.2f}"


def _trusted(card: Card) -> str:
    """Lowest and highest share over the sources, of their held-back pictures."""
    found = by_source(card).values()
    if not found:
        return "–"
    shares = ([one[name] for one in found] for name in ("trusted", "trusted_and_wrong"))
    return " · ".join(f"{min(values):.2f}–{max(values):.2f}" for values in shares)


def _map(card: Card) -> str:
    if card.first_map is not None:
        return f"{card.first_map.auroc:.3f} (darkness {card.first_map.darkness:.3f})"
    return _number(None if card.trust is None else card.trust.methods["attention"].auroc)


def sources_table() -> str:
    """The sources that models and encoder learned from, with licence and credit."""
    rows = ((name, f"[{one.title}]({one.where})", one.authors, one.licence) for name, one in CREDITS.items())
    return table(("source", "what", "credit", "licence"), rows)


_SPEED = ("", "reference in the same run", "times as fast")


def same_work_table() -> str:
    """How many times as fast as its reference each thing is that was measured against the same work."""
    rows = [
        (row["name"], row["reference"], f"{row['times_as_fast']:.2f}") for row in measured("generators")["comparisons"]
    ]
    rows += [
        (f"one step of training, {size['bags']}", "the same step by autograd", f"{size['times_as_fast']:.2f}")
        for size in measured("training")["fast_against_plain"]["sizes"].values()
    ]
    return table(_SPEED, rows)


def other_batch_table() -> str:
    """The ten-split protocol in batches against the authors' one bag per step: less work, not only faster work."""
    training = measured("training")
    seconds, steps = training["protocol"]["seconds"], training["one_bag_loop"]["steps_timed"]
    row = (
        f"ten-split protocol, 7,000 bags, l = 512, T = 100, batch 64 ({seconds:.0f} s)",
        f"one bag per step, extrapolated from {steps:,} steps",
        f"{training['times_as_fast']:.0f} ({training['times_as_fast_by_processor_time']:.0f} by processor time)",
    )
    return table(_SPEED, [row])


def results_table() -> str:
    """What was tried and what came of it: bad pictures, fuzzing, noise, load."""
    outcomes = Counter(row.outcome.value for row in INPUTS).most_common()
    reading, load, readers = measured("reading"), measured("load"), measured("fuzz").values()
    every, tile = reading["every_input"], reading["pictures"]["tile of 224 px, PNG"]
    runs, seconds, finds = (sum(one[name] for one in readers) for name in ("executions", "seconds", "findings"))
    rows = [
        ("bad pictures", f"{len(INPUTS)} files", " · ".join(f"{what}: {count}" for what, count in outcomes)),
        (
            "any bad picture, refused or opened, in a process of its own",
            f"{every['files']} files",
            f"at most {every['seconds']:.1f} s (allowed: {every['allowed']:.0f} s)",
        ),
        (
            "what that process costs on a tile of 224 px",
            "",
            f"{tile['extra_ms']:.1f} ms more than reading it in the server (allowed: "
            f"{reading['allowed_extra_ms_of_a_tile']} ms)",
        ),
        (
            f"fuzzing of {len(readers)} readers",
            f"{runs:,} runs in {seconds / 60:.0f} min",
            f"{finds} findings in the last run of each ({max(one['last'] for one in readers)})",
        ),
    ]
    for model, found in measured("noise").items():
        tiles = f"{found['tiles_in_scope']} tiles ({found['tiles']}), up to ±32 of 255"
        said = "; ".join(f"{kind}: {_flips(found[kind])}" for kind in ("random", "adversarial"))
        rows.append((f"noise on tiles, {model}: answers that change", tiles, said))
    for row in load["crowds"]:
        switch = row["actions"]["switch generator"]
        came = (
            f"{row['errors']} errors, {row['foreign_results']} results of somebody else; another generator takes "
            f"{switch['p50_ms'] / 1000:.1f} s (p95 {switch['p95_ms'] / 1000:.1f} s); server {row['memory_mb']} MB"
        )
        rows.append((row["crowd"], f"{sum(action['n'] for action in row['actions'].values()):,} actions", came))
    rise, allowed = load["p95_rise_by_training"], load["allowed_rise"]
    missed = ", missed" if rise > allowed else ""
    rows.append(("p95 of the others beside a training", "", f"× {rise:.2f} (allowed: × {allowed:.0f}{missed})"))
    rows += _pressure_rows(load)
    low, high = load["thinking_seconds"]
    about = (
        f"Load: {load['cores']} cores, shared with other programs (load average {load['load_average_before']:.1f}"
        f" before the run); everybody thinks {low:.0f} to {high:.0f} s between two actions."
    )
    return f"{table(('what was tried', 'how much', 'result'), rows)}\n\n{about}"


def _pressure_rows(load: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The other loads of `benchmarks/bench_load.py`, as far as they were measured."""
    if votes := load.get("votes"):
        vote = votes["actions"]["vote"]
        came = (
            f"{votes['votes_kept']:,} kept, {votes['errors']} errors; a vote takes {vote['p50_ms']:.0f} ms (p95 "
            f"{vote['p95_ms']:.0f} ms, allowed: {votes['allowed_p95_ms'] / 1000:.0f} s; {votes['date']})"
        )
        sent = f"{votes['votes_sent']:,} votes in {votes['seconds']:.0f} s"
        yield f"{votes['students']} students vote", sent, came
    if large := load.get("uploads"):
        came = (
            f"{large['errors']} errors; another visitor waits p95 {large['p95_ms'] / 1000:.1f} s (allowed: "
            f"{large['allowed_p95_ms'] / 1000:.0f} s); memory {large['memory_mb_before']:,} to "
            f"{large['memory_mb_most']:,} MB ({large['date']})"
        )
        yield "uploads of 40 million pixels at once", str(large["uploads"]), came
    if gone := load.get("gone"):
        came = (
            f"memory {gone['memory_mb_before']:,} MB before, {gone['memory_mb_after']:,} MB after (allowed: "
            f"{gone['allowed_mb']} MB more; {gone['date']})"
        )
        yield "visitors who left, nobody after them", f"{gone['uploads']} uploads", came
    if use := load.get("endurance"):
        memory = ", ".join(f"{mb:,}" for mb in use["memory_mb"])
        came = f"{use['errors']} errors; memory {memory} MB after each tenth ({use['date']})"
        yield "use without end", f"{use['action_count']:,} actions", came


def _flips(by_amount: dict[str, dict[str, int]]) -> str:
    said = [
        f"±{amount} {count['flipped']} of {count['tiles']} ({count['out_of_scope'] + count['undecided']} noticed)"
        for amount, count in by_amount.items()
        if count["flipped"]
    ]
    return f"{', '.join(said)}, less noise none" if said else "none"


def filled(text: str, mark: str, contents: str) -> str:
    """The text with what stands between the marks replaced."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{contents}\n{end}{rest.partition(end)[2]}"


TABLES = {
    "docs/architecture.md": {"way": way_table},
    "README.md": {"best": best_table},
    "benchmarks/results/findings.md": {"crowd": crowd_table, "factors": factors_table, "readings": readings_table},
    "docs/models.md": {"models": models_table, "sources": sources_table},
    "docs/speed.md": {"same": same_work_table, "batch": other_batch_table},
    "docs/security.md": {"results": results_table},
}


def main() -> None:
    for name, tables in TABLES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        for mark, made in tables.items():
            text = filled(text, mark, made())
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
