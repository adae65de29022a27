"""Several data sets with different label systems as one: a source's label is a candidate set in common classes.

One set says “adenoma” where another tells low from high grade; one has a class “stroma” that includes what the other
calls muscle. A label that is coarser than, or cuts across, the common classes is no obstacle to partial-label learning:
it is the set of all classes it may mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset

Meaning = Mapping[str, str | Collection[str]]
"""What each label of a source may mean: one common class, or several."""


def join(
    datasets: Mapping[str, BagDataset], mapping: Mapping[str, Meaning], label_space: LabelSpace | None = None
) -> BagDataset:
    """All bags of `datasets`, by name of their source, in a common label space (default: all classes named).

    A bag's candidates become all that `mapping[source]` says its own candidates may mean; its label is known where it
    means one class only, else −1. `sources` of the result names the source of each bag. Groups stay together, and no
    two sources share one: `elimipl.group_folds` splits by them. `source` and `licence` credit every source.

    Labels that are not mapped are refused by name, and so are classes that the label space does not have. The mapping
    may know more labels and sources than the data sets have.
    """
    if not datasets:
        raise InputError("There is no data set to join.", "Give at least one.")
    if unknown := [source for source in datasets if source not in mapping]:
        raise InputError(f"The mapping says nothing about “{unknown[0]}”.", f"It knows: {', '.join(mapping)}.")
    space = label_space or _space(mapping, datasets)
    joined = BagDataset.concatenate(
        [_translated(source, dataset, mapping[source], space) for source, dataset in datasets.items()]
    )
    return replace(
        joined,
        source=_credits({source: dataset.source for source, dataset in datasets.items()}),
        licence=_credits({source: dataset.licence for source, dataset in datasets.items()}),
    )


def meaning_table(source: str, own: LabelSpace, meaning: Meaning, space: LabelSpace) -> np.ndarray:
    """Which classes of `space` (columns) each label of a source (rows) may mean, (k of the source, k) bool."""
    table = np.zeros((len(own), len(space)), dtype=bool)
    for row, label in enumerate(own.names):
        for name in _several(meaning.get(label, ())):
            if name not in space.names:
                raise InputError(
                    f"“{label}” of “{source}” should mean “{name}”, which is not a class of “{space.id}”.",
                    f"Choose from: {', '.join(space.names)}.",
                )
            table[row, space.index(name)] = True
    return table


def _translated(source: str, dataset: BagDataset, meaning: Meaning, space: LabelSpace) -> BagDataset:
    own = dataset.label_space
    table = meaning_table(source, own, meaning, space)
    used = dataset.candidates.any(axis=0) | np.isin(np.arange(len(own)), dataset.labels)
    if (unmapped := np.flatnonzero(used & ~table.any(axis=1))).size:
        names = ", ".join(f"“{own.names[row]}”" for row in unmapped)
        raise InputError(
            f"The mapping does not say what {names} of “{source}” means.",
            f"Map each label to one or more of: {', '.join(space.names)}.",
        )
    single = np.where(table.sum(axis=1) == 1, table.argmax(axis=1), -1)
    return replace(
        dataset,
        candidates=(dataset.candidates.astype(np.int64) @ table) > 0,
        labels=np.where(dataset.labels >= 0, single[dataset.labels], -1),
        label_space=space,
        sources=(source,) * len(dataset),
    )


def _space(mapping: Mapping[str, Meaning], datasets: Mapping[str, BagDataset]) -> LabelSpace:
    """All classes that the labels of the data sets may mean, in the order in which they are named."""
    named = [name for source in datasets for meant in mapping[source].values() for name in _several(meant)]
    return LabelSpace.of(dict.fromkeys(named), id="joined", source=f"joined from {', '.join(datasets)}")


def _several(meant: str | Collection[str]) -> Collection[str]:
    if isinstance(meant, str):
        return (meant,)
    return sorted(meant) if isinstance(meant, (set, frozenset)) else meant


def _credits(texts: Mapping[str, str]) -> str:
    return "; ".join(f"{source}: {text}" for source, text in texts.items() if text)
