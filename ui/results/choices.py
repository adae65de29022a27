"""What to look at: a table or figure of the paper, a data set, an r, methods."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from elimipl.benchmark.cells import CROWD, DATA, OURS, PARTIAL_LABEL, PERCEPTRONS, VIEWS, Cell, View
from elimipl.benchmark.claims import Claim, claims
from elimipl.benchmark.records import FILE, RESULTS, Records
from ui.frame import choices
from ui.results import texts
from ui.results.comparison_figures import Row

RESULTS_FILE = RESULTS / FILE


@dataclass(frozen=True, eq=False)
class Choice:
    """A part of a table: one data set, one r, some methods."""

    records: Records
    view: View
    data: str
    r: int
    methods: tuple[str, ...]

    def row(self, method: str, r: int, cost: str = "seconds") -> Row:
        """A method on the chosen data."""
        cell = Cell(self.data, r, method)
        measured = self.records.measured(cell)
        kind = "ours" if method in OURS else "PLL" if method in (*PARTIAL_LABEL, *PERCEPTRONS) else "MIPL"
        if measured is None:
            return Row(method, kind, {}, cell.paper)
        return Row(method, kind, measured.accuracies, cell.paper, measured.average(cost))

    def rows(self, cost: str = "seconds") -> list[Row]:
        """The chosen methods at the chosen r."""
        return [self.row(method, self.r, cost) for method in self.methods]


def load_records() -> Records | None:
    """The results that are installed; None where there are none. Read again only when the file has changed."""
    if not RESULTS_FILE.exists():
        return None
    return _records(str(RESULTS_FILE), RESULTS_FILE.stat().st_mtime_ns)


@st.cache_resource(max_entries=2, show_spinner=False)
def _records(path: str, changed: int) -> Records:
    return Records(Path(path))


def load_claims() -> list[Claim]:
    """The tested claims of the installed results."""
    return _claims(str(RESULTS_FILE), RESULTS_FILE.stat().st_mtime_ns)


@st.cache_resource(max_entries=2, show_spinner=False)
def _claims(path: str, changed: int) -> list[Claim]:
    return claims(_records(path, changed))


def choose(records: Records) -> Choice:
    """Widgets for the sidebar."""
    st.subheader(texts.VIEW_HEADING, divider="gray")
    view_id = choices.one_of(
        texts.VIEW_HEADING, list(VIEWS), "results_view", title=texts.view_title, shape="list", label_hidden=True
    )
    view = VIEWS[view_id]
    st.subheader(texts.DATA_HEADING, divider="gray")
    data = choices.one_of(
        texts.DATA_HEADING,
        _data_sets(records, view),
        f"results_data_{_slug(view_id)}",
        title=lambda one: DATA[one].title,
        shape="list",
        label_hidden=True,
    )
    r = CROWD if view.rs == (CROWD,) else _choose_r(view)
    st.subheader(texts.METHODS_HEADING, divider="gray")
    every = (*view.methods, *view.extra)
    key = f"results_methods_{_slug(view_id)}"
    methods = choices.some_of(texts.METHODS_HEADING, every, key, view.methods, label_hidden=True)
    return Choice(records, view, data, r, tuple(methods))


def _choose_r(view: View) -> int:
    return choices.one_of("False positive labels r", view.rs, f"results_r_{_slug(view.id)}", view.rs[0])


def _data_sets(records: Records, view: View) -> list[str]:
    """Data sets with runs first; the authors' ones only where they have been run."""
    ran = {cell.data: None for cell in view.cells() if records.measured(cell)}
    open_yet = [data for data in view.data if data not in ran and not data.startswith("authors-")]
    return [*ran, *open_yet]


def _slug(view_id: str) -> str:
    return view_id.replace(" ", "")
