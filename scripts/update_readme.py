"""Write the tables of the README from the model cards and the benchmark results, so that they stay true."""

import json
from pathlib import Path

from bag_generators import GENERATORS
from elimipl.cards.card import Card
from elimipl.cards.files import list_models

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results"


def models_table(cards: tuple[Card, ...]) -> str:
    """Accuracy, calibration, label sets and attention of every shipped model."""
    lines = [
        "| label space | generator | ELIMIPL | DEMIPL | calibration error | sets: coverage, size | attention AUROC |",
        "|---|---|---|---|---|---|---|",
    ]
    by_id = {card.id: card for card in cards}
    for space in ("tissue7", "lesion5", "drawn7"):
        for generator in reversed(list(GENERATORS.values())):
            pair = [by_id[f"{space}-{generator.name}-{method}"] for method in ("elimipl", "demipl")]
            cells = [space, generator.title, *map(_share, pair), _calibration(pair[0]), _sets(pair[0])]
            lines.append(f"| {' | '.join([*cells, _attention(pair[0])])} |")
    return "\n".join(lines)


def _share(card: Card) -> str:
    accuracy = card.accuracy
    spread = f" ± {accuracy.std:.3f}" if accuracy.std is not None else ""
    return f"{accuracy.value:.3f}{spread} (n = {accuracy.n:,})"


def _calibration(card: Card) -> str:
    return f"{card.calibration.ece_before:.3f} → {card.calibration.ece_after:.3f}"


def _sets(card: Card) -> str:
    return f"{card.conformal.coverage.value:.3f}, {card.conformal.coverage.size:.2f}"


def _attention(card: Card) -> str:
    return "–" if card.trust is None else f"{card.trust.methods['attention'].auroc:.3f} (n = {card.trust.located})"


def speed_table() -> str:
    """How many times as fast as its reference each measured thing is."""
    comparisons = json.loads((RESULTS / "generators.json").read_text(encoding="utf-8"))["comparisons"]
    rows = [f"| {row['name']} | {row['reference']} | {row['times_as_fast']:.2f} |" for row in comparisons]
    training = json.loads((RESULTS / "training.json").read_text(encoding="utf-8"))
    rows.append(
        f"| ten-split protocol, 7,000 bags, l = 512, T = 100 ({training['protocol']['seconds']:.0f} s) | "
        f"one bag per step, extrapolated from {training['one_bag_loop']['steps_timed']:,} steps | "
        f"{training['times_as_fast']:.0f} ({training['times_as_fast_by_processor_time']:.0f} by processor time) |"
    )
    return "\n".join(["| | reference in the same run | times as fast |", "|---|---|---|", *rows])


def filled(text: str, mark: str, table: str) -> str:
    """The text with what stands between the marks replaced."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"


def main() -> None:
    readme = ROOT / "README.md"
    text = filled(readme.read_text(encoding="utf-8"), "models", models_table(list_models()))
    readme.write_text(filled(text, "speed", speed_table()), encoding="utf-8")


if __name__ == "__main__":
    main()
