"""How much the crowd costs: CRC-MIPL rebuilt, by the share of training bags whose candidates miss the truth.

`scripts/measure_crowd.py` trains and writes the file; here it is read and held against the paper's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bag_generators.base.validation import read_json, validated
from elimipl.benchmark.cells import CROWD, paper_number
from elimipl.benchmark.records import RESULTS

FILE = "crowd.json"
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Of training bags whose candidate set holds a random label in the place of the true one."""
AS_PRINTED = 0.01
"""Accuracies this near to each other are taken for the same, about the paper's own deviation."""
SETS = {"row": "CRC-Row", "sbn": "CRC-SBN"}


@dataclass(frozen=True)
class CrowdCurve:
    """One method on one rebuilt set: accuracy at each of `SHARES`, on its own third and on other patients' tiles."""

    data: str
    method: str
    accuracy: tuple[float, ...]
    elsewhere: tuple[float, ...]
    paper: float | None

    @property
    def meets(self) -> float | None:
        """The share of missed truths at which the paper's number comes out; None where it does not up to the last."""
        if self.paper is None or not min(self.accuracy) <= self.paper <= self.accuracy[0]:
            return None
        return float(np.interp(-self.paper, -np.minimum.accumulate(self.accuracy), SHARES))


def crowd_curves(folder: Path = RESULTS) -> tuple[CrowdCurve, ...]:
    """Every method that was run at all shares, means over its splits; none where the file is not there."""
    path = folder / FILE
    if not path.exists():
        return ()
    runs = validated(dict[str, dict[str, float]], read_json(path, FILE), FILE)
    tried: dict[tuple[str, str], dict[float, list[dict[str, float]]]] = {}
    for key, numbers in runs.items():
        generator, _, rest = key.split(" ", 2)
        method, _, changed = rest.partition(" {")
        if changed.startswith('"missed": '):
            share = float(changed.removeprefix('"missed": ').rstrip("}"))
            tried.setdefault((generator, method), {}).setdefault(share, []).append(numbers)
    return tuple(
        CrowdCurve(
            SETS[generator],
            method,
            _means(by_share, "accuracy"),
            _means(by_share, "crc_val"),
            _printed(SETS[generator], method),
        )
        for (generator, method), by_share in tried.items()
        if set(SHARES) <= by_share.keys()
    )


def _means(by_share: dict[float, list[dict[str, float]]], what: str) -> tuple[float, ...]:
    return tuple(float(np.mean([one[what] for one in by_share[share]])) for share in SHARES)


def _printed(data: str, method: str) -> float | None:
    known = paper_number(data, CROWD, method)
    return None if known is None else known[0]


def crowd_sentence(curves: Sequence[CrowdCurve]) -> str:
    """What the curves say about the paper's numbers, in one breath with what they don't."""
    printed = [curve for curve in curves if curve.paper is not None]
    as_it_is = [curve for curve in printed if abs(curve.accuracy[0] - (curve.paper or 0.0)) < AS_PRINTED]
    meeting = sorted(curve.meets for curve in printed if curve.meets and curve not in as_it_is)
    if not meeting:
        return "None of the paper's numbers comes out when candidate sets miss the truth."
    low, high = (f"{100 * share:.0f} %" for share in np.percentile(meeting, (25, 75)))
    named = ", ".join(f"{curve.method} on {curve.data}" for curve in as_it_is)
    without = f" Not so {named}: there the paper's number comes out with every truth named." if named else ""
    return (
        f"{len(meeting)} of {len(printed)} printed numbers come out when some candidate sets miss the truth, half of "
        f"them between {low} and {high} of the bags; with every truth among the candidates all of these are higher."
        f"{without} What the paper's three workers really said is not known, and doubt that follows appearance "
        "costs much, too."
    )
