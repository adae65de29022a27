"""Write the tables of README.md and docs/ from model cards and measurements, so that they stay true.

python scripts/update_docs.py          # fill the tables from the cards and benchmarks/results/
python scripts/update_docs.py --test   # run the tests that docs/security.md counts first (some minutes)
python scripts/update_docs.py --test "what one visit may keep or use"   # or some groups of them only
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

from bag_generators import GENERATORS
from elimipl.benchmark.crowd import SETS, SHARES, crowd_curves
from elimipl.cards.card import Card
from elimipl.cards.files import list_models
from elimipl.cards.wording import by_source
from elimipl.datasets.colon import CREDITS
from tests.support.bad_inputs import INPUTS, Outcome

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
_SPACES = ("colon", "tissue7", "drawn7")
"""What the ids of models begin with, in the order of the tables."""
GROUPS = {
    "bad pictures through the loader": ["tests/bag_generators/reading/test_bad_inputs.py"],
    "bad pictures through the pages": ["tests/pages/test_bad_inputs.py"],
    "bad pictures in a real browser": ["tests/browser/test_bad_inputs.py"],
    "harmful model cards, weights, bag files and zips": ["tests/elimipl/test_hostile_files.py"],
    "names, labels and texts of strangers": ["tests/elimipl_app/shell/test_names_of_strangers.py"],
    "what one visit may keep or use": ["tests/elimipl_app/shell/test_memory_of_a_visit.py"],
    "hostile requests to a running server": [
        "tests/server/test_security.py",
        "tests/server/test_connections.py",
        "tests/server/test_nginx.py",
    ],
    "visitors side by side at a running server": ["tests/server/test_visitors.py", "tests/server/test_ended_visits.py"],
    "faults: disk, model files, surroundings, kill -9": ["tests/faults", "tests/elimipl/training/test_checkpoint.py"],
    "faults: server killed with a page open": ["tests/browser/test_restart.py"],
    "class sessions: roles, guesses, floods, disks, kill -9": [
        "tests/elimipl/classroom/test_store.py",
        "tests/faults/test_class_sessions.py",
        "tests/server/test_class.py",
        "tests/browser/test_class.py",
    ],
}

WAY = (
    ("elimipl_app/explore/page.py", "show_page", "the page from top to bottom; app.py calls it"),
    ("elimipl_app/inputs/picture.py", "choose_picture", "a sample, an upload or a picture of this visit"),
    ("bag_generators/uploads.py", "read_upload", "hands the bytes to a process with limits of time and memory"),
    ("bag_generators/reading/decoding.py", "decode", "there: what kind of file, Pillow, one refusal or pixels"),
    ("bag_generators/reading/pixel_values.py", "to_rgb", "16 bits, palettes, transparency and profiles to 8-bit sRGB"),
    ("elimipl_app/inputs/method.py", "choose_model", "the model that reads the bag"),
    ("elimipl_app/inputs/picture.py", "choose_field", "whole picture or field, and its scale"),
    ("elimipl_app/explore/analysis.py", "analyse", "all that the page knows about this field"),
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

IN_WORDS = {
    Outcome.REFUSED: "refused by the loader:",
    Outcome.UNFIT: "refused by the generators:",
    Outcome.NOTED: "opened with a note:",
    Outcome.DOUBTED: "opened and marked unreliable:",
    Outcome.TAKEN: "sound after all:",
}


def models_table() -> str:
    """What was measured of every shipped model, a table per label space, each with what it was measured on."""
    spaces: dict[str, list[Card]] = {}
    for card in list_models():
        spaces.setdefault(card.id.partition("-")[0], []).append(card)
    return "\n\n".join(_of_space(space, spaces[space]) for space in _SPACES)


def way_table() -> str:
    """Every function of note on the way of one upload, with its file and line."""
    lines = ["| where | what | |", "|---|---|---|"]
    for path, name, what in WAY:
        text = (ROOT / path).read_text(encoding="utf-8")
        line = text[: text.index(f"def {name}(")].count("\n") + 1
        lines.append(f"| `{path}:{line}` | `{name}` | {what} |")
    return "\n".join(lines)


def crowd_table() -> str:
    """CRC-MIPL rebuilt: accuracy by the share of training bags whose candidates miss the truth, beside the paper's."""
    head = ["", "method", "paper", *(f"{share:.1f}" for share in SHARES), "meets the paper at", "CRC-VAL at 0", "at .4"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for curve in crowd_curves():
        paper = "–" if curve.paper is None else f"{curve.paper:.3f}"
        meets = "–" if curve.paper is None else "nowhere up to .5" if curve.meets is None else f"{curve.meets:.2f}"
        right = [f"{one:.3f}" for one in curve.accuracy]
        cells = [
            curve.data,
            curve.method,
            paper,
            *right,
            meets,
            f"{curve.elsewhere[0]:.3f}",
            f"{curve.elsewhere[4]:.3f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def factors_table() -> str:
    """CRC-MIPL rebuilt, every truth among the candidates: one other thing changed at a time."""
    changes = {"missed": "as simulated", "crowd": "doubt by appearance", "scaling": "not standardised"}
    lines = [f"| | method | paper | {' | '.join(changes.values())} |", "|---" * 6 + "|"]
    runs = measured("crowd")
    for curve in crowd_curves():
        start = f"{next(short for short, data in SETS.items() if data == curve.data)} 0 {curve.method} "
        keys = [
            start + json.dumps(changed) for changed in ({"missed": 0.0}, {"crowd": "appearance"}, {"scaling": "none"})
        ]
        found = [f"{runs[key]['accuracy']:.3f}" if key in runs else "–" for key in keys]
        paper = "–" if curve.paper is None else f"{curve.paper:.3f}"
        lines.append(f"| {curve.data} | {curve.method} | {paper} | {' | '.join(found)} |")
    return "\n".join(lines)


def best_table() -> str:
    """The most accurate model of ELIMIPL of each label space, with what it was measured on."""
    lines = ["| model | right | measured on | map AUROC |", "|---|---|---|---|"]
    for space in _SPACES:
        cards = [card for card in list_models() if card.id.startswith(f"{space}-") and card.method == "elimipl"]
        best = max(cards, key=lambda card: card.accuracy.value if card.accuracy else 0.0)
        if best.accuracy is not None:
            on = f"{best.accuracy.split} (n = {best.accuracy.n:,})"
            lines.append(f"| `{best.id}` | {best.accuracy.value:.3f} | {on} | {_map(best)} |")
    return "\n".join(lines)


def _of_space(space: str, cards: list[Card]) -> str:
    by_method = {(card.generator, card.method): card for card in cards}
    generators = [name for name in reversed(list(GENERATORS)) if (name, "elimipl") in by_method]
    lines = [
        f"**{space}**, {len(cards[0].label_space)} classes. {_measured_on(cards)}",
        "",
        "| generator | ELIMIPL | DEMIPL | calibration error | sets: coverage, size | trusted · and wrong | map AUROC |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in generators:
        card = by_method[name, "elimipl"]
        pair = [_share(by_method.get((name, method))) for method in ("elimipl", "demipl")]
        cells = [GENERATORS[name].title, *pair, _calibration(card), _sets(card), _trusted(card), _map(card)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _measured_on(cards: list[Card]) -> str:
    """One sentence for each way of measuring, with the number of pictures."""
    on = dict.fromkeys(f"{card.accuracy.split} (n = {card.accuracy.n:,})" for card in cards if card.accuracy)
    maps = dict.fromkeys(f"{card.first_map.on} (n = {card.first_map.n:,})" for card in cards if card.first_map)
    maps |= dict.fromkeys(f"{card.trust.on} (n = {card.trust.located:,})" for card in cards if card.trust)
    said = f"Accuracy: {'; '.join(on)}." if on else ""
    return f"{said} Maps: {'; '.join(maps)}." if maps else said


def _share(card: Card | None) -> str:
    if card is None or card.accuracy is None:
        return "–"
    spread = f" ± {card.accuracy.std:.3f}" if card.accuracy.std is not None else ""
    return f"{card.accuracy.value:.3f}{spread}"


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
    return " · ".join(
        f"{min(values):.2f}–{max(values):.2f}"
        for values in ([one[name] for one in found] for name in ("trusted", "trusted_and_wrong"))
    )


def _map(card: Card) -> str:
    if card.first_map is not None:
        return f"{card.first_map.auroc:.3f} (darkness {card.first_map.darkness:.3f})"
    found = None if card.trust is None else card.trust.methods["attention"].auroc
    return "–" if found is None else f"{found:.3f}"


def sources_table() -> str:
    """The sources that models and encoder learned from, with licence and credit."""
    lines = ["| source | what | credit | licence |", "|---|---|---|---|"]
    lines += [
        f"| {name} | [{one.title}]({one.where}) | {one.authors} | {one.licence} |" for name, one in CREDITS.items()
    ]
    return "\n".join(lines)


def same_work_table() -> str:
    """How many times as fast as its reference each thing is that was measured against the same work."""
    rows = [
        f"| {row['name']} | {row['reference']} | {row['times_as_fast']:.2f} |"
        for row in measured("generators")["comparisons"]
    ]
    rows += [
        f"| one step of training, {size['bags']} | the same step by autograd | {size['times_as_fast']:.2f} |"
        for size in measured("training")["fast_against_plain"]["sizes"].values()
    ]
    return "\n".join(["| | reference in the same run | times as fast |", "|---|---|---|", *rows])


def other_batch_table() -> str:
    """The ten-split protocol in batches against the authors' one bag per step: less work, not only faster work."""
    training = measured("training")
    return "\n".join(
        [
            "| | reference in the same run | times as fast |",
            "|---|---|---|",
            f"| ten-split protocol, 7,000 bags, l = 512, T = 100, batch 64 ({training['protocol']['seconds']:.0f} s) | "
            f"one bag per step, extrapolated from {training['one_bag_loop']['steps_timed']:,} steps | "
            f"{training['times_as_fast']:.0f} ({training['times_as_fast_by_processor_time']:.0f} by processor time) |",
        ]
    )


def filled(text: str, mark: str, table: str) -> str:
    """The text with what stands between the marks replaced."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"


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
        tried = f"{count['tried']} behaviour{'s' if count['tried'] > 1 else ''}"
        lines.append(f"| {group} | {tried} | {count['held']} held ({count['date']}) |")
    outcomes = Counter(row.outcome for row in INPUTS)
    counts = "; ".join(f"{IN_WORDS[outcome]} {count}" for outcome, count in outcomes.most_common())
    lines.insert(2, f"| bad pictures in all | {len(INPUTS)} files | {counts} |")
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
    lines += _fuzz_and_noise_rows()
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


def _fuzz_and_noise_rows() -> list[str]:
    """How long the readers were fuzzed; which noise changes the answers of a model, and how often a check notices."""
    readers = measured("fuzz")
    runs, seconds, findings = (
        sum(reader[name] for reader in readers.values()) for name in ("executions", "seconds", "findings")
    )
    rows = [
        f"| fuzzing of {len(readers)} readers | {runs:,} runs in {seconds / 60:.0f} min | {findings} findings in the "
        f"last run of each ({max(reader['last'] for reader in readers.values())}) |"
    ]
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


TABLES = {
    "docs/architecture.md": {"way": way_table},
    "README.md": {"best": best_table},
    "benchmarks/results/findings.md": {"crowd": crowd_table, "factors": factors_table},
    "docs/models.md": {"models": models_table, "sources": sources_table},
    "docs/speed.md": {"same": same_work_table, "batch": other_batch_table},
    "docs/security.md": {"results": results_table},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--test", nargs="*", choices=list(GROUPS), help="run the tests that are counted (of a group)")
    groups = parser.parse_args().test
    if groups is not None:
        known = measured("hardening")
        for group in groups or GROUPS:
            known[group] = counted(GROUPS[group])
            print(group, known[group], flush=True)
        counts = {group: known[group] for group in GROUPS if group in known}
        (RESULTS / "hardening.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    for name, tables in TABLES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        for mark, table in tables.items():
            text = filled(text, mark, table())
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
