"""The first screen: two methods side by side in every data set, and the questions people have."""

import streamlit as st

from elimipl.benchmark.answers import LOCATED, LOCATED_NUMBERS, answers, lead_sentence, measured_on, row_name, row_title
from elimipl.benchmark.claims import PairedTest, leads
from elimipl.benchmark.records import Measured, Records, signed
from elimipl.methods import METHODS
from elimipl_app.results.comparison_figures import forest
from elimipl_app.shell import charts, choices
from elimipl_app.shell.palette import current_palette

SAME = "Choose two different methods."
NEVER_TOGETHER = "These two have not been run on the same splits."
INTERVALS = (
    "Paired differences over the splits; intervals (95 %) and “clearly” by the t-test corrected for splits that "
    "overlap (Nadeau and Bengio). Grey strokes: the paper's difference. Hollow: one or two splits, from which nothing "
    "is concluded."
)
MEASURED_HEADING = "Attention and calibration of every method on Birdsong"
MEASURED_ABOUT = (
    "Attention: AUROC and average precision against the positive instances of each test bag, means over bags and "
    "splits; “untrained” is the same network before its first step. Calibration error: 15 bins of equal width; the "
    "head of ELIMIPL's published code keeps every probability low, so its error is large however good the labels are."
)


def show_forest(records: Records) -> None:
    """Any two methods, one row for each data set and r, and the sentence that the rows support."""
    ran = [name for name in METHODS if any(kept["method"] == name for kept in records.cells.values() if kept["splits"])]
    if len(ran) < 2:
        return
    first_place, second_place, _ = st.columns([1, 1, 2])
    with first_place:
        first = choices.one_of("Method", ran, "results_first", _or_first("ELIMIPL", ran), shape="list")
    with second_place:
        second = choices.one_of("compared with", ran, "results_second", _or_first("DEMIPL", ran), shape="list")
    if first == second:
        st.info(SAME, icon=":material/info:")
        return
    tests = list(leads(records, first, second))
    st.subheader(f"{first} − {second}", anchor=False)
    if not tests:
        st.info(NEVER_TOGETHER, icon=":material/info:")
        return
    st.markdown(f"**{lead_sentence(first, second, tests)}**")
    charts.show(forest(tests, current_palette()), key="results-forest", alt=forest_alt(first, second, tests))
    st.caption(INTERVALS)


def _or_first(name: str, ran: list[str]) -> str:
    return name if name in ran else ran[0]


def forest_alt(first: str, second: str, tests: list[PairedTest]) -> str:
    """Screen reader text of the forest plot."""
    rows = ", ".join(
        f"{row_name(test)} {signed(test.mean)} over {test.n} split{'s' if test.n > 1 else ''}" for test in tests
    )
    return f"Accuracy of {first} minus that of {second}: {rows}."


def show_answers(records: Records) -> None:
    """The questions, a line each, and the numbers behind the one about attention."""
    found = answers(records)
    if found:
        st.subheader("What people ask", anchor=False)
        st.markdown("\n".join(f"- **{answer.question}** {answer.said}" for answer in found))
    if rows := [row for row in measured_on(records, LOCATED) if row.having("calibration_error")]:
        with st.expander(MEASURED_HEADING):
            st.dataframe([_line(row) for row in rows], hide_index=True, key="results-attention")
            st.caption(MEASURED_ABOUT)


def _line(row: Measured) -> dict[str, object]:
    numbers = {title: row.average(what) for title, what in LOCATED_NUMBERS.items()}
    return {
        "Data": row_title(row.cell.data, row.cell.r),
        "Method": row.cell.method,
        **{title: None if number is None else round(number, 3) for title, number in numbers.items()},
        "Splits": row.having("calibration_error"),
    }
