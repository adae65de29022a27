"""What to look at, the figures, the numbers behind them, and the tests of the paper's claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from elimipl.benchmark.cells import (
    CROWD,
    DATA,
    NOT_AT_HAND,
    NOT_BUILT,
    OURS,
    PARTIAL_LABEL,
    PERCEPTRONS,
    SINCE,
    VIEWS,
    Cell,
    View,
)
from elimipl.benchmark.claims import Claim, PairedTest, claims, phenomena
from elimipl.benchmark.records import FILE, RESULTS, Records, p_value, printed, shown, signed
from elimipl.benchmark.report import CAPTIONS
from elimipl_app.results.comparison_figures import (
    MOST_LINES,
    Row,
    accuracy_bars,
    cost_scatter,
    curves_over_r,
    line_colours,
)
from elimipl_app.shell import charts, choices, moving
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.palette import current_palette

INTRO = "The paper's comparison, run here: every method learns from the same bags, candidate sets and splits."
BARS_ABOUT = "Bars are mean ± standard deviation over the splits, dots single splits, grey strokes the paper's numbers."
TABLES_HEADING = "The tables"
NOT_HERE = (
    f"**Not at hand**: {', '.join(NOT_AT_HAND)}; only the authors have those bags. **Not built**: "
    + "; ".join(f"{name}, since {why}" for name, why in NOT_BUILT.items())
    + "."
)
NO_RESULTS = (
    "There are no results yet. Run “python -m elimipl benchmark --table 2”, or restore the file benchmark.json in "
    "benchmarks/results."
)
VIEW_HEADING = "Table or figure"
DATA_HEADING = "Data"
METHODS_HEADING = "Methods"
COSTS = {"seconds": "seconds", "cpu_seconds": "processor seconds", "peak_mb": "peak MB"}
COST_HELP = (
    "Seconds were taken with other work on the machine; processor seconds don't suffer from that. Peak memory is that "
    "of the whole process, program and libraries included."
)
R_AXIS = "false positive labels r"
CLAIMS_ABOUT = (
    "Differences of accuracy, split by split. p by the Wilcoxon signed-rank test and by the paired t-test corrected "
    "for overlapping splits (Nadeau and Bengio); the verdict follows the latter at 5 %. Of many tests one in twenty "
    "comes out by luck alone."
)
VERDICTS = {
    "holds": ":material/check_circle:",
    "reversed": ":material/cancel:",
    "open": ":material/help:",
    "too few splits": ":material/hourglass_empty:",
}


def bars_heading(data: str, r: int) -> str:
    """What the bars are about."""
    return f"Accuracy on {DATA[data].title}{at(r)}"


def bars_alt(data: str, r: int, rows: Sequence[Row]) -> str:
    """Screen reader text of the bars."""
    ran = sorted((row for row in rows if row.accuracies), key=lambda row: -row.mean)
    listed = ", ".join(f"{row.method} {row.mean:.3f}" for row in ran) or "nothing run"
    return f"{bars_heading(data, r)}: {listed}."


def cost_alt(rows: Sequence[Row], axis: str) -> str:
    """Screen reader text of accuracy over cost."""
    listed = ", ".join(f"{row.method} {row.mean:.3f} for {row.cost:.3g}" for row in rows if row.cost and row.accuracies)
    return f"Accuracy and {axis} per split: {listed}."


def curves_alt(data: str, curves: dict[str, dict[int, Row]]) -> str:
    """Screen reader text of the curves over r."""
    listed = "; ".join(
        f"{method} " + ", ".join(f"{row.mean:.3f} at {r}" for r, row in rows.items() if row.accuracies)
        for method, rows in curves.items()
        if any(row.accuracies for row in rows.values())
    )
    return f"Accuracy on {DATA[data].title} over the number of false positive labels: {listed or 'nothing run'}."


def at(r: int) -> str:
    """
    >>> at(2), at(0)
    (', r = 2', '')
    """
    return f", r = {r}" if r else ""


def failed(method: str, r: int, split: int, why: str) -> str:
    """A split that has no result."""
    return f"**{method}**{at(r)}, split {split} failed: {why}"


def claim_title(claim: Claim) -> str:
    """A claim and how its tests came out: “…: holds in 1, open in 8 of 9”."""
    verdicts = [test.verdict for test in claim.tests]
    counts = [f"{verdict} in {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts]
    return f"{claim.title}: {', '.join(counts)} of {len(verdicts)}"


def verdict_in_words(test: PairedTest) -> str:
    """One test in a sentence."""
    paper = "" if test.paper is None else f" (the paper: {signed(test.paper)})"
    start = f"{VERDICTS[test.verdict]} **{DATA[test.data].title}**: {test.title}: {signed(test.mean)}{paper}"
    splits = f"over {test.n} split{'s' if test.n > 1 else ''}"
    if test.corrected_t is None:
        return f"{start} {splits}, too few to test."
    chances = f"p {p_value(test.wilcoxon)} (Wilcoxon), {p_value(test.corrected_t)} (corrected t)"
    return f"{start} {splits}; {chances}: {test.verdict}."


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


def load_results() -> tuple[Records, list[Claim]] | None:
    """What is installed and the claims tested by it; None where there is nothing. Read again when the file changes."""
    return _results(str(RESULTS_FILE), RESULTS_FILE.stat().st_mtime_ns) if RESULTS_FILE.exists() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _results(path: str, changed: int) -> tuple[Records, list[Claim]]:
    records = Records(Path(path))
    return records, claims(records)


def choose(records: Records) -> Choice:
    """Widgets for the sidebar."""
    st.subheader(VIEW_HEADING, divider="gray")
    view_id = choices.one_of(
        VIEW_HEADING,
        list(VIEWS),
        "results_view",
        title=lambda one: f"{one.capitalize()}: {VIEWS[one].title}",
        shape="list",
        label_hidden=True,
    )
    view = VIEWS[view_id]
    st.subheader(DATA_HEADING, divider="gray")
    data = choices.one_of(
        DATA_HEADING,
        _data_sets(records, view),
        f"results_data_{_slug(view_id)}",
        title=lambda one: DATA[one].title,
        shape="list",
        label_hidden=True,
    )
    r = CROWD
    if view.rs != (CROWD,):
        r = choices.one_of("False positive labels r", view.rs, f"results_r_{_slug(view.id)}", view.rs[0])
    st.subheader(METHODS_HEADING, divider="gray")
    ran = {kept["method"] for kept in records.cells.values() if kept["data"] in view.data}
    every = (*view.methods, *view.extra, *(name for name in SINCE if name in ran and name not in view.methods))
    key = f"results_methods_{_slug(view_id)}"
    methods = choices.some_of(METHODS_HEADING, every, key, view.methods, label_hidden=True)
    return Choice(records, view, data, r, tuple(methods))


def _data_sets(records: Records, view: View) -> list[str]:
    """Data sets with runs first; the authors' ones only where they have been run."""
    ran = {cell.data: None for cell in view.cells() if records.measured(cell)}
    open_yet = [data for data in view.data if data not in ran and not data.startswith("authors-")]
    return [*ran, *open_yet]


def _slug(view_id: str) -> str:
    return view_id.replace(" ", "")


def show_accuracies(choice: Choice) -> None:
    """Bars, splits and the paper's marks."""
    rows = choice.rows()
    st.subheader(TABLES_HEADING, divider="gray")
    st.markdown(NOT_HERE)
    st.subheader(bars_heading(choice.data, choice.r), anchor=False)
    st.caption(BARS_ABOUT)
    if not any(row.accuracies for row in rows):
        st.info("Nothing of this has been run yet; the paper's numbers are shown.", icon=":material/info:")
    mark = "the paper" if DATA[choice.data].comparable else "the paper, on CRC-MIPL"
    figure = accuracy_bars(rows, current_palette(), mark)
    alt = bars_alt(choice.data, choice.r, rows)
    charts.show(figure, key="results-bars", alt=alt)


@st.fragment
def show_costs(choice: Choice) -> None:
    """Accuracy over time or memory."""
    st.subheader("What it costs", anchor=False)
    cost = choices.one_of(
        "Cost of a split",
        list(COSTS),
        "results_cost",
        "seconds",
        COSTS.__getitem__,
        help=COST_HELP,
    )
    rows = choice.rows(cost)
    if not any(row.cost for row in rows):
        st.caption("This was not recorded for these runs.")
        return
    axis = f"{COSTS[cost]} a split"
    figure = cost_scatter(rows, current_palette(), axis)
    alt = cost_alt(rows, axis)
    charts.show(figure, key="results-cost", alt=alt)


def show_curves(choice: Choice) -> None:
    """Accuracy over r of the methods that were run, with the paper's observations beside it for its Figure 4."""
    if choice.view.rs == (CROWD,):
        return
    every = {method: {r: choice.row(method, r) for r in choice.view.rs} for method in choice.methods}
    curves = {method: rows for method, rows in every.items() if any(row.accuracies for row in rows.values())}
    if not curves:
        return
    st.subheader("More false positive labels", anchor=False)
    if len(curves) > MOST_LINES:
        st.caption(f"The first {MOST_LINES} of the {len(curves)} chosen methods that were run.")
        curves = dict(list(curves.items())[:MOST_LINES])
    beside = choice.view.id == "figure 4"
    with st.container(key="panels-curves"):
        left, right = st.columns([2, 1], gap="large") if beside else (st.container(), None)
    alt = curves_alt(choice.data, curves)
    with left:
        if beside:
            _show_moving(curves, choice.view.rs, alt)
        else:
            charts.show(curves_over_r(curves, current_palette()), key="results-curves", alt=alt)
    if right is not None:
        right.markdown("**What the paper sees in its Figure 4**")
        for statement, found in phenomena(choice.records, choice.data):
            right.markdown(f"{statement} *{found}*")


def _show_moving(curves: Mapping[str, Mapping[int, Row]], rs: Sequence[int], alt: str) -> None:
    """Figure 4 drawn along r by the browser; the paper's numbers, where it prints them, are rings."""
    series = []
    colours = line_colours(curves, current_palette())
    for method, rows in curves.items():
        colour = colours[method]
        ran = [rows[r] if rows[r].accuracies else None for r in rs]
        series.append(
            moving.Series(
                method,
                colour,
                [None if row is None else row.mean for row in ran],
                spread=[0.0 if row is None else row.std for row in ran],
                marks=True,
            )
        )
        papers = [rows[r].paper for r in rs]
        if any(paper is not None for paper in papers):
            means = [paper and paper[0] for paper in papers]
            series.append(moving.Series(f"{method} in the paper", colour, means, marks=True, hollow=True))
    slider = moving.Slider("results_r", R_AXIS, rs, rs[-1], plays=True)
    lines = moving.Lines((slider.key,), list(rs), series, R_AXIS, percent=False, height=380)
    moving.show("results-curves", (slider,), (lines,), alt)


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
        "Paper": "–" if cell.paper is None else printed(*cell.paper),
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
    return notes + [failed(method, r, split, escape(why)) for split, why in failures.items()]


def show_claims(claims: list[Claim]) -> None:
    """Every claim with its tests in sentences."""
    st.subheader("What the paper claims, tested", anchor=False)
    st.caption(CLAIMS_ABOUT)
    if not claims:
        st.info("No two methods have been run on the same splits yet.", icon=":material/info:")
    for claim in claims:
        with st.expander(claim_title(claim)):
            st.markdown("\n".join(f"- {verdict_in_words(test)}" for test in claim.tests))
