"""The instances as a CSV table."""

import csv
import io

import numpy as np

from ui.explore.analysis import Analysis


def instances_csv(analysis: Analysis) -> str:
    """One row per instance: place in the whole picture (px), scores for the predicted class, features.

    All cells are numbers and all column names are ours, so no spreadsheet can take one for a formula.
    """
    index = analysis.prediction.index
    columns = {
        "attention": analysis.prediction.attention,
        "leave_one_out": analysis.scores("leave_one_out", index),
        "integrated_gradients": analysis.scores("integrated_gradients", index),
    }
    rank = np.argsort(np.argsort(-columns["attention"], kind="stable"), kind="stable") + 1
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["instance", "x0", "y0", "x1", "y1", *columns, "attention_rank", *analysis.bag.feature_names])
    for i, features in enumerate(analysis.bag.features):
        x0, y0, x1, y1 = analysis.bag.regions.box(i)
        x, y = analysis.view.x, analysis.view.y
        scores = [f"{values[i]:.6g}" for values in columns.values()]
        writer.writerow([i, x + x0, y + y0, x + x1, y + y1, *scores, rank[i], *(f"{value:.6g}" for value in features)])
    return out.getvalue()
