"""What models say about pictures that they, and the encoder behind them, have not learned from.

The rule for trusting an answer is fitted on answers about sources left out, one at a time, and about a left-out fold of
every own source. What is reported for a source comes from a rule fitted without it: on models that had seen neither it
nor the other left-out source (two out), and on folds of the sources that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bag_generators.generators.encoder import shipped_encoder
from elimipl.cards.card import Acceptance
from scripts.colon.acceptance import Rows, fit_rule, kept
from scripts.colon.bags import Task
from scripts.colon.learn import Said, ask, known_bags, learned, left_out, signs_of, spread_out, teaching
from scripts.colon.readings import Reader, cell_reader, encoder_from, read
from scripts.colon.recipes import Recipe
from scripts.colon.sources import ROOT, SOURCES, taught

FOLD = 1
"""Of the train parts: what calibrates."""
ASKED, ASKED_ABROAD = 60, 40
"""Pictures of a class of a source that a model is asked about: of its own fold, of a source left out."""
KEPT = ROOT / "runs" / "rows"


@dataclass(frozen=True)
class Study:
    """One label space, generator and method."""

    task: Task
    generator: str
    method: str
    recipe: Recipe
    encoders: Path
    """Holds cal, no-SOURCE and no-SOURCE-SOURCE.safetensors, for Deep."""
    data: Path

    @property
    def called(self) -> str:
        """The id of its model."""
        return f"{self.task.space.id}-{self.generator}-{self.method}"

    @property
    def strangers(self) -> tuple[str, ...]:
        """Sources that can be left out: every one but the only teacher."""
        return tuple(s for s in SOURCES if self.task.sources != (s,))

    def reader(self, without: tuple[str, ...] = (), fold: int | None = None) -> Reader:
        """What reads the pictures: for Deep with an encoder that has not seen some sources, and a fold of the rest."""
        if self.generator != "deep":
            return Reader(self.generator, {"stain": self.recipe.stain})
        if fold is None:
            return cell_reader(shipped_encoder())
        named = "-".join(("no", *without)) if without else "cal"
        others = tuple(s for s in SOURCES if s not in without)
        return cell_reader(encoder_from(self.encoders / f"{named}.safetensors", others, self.data, fold))

    def without(self, *sources: str) -> dict[str, Rows]:
        """Answers of a model without some sources and a fold of the others: about these sources, and about that fold.

        By the name of the set; kept in runs/.
        """
        gone = tuple(s for s in SOURCES if s in sources)
        own = tuple(s for s in self.task.sources if s not in gone)
        path = KEPT / f"{'-'.join((self.called, *gone))}.npz"
        names = [f"{s} left out" for s in gone] + [f"{s}, a fold" for s in own]
        if path.is_file():
            with np.load(path) as file:
                return {name: Rows(file[f"{name} signs"], file[f"{name} right"]) for name in names}
        mixture = self.recipe.abroad
        reader = self.reader(gone, FOLD)
        known = teaching(reader, self.task, own, self.data, mixture.per_class, self.recipe.copies, FOLD)
        fitted, _ = learned(reader, known, mixture, self.task, self.recipe.config(self.method))
        bags = known_bags(fitted, known, self.task)
        asked = [read(reader, spread_out(taught(s, self.data), ASKED_ABROAD)) for s in gone]
        asked += [self.task.shown(left_out(reader, s, self.data, FOLD, ASKED_ABROAD)) for s in own]
        found = {
            name: Rows(signs_of(fitted, bags, one), ask(fitted, one, self.task).right)
            for name, one in zip(names, asked, strict=True)
        }
        KEPT.mkdir(parents=True, exist_ok=True)
        parts = {f"{n} {part}": getattr(rows, part) for n, rows in found.items() for part in ("signs", "right")}
        np.savez(path, **parts)
        told = ", ".join(f"{name} {rows.right.mean():.3f} of {len(rows.right)}" for name, rows in found.items())
        print(f"{self.called} without {', '.join(gone)}: right {told}", flush=True)
        return found

    def own_folds(self) -> dict[str, tuple[Said, Rows]]:
        """Answers of a model of all sources without a fold about that fold, by source."""
        reader, mixture = self.reader(fold=FOLD), self.recipe.small
        known = teaching(reader, self.task, self.task.sources, self.data, mixture.per_class, self.recipe.copies, FOLD)
        fitted, _ = learned(reader, known, mixture, self.task, self.recipe.config(self.method))
        bags = known_bags(fitted, known, self.task)
        found = {}
        for source in self.task.sources:
            asked = self.task.shown(left_out(reader, source, self.data, FOLD, ASKED))
            said = ask(fitted, asked, self.task)
            found[source] = said, Rows(signs_of(fitted, bags, asked), said.right)
        return found

    def rule(self, own: dict[str, Rows], known: int) -> Acceptance:
        """The rule that ships, with what a rule fitted without a source does on it, by source.

        That takes six more models, and is measured for ELIMIPL alone. `known` counts the known bags.
        """
        singles = {s: self.without(s) for s in self.strangers}
        rule = fit_rule(
            {f"{s} left out": rows[f"{s} left out"] for s, rows in singles.items()}
            | {f"{s}, a fold": rows for s, rows in own.items()}
        )
        nested = {}
        for source, rows in singles.items() if self.method == "elimipl" else ():
            sets = {n: r for n, r in rows.items() if n.endswith("a fold")}
            sets |= {f"{s} left out": self.without(source, s)[f"{s} left out"] for s in self.strangers if s != source}
            nested[source] = kept(fit_rule(sets), rows[f"{source} left out"])
        return replace(rule, pictures=known, left_out=nested)
