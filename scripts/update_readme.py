"""Write the tables of the README from the model cards and the benchmark results, so that they stay true."""

import json
from pathlib import Path

from bag_generators import GENERATORS
from elimipl.cards.card import Card
from elimipl.cards.files import list_models
from elimipl.cards.wording import by_source
from elimipl.data.colon import CREDITS

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results"
_SPACES = ("colon", "tissue7", "drawn7")
"""What the ids of models begin with, in the order of the tables."""


def models_table(cards: tuple[Card, ...]) -> str:
    """What was measured of every shipped model, a table per label space, each with what it was measured on."""
    spaces: dict[str, list[Card]] = {}
    for card in cards:
        spaces.setdefault(card.id.partition("-")[0], []).append(card)
    order = [*(space for space in _SPACES if space in spaces), *sorted(spaces.keys() - set(_SPACES))]
    return "\n\n".join(_of_space(space, spaces[space]) for space in order)


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
    text = filled(text, "sources", sources_table())
    readme.write_text(filled(text, "speed", speed_table()), encoding="utf-8")


if __name__ == "__main__":
    main()
