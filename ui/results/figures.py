"""The figures of the Results page."""

from collections.abc import Mapping, Sequence

import streamlit as st

from elimipl.benchmark.cells import CROWD, DATA
from elimipl.benchmark.claims import phenomena
from ui.frame import charts, choices, moving
from ui.frame.palette import current_palette
from ui.results import texts
from ui.results.choices import Choice
from ui.results.comparison_figures import Row, accuracy_bars, cost_scatter, curve_colours, curves_over_r


def show_accuracies(choice: Choice) -> None:
    """Bars, splits and the paper's marks."""
    rows = choice.rows()
    st.subheader(texts.bars_heading(choice.data, choice.r), anchor=False)
    if not any(row.accuracies for row in rows):
        st.info("Nothing of this has been run yet; the paper's numbers are shown.", icon=":material/info:")
    mark = "the paper" if DATA[choice.data].comparable else "the paper, on CRC-MIPL"
    figure = accuracy_bars(rows, current_palette(), mark)
    alt = texts.bars_alt(choice.data, choice.r, rows)
    charts.show(figure, key="results-bars", alt=alt)


@st.fragment
def show_costs(choice: Choice) -> None:
    """Accuracy over time or memory."""
    st.subheader("What it costs", anchor=False)
    cost = choices.one_of(
        "Cost of a split",
        list(texts.COSTS),
        "results_cost",
        "seconds",
        texts.COSTS.__getitem__,
        help=texts.COST_HELP,
    )
    rows = choice.rows(cost)
    if not any(row.cost for row in rows):
        st.caption("This was not recorded for these runs.")
        return
    axis = f"{texts.COSTS[cost]} a split"
    figure = cost_scatter(rows, current_palette(), axis)
    alt = texts.cost_alt(rows, axis)
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
    beside = choice.view.id == "figure 4"
    with st.container(key="panels-curves"):
        left, right = st.columns([2, 1], gap="large") if beside else (st.container(), None)
    alt = texts.curves_alt(choice.data, curves)
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
    for number, (method, rows) in enumerate(curves.items()):
        colour = curve_colours(current_palette())[number % 6]
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
            name = texts.in_the_paper(method)
            series.append(
                moving.Series(name, colour, [paper and paper[0] for paper in papers], marks=True, hollow=True)
            )
    slider = moving.Slider("results_r", texts.R_AXIS, rs, rs[-1], plays=True)
    lines = moving.Lines((slider.key,), list(rs), series, texts.R_AXIS, percent=False, height=380)
    moving.show("results-curves", (slider,), (lines,), alt)
