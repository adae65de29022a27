"""The patches as a CSV table."""

import csv
import io

import numpy as np

from elimipl.csv_cells import defused
from ui.explore.analysis import Analysis
from ui.explore.view_state import OF_A_CLASS, ViewState, maps_of
from ui.figures.evenness import times_even_share

MOST_FEATURES = 4_000_000


def instances_csv(analysis: Analysis, view: ViewState) -> str:
    """One row per patch: place in the whole picture (px), every score for the predicted class, features.

    Bags too large for a spreadsheet go without features. All cells are numbers; no spreadsheet takes what a generator
    calls its features for a formula.
    """
    attention, index = analysis.prediction.attention, analysis.prediction.index
    columns = {
        "attention": attention,
        "times_even_share": times_even_share(attention),
        **{kind: analysis.scores(kind, index) for kind in maps_of(analysis) if kind in OF_A_CLASS},
    }
    with_features = analysis.bag.features.size <= MOST_FEATURES
    names = analysis.bag.feature_names if with_features else ()
    rank = np.argsort(np.argsort(-attention, kind="stable"), kind="stable") + 1
    out = io.StringIO()
    writer = csv.writer(out)
    place = ["instance", "x0", "y0", "x1", "y1", "removed"]
    writer.writerow([*place, *columns, "attention_rank", *map(defused, names)])
    x, y = analysis.view.x, analysis.view.y
    removed = set(view.removed)
    for i, features in enumerate(analysis.bag.features):
        x0, y0, x1, y1 = analysis.bag.regions.box(i)
        scores = [f"{values[i]:.6g}" for values in columns.values()]
        where = [i, x + x0, y + y0, x + x1, y + y1, int(i in removed)]
        own = features if with_features else ()
        writer.writerow([*where, *scores, rank[i], *(f"{value:.6g}" for value in own)])
    return out.getvalue()
