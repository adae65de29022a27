"""A patch in the words of a pathologist, each backed by a measurement of its pixels."""

from dataclasses import dataclass

import cv2
import numpy as np

from bag_generators.tissue.stain import DENSITY, USUAL_STAINS

GLASS_DENSITY = 0.15
"""Mean optical density below which a pixel shows glass, lumen or mucus."""
NUCLEUS_DENSITY = 0.55
"""Haematoxylin above which a pixel belongs to a nucleus, in optical density."""
CROWDED, SOME, FEW = 0.35, 0.12, 0.03
"""Shares of a patch that nuclei cover."""
MOSTLY, PARTLY = 0.6, 0.2
"""Shares of a patch that are pale."""
PINK = 0.35
"""Mean eosin of the tissue above which it is plainly pink, in optical density."""


@dataclass(frozen=True)
class Looks:
    """What was measured of a patch."""

    nuclei: float
    """Share of its pixels that haematoxylin makes dark."""
    pale: float
    """Share of its pixels with hardly any stain."""
    eosin: float
    """Mean optical density of eosin where there is tissue."""


def looks_of(pixels: np.ndarray) -> Looks:
    """Measure the pixels of a patch, (…, 3) uint8."""
    density = cv2.LUT(np.ascontiguousarray(pixels).reshape(-1, 1, 3), DENSITY).reshape(-1, 3).astype(np.float64)
    unmix = np.linalg.pinv(USUAL_STAINS)  # (3, 2)
    haematoxylin, eosin = (density @ unmix).T
    pale = density.mean(axis=1) < GLASS_DENSITY
    tissue = eosin[~pale]
    return Looks(
        nuclei=float((haematoxylin > NUCLEUS_DENSITY).mean()),
        pale=float(pale.mean()),
        eosin=float(tissue.mean()) if len(tissue) else 0.0,
    )


def in_tissue_words(looks: Looks) -> str:
    """One sentence, each part of it with its number.

    >>> in_tissue_words(Looks(nuclei=0.41, pale=0.02, eosin=0.3))
    'Dark, crowded nuclei (41 % of the patch).'
    """
    if looks.pale >= MOSTLY:
        return f"Mostly pale: lumen, mucus or glass ({100 * looks.pale:.0f} % of the patch)."
    if looks.nuclei >= CROWDED:
        nuclei = "dark, crowded nuclei"
    elif looks.nuclei >= SOME:
        nuclei = "scattered nuclei"
    elif looks.nuclei >= FEW:
        nuclei = "few nuclei"
    else:
        nuclei = "hardly any nuclei"
    parts = [f"{nuclei} ({100 * looks.nuclei:.0f} % of the patch)"]
    if looks.pale >= PARTLY:
        parts.append(f"pale gaps such as lumen or mucus ({100 * looks.pale:.0f} %)")
    if looks.eosin >= PINK and looks.nuclei < SOME:
        parts.append("pink tissue between them")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."
