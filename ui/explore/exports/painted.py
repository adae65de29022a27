"""The picture with its map as one PNG, in original pixels: for a slide or a report."""

import io

import numpy as np
from PIL import Image
from plotly.colors import sample_colorscale, unlabel_rgb

from ui.explore.analysis import Analysis
from ui.explore.figures.heatmap import SIGNED_COLOUR_MAP
from ui.figures.score_scale import ColouredScores

STEPS = 256
BAND = 64  # px; a large picture is blended in bands, all of it as floats would take gigabytes


def painted_png(analysis: Analysis, scores: ColouredScores, colours: str, opacity: float = 0.6) -> bytes:
    """The map laid over the picture with the given opacity; what no instance covers stays as it is."""
    table = _colour_table(SIGNED_COLOUR_MAP if scores.signed else colours)
    blended = analysis.image.pixels.copy()
    for top in range(0, len(blended), BAND):
        rows = slice(top, top + BAND)
        painted = analysis.bag.regions.paint(scores.values, rows=rows)
        covered = np.isfinite(painted)
        share = (np.where(covered, painted, scores.low) - scores.low) / (1.0 - scores.low)
        layer = table[np.clip((share * (STEPS - 1)).round().astype(int), 0, STEPS - 1)]
        weight = opacity * covered[..., None]
        blended[rows] = np.rint(blended[rows] * (1 - weight) + layer * weight)
    out = io.BytesIO()
    Image.fromarray(blended).save(out, "PNG")
    return out.getvalue()


def _colour_table(name: str) -> np.ndarray:
    """(256, 3) float RGB of a Plotly colour scale, so that the file looks as the page does."""
    colours = sample_colorscale(name, np.linspace(0, 1, STEPS).tolist())
    return np.array([unlabel_rgb(colour) for colour in colours])
