"""What is run: the cells of the paper's tables and of its Figure 4, each a data set, an r and a method."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

SPLITS = 10
CROWD = 0
"""The r of data whose candidate sets come from annotators: they differ in size."""

MIPL = ("ELIMIPL", "DEMIPL", "MIPLGP")
PARTIAL_LABEL = tuple(f"{name}-{how}" for how in ("Mean", "MaxMin") for name in ("PRODEN", "RC", "LWS", "PL-AGGD"))
PERCEPTRONS = tuple(f"{name}-MLP-{how}" for how in ("Mean", "MaxMin") for name in ("PRODEN", "RC", "LWS"))
ABLATIONS = ("MA+SP", "MA+IN", "MA")
CROSS_ENTROPY = ("CE-SP-IN", "CE")
OURS = ("ELIMIPL-entropy",)
_CDL = tuple(f"CDL-{attention}-{phi}" for attention in ("DAM", "SAM", "MAM") for phi in ("CC", "CN"))
SINCE_NETWORKS = (
    *("MIPLMA", "MIPLMA-batch", *_CDL, *(f"{name}-sigmoid" for name in _CDL)),
    *("DAM-CLI", "ELIMIPL-unscaled", "ELIMIPL-kept", "ABMIL"),
)
"""Of `SINCE`, those that train the attention network."""
SINCE = (*SINCE_NETWORKS, "ProMIPL", "FastMIPL", "FastMIPL-published", "AGOPMIPL")
"""Methods since the paper, and variants of its appendix: they join any table where they are named."""
NOT_BUILT: Mapping[str, str] = {
    "UAMIPL": "its code sums evidence over samples instead of classes, is off at prediction, and no numbers were found",
    "HFC": "its equations were not found",
}
"""Methods since the paper that are not here, and why."""
NOT_AT_HAND = ("SIVAL", "CRC-KMeansSeg", "CRC-SIFT")
"""Data of the paper that can't be rebuilt: they need the authors' files."""
NETWORKS = ("ELIMIPL", "DEMIPL", *ABLATIONS, *CROSS_ENTROPY, *OURS, *SINCE_NETWORKS)
"""Methods that train the attention network; the others learn from instances (MIPLGP) or from bag features."""

Number = tuple[float, float]
"""Mean and standard deviation of the accuracy over ten splits."""


@lru_cache(maxsize=1)
def paper_tables() -> dict[str, dict[str, dict[str, list[list[float] | None]]]]:
    """The paper's tables 2 to 5, A1, A2, A4 and A5, and what CDL's tables 2 and 3 say about methods since.

    Table → data → method → one number for each r (benchmark sets: 1, 2, 3); None is the paper's “--”.
    """
    tables: dict[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
    return tables


def paper_number(data: str, r: int, method: str) -> Number | None:
    """What the paper reports for a method on its data set `data` (CDL's for methods since).

    r is 0 where candidate sets come from a crowd. The tables agree where they overlap, so any of them will do.

    >>> paper_number("Birdsong", 2, "MA+SP")
    (0.665, 0.024)
    """
    for content in paper_tables().values():
        numbers = content.get(data, {}).get(method, [])
        if len(numbers) >= max(r, 1):
            number = numbers[max(r, 1) - 1]
            return None if number is None else (number[0], number[1])
    return None


@dataclass(frozen=True)
class Data:
    """A data set of the benchmark."""

    id: str
    title: str
    paper: str
    """What the paper's tables call it, or the data set it stands in for."""
    comparable: bool = True
    """Whether the paper's number is about the same kind of bags; if not, it is shown but no difference is."""
    pictures: bool = False
    """Whether instances are pictures, which the networks read with a CNN."""


_GENERATORS = {"row": "Row", "sbn": "SBN", "kmeansseg": "KMeansSeg", "sift": "SIFT"}
_ALL = (
    Data("birdsong", "Birdsong", "Birdsong"),
    Data("mnist", "MNIST", "MNIST", pictures=True),
    Data("fmnist", "FMNIST", "FMNIST", pictures=True),
    Data("pathmnist", "PathMNIST", "PathMNIST", pictures=True),
    *(
        Data(f"{space}-{name}", f"{kind}, {title}", f"CRC-{title}", comparable=False)
        for space, kind in (("lesion5", "Lesions"), ("tissue7", "Tissues"))
        for name, title in _GENERATORS.items()
    ),
    *(
        Data(f"crc-{name}", f"CRC-MIPL {_GENERATORS[name]}, rebuilt", f"CRC-{_GENERATORS[name]}", comparable=False)
        for name in ("row", "sbn")
    ),
    Data("authors-birdsong", "Birdsong, authors' bags", "Birdsong"),
    Data("authors-mnist", "MNIST, authors' bags", "MNIST", pictures=True),
    Data("authors-fmnist", "FMNIST, authors' bags", "FMNIST", pictures=True),
    Data("authors-sival", "SIVAL, authors' bags", "SIVAL"),
    *(
        Data(f"authors-crc-{name}", f"CRC {title}, authors' bags", f"CRC-{title}")
        for name, title in _GENERATORS.items()
    ),
)
DATA: Mapping[str, Data] = {data.id: data for data in _ALL}


@dataclass(frozen=True)
class Cell:
    """One number of a table: a data set with r false positive labels, learned by a method."""

    data: str
    r: int
    method: str

    @property
    def name(self) -> str:
        """The key of this cell in the results file."""
        r = "" if self.r == CROWD else f" r={self.r}"
        return f"{self.data}{r} {self.method}"

    @property
    def paper(self) -> Number | None:
        """Mean and standard deviation that the paper reports for this method and r on its own bags."""
        return paper_number(DATA[self.data].paper, self.r, self.method)

    @property
    def cost(self) -> int:
        """0 to 3, from a second per split to ten minutes: what comes first in a run."""
        if self.method == "MIPLGP":
            return 2
        if self.method not in NETWORKS and self.method not in SINCE:
            return 0
        return 3 if DATA[self.data].pictures else 1


@dataclass(frozen=True)
class View:
    """A table or figure of the paper: which cells it shows."""

    id: str
    title: str
    data: tuple[str, ...]
    rs: tuple[int, ...]
    methods: tuple[str, ...]
    extra: tuple[str, ...] = ()
    """Methods shown in a section of their own."""

    def cells(self, added: Sequence[str] = ()) -> Iterator[Cell]:
        """Every cell, data set by data set; methods that are registered or since the paper can be `added`."""
        for data in self.data:
            for r in self.rs:
                for method in (*self.methods, *self.extra, *added):
                    yield Cell(data, r, method)


def _with_authors(*names: str) -> tuple[str, ...]:
    return (*names, *(f"authors-{name}" for name in (*names, "sival")))


_TISSUE = (
    *(f"{space}-{generator}" for space in ("lesion5", "tissue7") for generator in _GENERATORS),
    *("crc-row", "crc-sbn"),
    *(f"authors-crc-{generator}" for generator in _GENERATORS),
)
VIEWS: Mapping[str, View] = {
    view.id: view
    for view in (
        View(
            "table 2",
            "benchmark sets",
            (*_with_authors("mnist", "fmnist", "birdsong"), "pathmnist"),
            (1, 2, 3),
            (*MIPL, *PARTIAL_LABEL),
            PERCEPTRONS,
        ),
        View("table 3", "colorectal tissue", _TISSUE, (CROWD,), (*MIPL, *OURS, *PARTIAL_LABEL)),
        View("table 4", "parts of the loss", _with_authors("birdsong"), (1, 2, 3), ("ELIMIPL", *ABLATIONS, *OURS)),
        View(
            "table 5",
            "cross-entropy",
            _with_authors("mnist", "fmnist", "birdsong"),
            (1, 2, 3),
            ("ELIMIPL", *CROSS_ENTROPY, *OURS),
        ),
        View("figure 4", "false positives", ("birdsong", "authors-birdsong"), tuple(range(1, 11)), MIPL),
    )
}
