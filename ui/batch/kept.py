"""The batch of a visit: its files and rows stay while a person looks at other pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from elimipl.predictor import Predictor
from ui.batch.rows import BatchRow, classify_files

MOST_BYTES = 64_000_000
"""Of files; a larger batch keeps its rows only, and its files as long as they are chosen on the page."""
_KEPT = "batch_kept"


@dataclass(frozen=True, eq=False)
class Batch:
    """What was classified, by which model, and the files by the number of their row, as far as they are kept."""

    made_of: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    rows: tuple[BatchRow, ...]

    @property
    def how(self) -> tuple[str, ...]:
        """The model and the scale."""
        return self.made_of[:2]

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the files."""
        return self.made_of[2:]


def how(predictor: Predictor, microns_per_pixel: float | None) -> tuple[str, ...]:
    """What tells one way of classifying files from another."""
    return (predictor.card.fingerprint, str(microns_per_pixel))


def kept_batch() -> Batch | None:
    """The batch of this visit."""
    kept: Batch | None = st.session_state.get(_KEPT)
    return kept


def forget_batch() -> None:
    """Drop files and rows."""
    st.session_state.pop(_KEPT, None)


def classified(
    ids: Sequence[str],
    files: Sequence[tuple[str, bytes]],
    predictor: Predictor,
    microns_per_pixel: float | None,
    progress: Callable[[int], object],
) -> Batch:
    """The batch of these files, model and scale, made once; `ids` tell one choice of files from another."""
    made_of = (*how(predictor, microns_per_pixel), *ids)
    kept = kept_batch()
    if kept is None or kept.made_of != made_of:
        rows = classify_files(files, predictor, progress, microns_per_pixel)
        few = sum(len(data) for _, data in files) <= MOST_BYTES
        kept = Batch(made_of, tuple(files) if few else (), tuple(rows))
        st.session_state[_KEPT] = kept
    return kept
