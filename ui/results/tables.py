"""The numbers behind the figures, and the tests of the paper's claims."""

import streamlit as st

from elimipl.benchmark.cells import CROWD, DATA, Cell
from elimipl.benchmark.claims import Claim
from elimipl.benchmark.wording import CAPTIONS, shown, signed
from ui.frame.markdown import escape
from ui.results import texts
from ui.results.choices import Choice

_FORMATS = {"Seconds": "%.1f", "Peak MB": "%.0f"}


def show_table(choice: Choice) -> None:
    """The chosen methods on the chosen data, at every r."""
    st.subheader(
        "As a table", anchor=False, help="“below” marks an accuracy below the paper's mean − standard deviation."
    )
    if not DATA[choice.data].comparable:
        st.caption("These bags stand in for CRC-MIPL: the paper's numbers are about other tiles.")
    rows = [_line(choice, Cell(choice.data, r, method)) for r in choice.view.rs for method in choice.methods]
    unused = {column for column in rows[0] if all(row[column] in ("", None) for row in rows)}
    shown_rows = [{column: value for column, value in row.items() if column not in unused} for row in rows]
    formats = {name: st.column_config.NumberColumn(format=shape) for name, shape in _FORMATS.items()}
    st.dataframe(shown_rows, hide_index=True, width="stretch", column_config=formats, key="results-table")
    remarks = [line for r in choice.view.rs for method in choice.methods for line in _remarks(choice, r, method)]
    if remarks:
        st.markdown("\n".join(f"- {line}" for line in dict.fromkeys(remarks)))
    st.caption(CAPTIONS[choice.view.id])


def _line(choice: Choice, cell: Cell) -> dict[str, object]:
    measured = choice.records.measured(cell)
    comparable = cell.paper is not None and DATA[cell.data].comparable
    difference = below = ""
    if measured is not None and comparable and cell.paper is not None:
        mean, std = cell.paper
        difference = signed(measured.mean - mean)
        below = "below" if measured.mean < mean - std else ""
    return {
        "r": None if cell.r == CROWD else cell.r,
        "Method": cell.method,
        "Ours": "not run" if measured is None else shown(measured),
        "Paper": texts.paper_told(cell.paper),
        "Difference": difference,
        "Mark": below,
        "Splits": 0 if measured is None else len(measured.splits),
        "Seconds": None if measured is None else measured.average("seconds"),
        "Peak MB": None if measured is None else measured.average("peak_mb"),
    }


def _remarks(choice: Choice, r: int, method: str) -> list[str]:
    """What a method had to say about its runs, and what failed."""
    cell = Cell(choice.data, r, method)
    measured, failures = choice.records.measured(cell), choice.records.failures(cell)
    notes = [f"**{method}**: {escape(note)}" for note in (measured.notes if measured else ())]
    return notes + [texts.failed(method, r, split, escape(why)) for split, why in failures.items()]


def show_claims(claims: list[Claim]) -> None:
    """Every claim with its tests in sentences."""
    st.subheader("What the paper claims, tested", anchor=False)
    st.caption(texts.CLAIMS_ABOUT)
    if not claims:
        st.info("No two methods have been run on the same splits yet.", icon=":material/info:")
    for claim in claims:
        with st.expander(texts.claim_title(claim)):
            st.markdown("\n".join(f"- {texts.in_words(test)}" for test in claim.tests))
