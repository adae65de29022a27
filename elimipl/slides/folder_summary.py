"""What became of a folder of slides: a line for each, and a page for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bag_generators.errors import InputError
from elimipl.slides.exports import NOTICE

LIST = "summary.md"


@dataclass(frozen=True)
class SlideLine:
    """What became of one slide: its tissue and the share of each class, or why there is no map of it."""

    name: str
    tissue_mm2: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    refused: InputError | None = None

    def __str__(self) -> str:
        if self.refused is not None or self.tissue_mm2 is None:
            return f"{self.name}: {self.refused or self.note}"
        said = [f"{self.tissue_mm2:.3f} mm² of tissue"]
        most = sorted(self.shares, key=lambda one: -self.shares[one])[:3]
        said += [f"{name} {100 * self.shares[name]:.1f} %" for name in most if self.shares[name]]
        return f"{self.name}: {', '.join(said)} ({self.note})."


def summary_of(lines: list[SlideLine], model: str) -> str:
    """All slides as a table in Markdown, in the order of their names."""
    classes = next((tuple(line.shares) for line in lines if line.shares), ())
    head = ["Slide", "Tissue, mm²", *(f"{name}, %" for name in classes), ""]
    rows = [_row(line, classes) for line in sorted(lines, key=lambda one: one.name)]
    table = [head, ["---", *["---:"] * (1 + len(classes)), "---"], *rows]
    mapped = sum(line.tissue_mm2 is not None for line in lines)
    refused = sum(line.refused is not None for line in lines)
    return "\n".join(
        [
            f"# {len(lines)} slides, model {_escaped(model)}",
            "",
            f"{mapped} have a map, {refused} could not be mapped, {len(lines) - mapped - refused} are copies.",
            NOTICE,
            "",
            *(f"| {' | '.join(cells)} |" for cells in table),
            "",
        ]
    )


def _row(line: SlideLine, classes: tuple[str, ...]) -> list[str]:
    said = _escaped(str(line.refused or line.note))
    if line.tissue_mm2 is None:
        return [_escaped(line.name), "", *[""] * len(classes), said]
    shares = [f"{100 * line.shares.get(name, 0.0):.1f}" for name in classes]
    return [_escaped(line.name), f"{line.tissue_mm2:.3f}", *shares, said]


def _escaped(text: str) -> str:
    """Names are strangers' text: nothing in them is taken for Markdown."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#!|~" else letter for letter in text)
