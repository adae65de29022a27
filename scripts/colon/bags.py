"""Bags for the colon model: parts of whole pictures, and composed ones in which only some cells carry the class.

Composed bags hold cells of one picture of a class among *reserved* cells, which carry none of the epithelial classes:
by gland masks (ebhi6: gland among stroma of other pictures), by class within a source (tissue7, kather8: tumour or
mucosa among stroma, muscle, lymphocytes; lesion5: lesions among healthy mucosa, which the most advanced epithelium
outranks), or without masks, by what an earlier model takes for stroma. The truth serves to build bags, as digit labels
do in MNIST-MIPL; the learner sees candidate sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elimipl.candidates.crowd import Candidates, doubtful
from elimipl.candidates.labels import COLON, TISSUE7, LabelSpace
from elimipl.datasets.colon import CREDITS, SOURCES
from elimipl.datasets.dataset import BagDataset
from scripts.colon.readings import Reader, Readings
from scripts.colon.recipes import Mixture

GLAND, STROMA = 0.7, 0.08
"""Share of gland above which a cell is gland, and below which it is reserved."""
SMALLEST, LARGEST, LEAST, MOST = 12, 32, 0.15, 0.7
"""Cells of a composed bag, and the share of them that carries the class."""
CARRIERS = {
    "tissue7": ({"TUM", "NORM"}, {"STR", "MUS", "LYM"}),
    "kather8": ({"TUMOR", "MUCOSA"}, {"STROMA", "LYMPHO"}),
    "lesion5": ({"adenocarcinoma", "serrated_adenoma", "tubular_adenoma", "villous_adenoma"}, {"healthy"}),
}
"""By source: labels whose cells carry the class, and labels whose cells are reserved."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One bag: its cells, what it may be, and where it comes from."""

    cells: np.ndarray
    meant: np.ndarray
    source: str
    group: str
    name: str


def whole_bags(cells: Readings, per_class: int, rng: np.random.Generator) -> list[Drawn]:
    """The same number for each class of the source: of cells, rectangles of at least 5/8 of each side."""
    labels = np.array([p.label for p in cells.pictures])
    meant = cells.meant
    found = []
    for label in sorted(set(labels)):
        own = np.flatnonzero(labels == label)
        for i in np.concatenate([rng.permutation(own) for _ in range(-(-per_class // len(own)))])[:per_class]:
            part, (rows, columns) = cells.features[i], cells.grids[i]
            if columns > 1:  # else they form no grid
                height, width = (int(rng.integers(-(-side * 5 // 8), side + 1)) for side in (rows, columns))
                top, left = int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1))
                part = part.reshape(rows, columns, -1)[top : top + height, left : left + width]
                part = part.reshape(height * width, -1)
            found.append(_drawn(cells, i, part, meant[i]))
    return found


def composed_bags(
    cells: Readings,
    carrying: Sequence[np.ndarray],
    reserved: Sequence[np.ndarray],
    count: int,
    rng: np.random.Generator,
) -> list[Drawn]:
    """Some cells of one picture among reserved cells of others; `carrying` and `reserved` mark cells, (n,) bool each.

    Classes are drawn evenly, whichever source labels they come from.
    """
    meant = cells.meant
    kinds: dict[bytes, list[int]] = {}
    for i in range(len(cells)):
        if carrying[i].sum() >= 4:
            kinds.setdefault(meant[i].tobytes(), []).append(i)
    pools = [i for i in range(len(cells)) if reserved[i].any()]
    found = []
    for number in range(count):
        own = list(kinds.values())[number % len(kinds)]
        i = own[int(rng.integers(len(own)))]
        size = int(rng.integers(SMALLEST, LARGEST + 1))
        positives = max(1, min(round(size * rng.uniform(LEAST, MOST)), int(carrying[i].sum())))
        part = cells.features[i][rng.permutation(np.flatnonzero(carrying[i]))[:positives]]
        others = [j for j in pools if j != i]
        rest = []
        while sum(map(len, rest)) < size - positives:  # a few pictures give the rest
            j = others[int(rng.integers(len(others)))]
            rest.append(cells.features[j][rng.permutation(np.flatnonzero(reserved[j]))[:12]])
        filling = np.concatenate(rest)[: size - positives] if rest else part[:0]
        found.append(_drawn(cells, i, np.concatenate([part, filling]), meant[i]))
    return found


def _drawn(cells: Readings, i: int, part: np.ndarray, meant: np.ndarray) -> Drawn:
    picture = cells.pictures[i]
    return Drawn(part, meant, picture.source, picture.group, f"{picture.source}/{picture.label}/{picture.path.name}")


def by_class(cells: Readings, count: int, rng: np.random.Generator) -> list[Drawn]:
    """Cells of tumour or mucosa among cells of tissue of the same source that carries neither."""
    carriers, reserved = CARRIERS[cells.pictures[0].source]
    marks = [
        [np.full(len(f), p.label in kind) for p, f in zip(cells.pictures, cells.features, strict=True)]
        for kind in (carriers, reserved)
    ]
    return composed_bags(cells, marks[0], marks[1], count, rng)


@dataclass(frozen=True, eq=False)
class Task:
    """A label space, the sources that teach it, and which class of the colon each of its classes is."""

    space: LabelSpace
    sources: tuple[str, ...]
    columns: np.ndarray

    def candidates(self, meant: np.ndarray, names: Sequence[str], seed: int) -> np.ndarray:
        """What annotators say: the source's label with the doubt of pathologists, or three of the crowd (tissue7)."""
        if self.space is COLON:
            return doubtful(meant, names, COLON, seed=seed)
        pictures = sorted(set(names))
        label = dict(zip(names, meant.argmax(1).tolist(), strict=True))
        sets = Candidates("crowd", seed=seed).drawn_around(np.array([label[p] for p in pictures]), self.space)
        number = {picture: i for i, picture in enumerate(pictures)}
        return np.asarray(sets[[number[name] for name in names]])

    def shown(self, cells: Readings) -> Readings:
        """The pictures of a source that are of one of the classes."""
        return cells.subset(np.flatnonzero(cells.meant[:, self.columns].any(1)))


COLON_TASK = Task(COLON, ("tissue7", "kather8", "lesion5", "ebhi6"), np.arange(len(COLON)))
TISSUE7_TASK = Task(
    TISSUE7, ("tissue7",), np.array([COLON.index(next(iter(SOURCES["tissue7"][name]))) for name in TISSUE7.names])
)


def dataset(drawn: Sequence[Drawn], task: Task, reader: Reader, seed: int) -> BagDataset:
    """Bags in the label space of a task, with candidate sets."""
    meant = np.stack([d.meant for d in drawn])[:, task.columns]
    sources = sorted({d.source for d in drawn})
    return BagDataset.from_bags(
        [d.cells.astype(np.float32) for d in drawn],
        task.space,
        labels=np.where(meant.sum(1) == 1, meant.argmax(1), -1),
        candidates=task.candidates(meant, [d.name for d in drawn], seed),
        generator=reader.generator,
        params=reader.params,
        groups=np.unique([f"{d.source}/{d.group}" for d in drawn], return_inverse=True)[1],
        names=tuple(d.name for d in drawn),
        sources=tuple(d.source for d in drawn),
        source="; ".join(f"{CREDITS[s].title} ({CREDITS[s].authors})" for s in sources),
        licence="; ".join(f"{s}: {CREDITS[s].licence}" for s in sources),
    )


def mixed(
    known: Mapping[str, Readings],
    mixture: Mixture,
    task: Task,
    reader: Reader,
    seed: int,
    stroma: Sequence[np.ndarray] | None = None,
) -> BagDataset:
    """All that a model learns from, of the sources there are.

    Composed bags of ebhi6 hold gland cells of one picture among stroma cells of others: by the gland masks, or by
    `stroma`, how likely an earlier model takes each cell for stroma, (n,) each.
    """
    rng = np.random.default_rng(seed)
    drawn: list[Drawn] = []
    for source, cells in known.items():
        drawn += whole_bags(cells, mixture.per_class, rng)
        if source != "ebhi6":
            count = mixture.by_class // (4 if source == "lesion5" else 1)
            drawn += by_class(cells, count, rng) if count else []
        elif mixture.by_mask:
            if stroma is None:
                shares = cells.glands()
                gland, rest = [s > GLAND for s in shares], [s < STROMA for s in shares]
            else:
                gland, rest = [s < 0.2 for s in stroma], [s > 0.6 for s in stroma]
            drawn += composed_bags(cells, gland, rest, mixture.by_mask, rng)
    return dataset(drawn, task, reader, seed)
