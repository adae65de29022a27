"""What is said about the results, on the Markdown page and in the app."""

from __future__ import annotations

from elimipl.benchmark.cells import SPLITS
from elimipl.benchmark.records import Measured

INTRODUCTION = f"""# The paper's comparison

Made by `python -m elimipl benchmark`, which goes on where it was stopped. Test accuracy after the last epoch, mean ±
standard deviation (ddof 0) over random stratified 7:3 splits. The paper has {SPLITS} splits for every number; the
column “splits” says how many ours rests on. Every method learns from the same bags, candidate sets and splits.
Settings, seeds, versions, times and memory of every split are in `benchmark.json`, the reasons for the settings in
`elimipl/benchmark/settings.py`. Seconds were taken with other work on the machine. **Bold**: ours is below the
paper's mean − standard deviation.
"""

CAPTIONS = {
    "table 2": """\
MNIST-, FMNIST- and Birdsong-MIPL are rebuilt from the raw data after the paper's Table 1 and its appendix; they are not
the authors' bags. SIVAL-MIPL can't be rebuilt: it needs the authors' file (`--mat`). The paper's numbers of the
perceptrons (MLP) are those of its Table A1.
""",
    "table 3": """\
The candidate sets of CRC-MIPL are in the authors' files only (`--mat`). **CRC-MIPL rebuilt** (Row, SBN) has their kind
of bags, 1,000 tiles of each of seven classes, but the candidate sets of three simulated annotators. Two other sets of
real tiles stand beside it; the paper's numbers are shown for orientation, without a difference. **Lesions** (lesion5,
five classes): split i learns from a random 70 % of every class of the training tiles, with the candidate sets of three
simulated annotators (seed i, 2.08 labels on average), and is tested on *all* validation tiles, which come from *other
slides*. So the splits differ in training bags and candidate sets only, and their deviation says nothing about yet other
slides. **Tissues** (tissue7, seven classes, 128 tiles): 7:3 splits by tile, candidate sets likewise. Bags are made with
the stain normalisation of the shipped models (lesions: tones, except SIFT) but without augmented copies, which the
shipped models have. All networks share the shipped models' settings; “ELIMIPL” has the paper's ℓ1 sparsity,
“ELIMIPL-entropy” is what is shipped.
""",
    "table 4": """\
All rows have ELIMIPL's settings; the variants leave out the sparsity loss (MA+IN), the inhibition loss (MA+SP) or both
(MA). ELIMIPL-entropy is ours, with settings of its own: the entropy of the candidates instead of their ℓ1 norm, and a
plain softmax.
""",
    "table 5": """\
“CLI loss” is ELIMIPL. CE puts equal weights on all candidates for ever, CE-SP-IN adds the sparsity and the inhibition
loss.
""",
    "figure 4": """\
Birdsong-MIPL with up to ten false positive labels. The paper prints numbers for r = 1, 2, 3 only (its Table 2); the
rest is in a picture.
""",
}

CLAIMS_INTRODUCTION = """\
Differences of the test accuracy, split by split. p is two-sided, by the Wilcoxon signed-rank test and by the paired
t-test with the correction of Nadeau and Bengio for splits that overlap. The verdict follows the corrected t-test at
5 %: *holds*, *reversed* (significant the other way round), *open*. Of many tests one in twenty comes out by luck alone;
nothing is corrected for that. With fewer than five splits nothing is tested.
"""


def printed(mean: float, std: float) -> str:
    """As the paper prints it.

    >>> printed(0.992, 0.007)
    '.992±.007'
    """
    return f"{_bare(mean)}±{_bare(std)}"


def shown(measured: Measured) -> str:
    """Mean ± deviation of a cell; one split alone has no deviation to show."""
    return printed(measured.mean, measured.std) if len(measured.splits) > 1 else _bare(measured.mean)


def signed(difference: float) -> str:
    """
    >>> signed(-0.0184)
    '−.018'
    """
    return ("−" if round(difference, 3) < 0 else "+") + _bare(abs(difference))


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.00012), p_value(0.0312), p_value(None)
    ('<.001', '.031', '–')
    """
    return "–" if p is None else "<.001" if p < 0.001 else _bare(p)


def _bare(number: float) -> str:
    text = f"{number:.3f}"
    return text[1:] if text.startswith("0.") else text
