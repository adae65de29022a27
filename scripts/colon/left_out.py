"""When an answer may be trusted: what models say about pictures that they, and their encoder, have not learned from.

The rule is fitted on answers about sources left out, one at a time, and about a left-out fold of every own source. What
is reported for a source comes from a rule fitted without it: on models that had seen neither it nor another left-out
source (two out), and on folds of the sources that are left. An answer is right when it lies in the set that the
source's label maps to; classes that only the left-out source has can't be answered right, and the rule has to refuse
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from bag_generators.generators.encoder import shipped_encoder
from elimipl.cards.card import Acceptance, Kept
from scripts.colon.bags import Task
from scripts.colon.learn import Said, ask, known_bags, learned, left_out, signs_of, spread_out, teaching
from scripts.colon.readings import Reader, cell_reader, encoder_from, read
from scripts.colon.recipes import Mixture, Recipe
from scripts.colon.sources import SOURCES, taught

FOLD = 1
"""Of the train parts: what calibrates."""
ASKED, ASKED_ABROAD = 60, 40
"""Pictures of a class of a source that a model is asked about: of its own fold, of a source left out."""
MOST_WRONG = 0.04
"""Share of a set that may be trusted and wrong where the limit is set; on new pictures it is a little more."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Answers about the pictures of one set."""

    signs: np.ndarray  # (m, 7)
    right: np.ndarray  # (m,) bool


@dataclass(frozen=True, eq=False)
class Study:
    """One label space, generator and method."""

    task: Task
    generator: str
    method: str
    recipe: Recipe
    encoders: Path
    """Holds cal, no-SOURCE and no-SOURCE-SOURCE.safetensors, for Deep."""
    data: Path
    _said: dict[tuple[str, ...], dict[str, Rows]] = field(default_factory=dict)

    def reader(self, without: tuple[str, ...] = (), fold: int | None = None) -> Reader:
        """What reads the pictures: for Deep with an encoder that has not seen some sources, and a fold of the rest."""
        if self.generator != "deep":
            return Reader(self.generator, {"stain": self.recipe.stain})
        if fold is None:
            return cell_reader(shipped_encoder())
        named = "-".join(("no", *without)) if without else "cal"
        others = tuple(s for s in SOURCES if s not in without)
        return cell_reader(encoder_from(self.encoders / f"{named}.safetensors", others, self.data, fold))

    def own_folds(self) -> dict[str, tuple[Said, Rows]]:
        """Answers of a model of all sources without a fold about that fold, by set."""
        return self._asked((), self.recipe.small, ASKED)

    def without(self, *sources: str) -> dict[str, Rows]:
        """Answers of a model without some sources and a fold of the others: about these, and about that fold."""
        gone = tuple(s for s in SOURCES if s in sources)
        if gone not in self._said:
            asked = self._asked(gone, self.recipe.abroad, ASKED_ABROAD)
            self._said[gone] = {name: rows for name, (_, rows) in asked.items()}
        return self._said[gone]

    def _asked(self, gone: tuple[str, ...], mixture: Mixture, per_class: int) -> dict[str, tuple[Said, Rows]]:
        task, reader = self.task, self.reader(gone, FOLD)
        own = tuple(s for s in task.sources if s not in gone)
        known = teaching(reader, task, own, self.data, self.recipe, mixture.per_class, FOLD)
        fitted, _ = learned(reader, known, mixture, task, self.recipe.config(self.method))
        bags = known_bags(fitted, known, task)
        asked = {f"{s} left out": read(reader, spread_out(taught(s, self.data), per_class)) for s in gone}
        asked |= {f"{s}, a fold": task.shown(left_out(reader, s, self.data, FOLD, per_class)) for s in own}
        found = {}
        for name, cells in asked.items():
            said = ask(fitted, cells, task)
            found[name] = said, Rows(signs_of(fitted, bags, cells), said.right)
        return found

    def rule(self, own: dict[str, Rows], known: int) -> Acceptance:
        """The rule that ships, with what a rule fitted without a source does on it, by source.

        That takes six more models, and is measured for ELIMIPL alone. `known` counts the known bags.
        """
        strangers = tuple(s for s in SOURCES if self.task.sources != (s,))  # the only teacher can't be left out
        singles = {s: self.without(s) for s in strangers}
        rule = fit_rule({f"{s} left out": rows[f"{s} left out"] for s, rows in singles.items()} | own)
        nested = {}
        for source, rows in singles.items() if self.method == "elimipl" else ():
            sets = {n: r for n, r in rows.items() if n.endswith("a fold")}
            sets |= {f"{s} left out": self.without(source, s)[f"{s} left out"] for s in strangers if s != source}
            nested[source] = kept(fit_rule(sets), rows[f"{source} left out"])
        return replace(rule, pictures=known, left_out=nested)


def kept(rule: Acceptance, rows: Rows) -> Kept:
    """What the rule does with some answers."""
    trusted = chances(rule, rows.signs) >= rule.limit
    return Kept(
        n=len(rows.right),
        right=round(float(rows.right.mean()), 4),
        trusted=round(float(trusted.mean()), 4),
        trusted_wrong=round(float((trusted & ~rows.right).mean()), 4),
    )


def chances(rule: Acceptance, signs: np.ndarray) -> np.ndarray:
    """(m, 7) → (m,)."""
    return np.array([rule.chance(tuple(row)) for row in signs])


def fit_rule(sets: Mapping[str, Rows]) -> Acceptance:
    """A logistic regression in which every set weighs the same, and the lowest limit that holds on each of them."""
    signs = np.concatenate([rows.signs for rows in sets.values()])
    right = np.concatenate([rows.right for rows in sets.values()])
    weight = np.concatenate([np.full(len(rows.right), 1 / len(rows.right)) for rows in sets.values()])
    shifts, scales = signs.mean(0), signs.std(0) + 1e-6
    found = LogisticRegression(C=1.0, max_iter=5000).fit(
        (signs - shifts) / scales, right, sample_weight=weight * len(right) / weight.sum()
    )
    rule = Acceptance(
        weights=tuple(found.coef_[0].tolist()),
        shifts=tuple(shifts.tolist()),
        scales=tuple(scales.tolist()),
        intercept=float(found.intercept_[0]),
        limit=0.0,
        pictures=0,
        fitted_on="sources left out of encoder and model, and left-out folds of the others",
        left_out={},
    )
    limit = max(_lowest(chances(rule, rows.signs), rows.right) for rows in sets.values())
    return replace(rule, limit=min(limit, 1.0))


def _lowest(chances: np.ndarray, right: np.ndarray) -> float:
    """The lowest limit at which at most 4 % of all answers are trusted and wrong."""
    order = np.argsort(-chances, kind="stable")
    wrong = np.cumsum(~right[order]) / len(right)
    too_many = np.flatnonzero(wrong > MOST_WRONG)
    return 0.0 if not len(too_many) else float(np.nextafter(chances[order[too_many[0]]], 2))
