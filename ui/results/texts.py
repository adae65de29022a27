"""Every text of the Results page."""

from collections.abc import Sequence

from elimipl.benchmark.cells import DATA, VIEWS
from elimipl.benchmark.claims import Claim, PairedTest
from elimipl.benchmark.records import p_value, signed
from ui.results.comparison_figures import Row

INTRO = (
    "The paper's comparison, run here: every method learns from the same bags, candidate sets and splits. Bars are "
    "mean ± standard deviation over random splits, dots are single splits, upright strokes and diamonds the paper's "
    "numbers."
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


def view_title(view_id: str) -> str:
    """A table or figure in the list."""
    return f"{view_id.capitalize()}: {VIEWS[view_id].title}"


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


def in_words(test: PairedTest) -> str:
    """One test in a sentence."""
    paper = "" if test.paper is None else f" (the paper: {signed(test.paper)})"
    start = f"{VERDICTS[test.verdict]} **{DATA[test.data].title}**: {test.title}: {signed(test.mean)}{paper}"
    splits = f"over {test.n} split{'s' if test.n > 1 else ''}"
    if test.corrected_t is None:
        return f"{start} {splits}, too few to test."
    chances = f"p {p_value(test.wilcoxon)} (Wilcoxon), {p_value(test.corrected_t)} (corrected t)"
    return f"{start} {splits}; {chances}: {test.verdict}."
