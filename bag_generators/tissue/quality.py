"""What the pixels alone say: whether a picture is one to judge (size, tissue, focus, colour), and a patch in words.

Only measures, no verdicts: what is usual depends on the tiles a model learned from (`elimipl.answers.answer`). They are
taken from what a generator sees: the 224×224 working copy, or windows of 224 px at the scale it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.image import SIDE, TissueImage, working_copy
from bag_generators.tissue.stain import DENSITY, GLASS, USUAL_STAINS

_A, _B = np.indices((256, 256)) - 128
_HUE = np.degrees(np.arctan2(_B, _A))
_IS_STAIN_COLOUR = (np.hypot(_A, _B) > 5) & (_HUE > -75) & (_HUE < 30)
"""Whether 8-bit a*, b* of CIE L*a*b* is violet (haematoxylin) to pink (eosin) and red (blood), (256, 256) bool."""
_BLOCK = 8
ASSUMED_MICRONS_PER_PIXEL = 0.5
"""The scale of a picture of unknown scale, for generators that keep scales: that of the paper's tiles."""
_WINDOWS = 3
"""Windows along each side of a large picture."""
_SOME_TISSUE = 0.2
_NUCLEUS_DENSITY = 0.55
"""Haematoxylin above which a pixel belongs to a nucleus, in optical density."""
_SOME_NUCLEI = 0.12
_NUCLEI = {0.35: "Dark, crowded nuclei", _SOME_NUCLEI: "Scattered nuclei", 0.03: "Few nuclei", 0.0: "Hardly any nuclei"}
"""Least shares of a patch that nuclei cover, and what is said then."""


@dataclass(frozen=True)
class Quality:
    """Measures of one picture, all finite."""

    shorter_side: float
    """Of the picture as given, px."""
    aspect: float
    """Longer side by shorter side, at least 1."""
    tissue: float
    """Share of the pixels that are not bare glass."""
    sharpness: float
    """By how many grey levels the typical (median) pixel differs from the mean of its four neighbours.

    Small out of focus, and small where most of the picture is empty.
    """
    unevenness: float
    """How strong such differences are as a root mean square, compared with the typical one.

    Tissue has detail nearly everywhere; drawings and empty slides have sharp outlines between flat areas.
    """
    stain_colour: float
    """Share of the tissue that is as violet, pink or red as haematoxylin and eosin make it; 0 without tissue."""
    third_colour: float
    """Standard deviation of the optical density off the plane that holds most of it, averaged over 8×8 px.

    Two dyes span a plane. Scanned tissue leaves it by its pigments, blood and the optics; computed colours don't.
    """
    field: float | None = None
    """The shorter side in µm, where the picture was measured at a scale; 0.5 µm per pixel if nobody knows better."""

    def numbers(self) -> dict[str, float]:
        """The measures that were taken, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def measure_for(generator: str, image: TissueImage) -> Quality:
    """The measures of a picture as a generator sees it."""
    return measure(image, kept_scale(generator))


def kept_scale(generator: str) -> float | None:
    """µm per pixel at which a generator sees every picture; None where it sees the working copy or knows no scale."""
    from bag_generators.registry import GENERATORS

    return GENERATORS[generator].microns_per_pixel if generator in GENERATORS else None


def measure(image: TissueImage, microns_per_pixel: float | None = None) -> Quality:
    """The measures of a picture of any size and content: of its working copy, or of windows at a scale.

    Shares are averages over the windows; of the others the median counts, over the windows that hold some tissue.
    """
    shorter, longer = sorted((image.width, image.height))
    known = image.microns_per_pixel or ASSUMED_MICRONS_PER_PIXEL
    views = (
        [_model_view(image)] if microns_per_pixel is None else list(_windows(image.pixels, known / microns_per_pixel))
    )
    seen = np.array([_measured(view) for view in views])
    on_tissue = seen[seen[:, 0] >= min(_SOME_TISSUE, seen[:, 0].max())]
    _, sharpness, unevenness, _, third_colour = np.median(on_tissue, axis=0).tolist()
    return Quality(
        shorter_side=float(shorter),
        aspect=longer / shorter,
        tissue=float(seen[:, 0].mean()),
        sharpness=sharpness,
        unevenness=unevenness,
        stain_colour=float(on_tissue[:, 3].mean()),
        third_colour=third_colour,
        field=None if microns_per_pixel is None else shorter * known,
    )


def _measured(view: np.ndarray) -> tuple[float, float, float, float, float]:
    """Tissue, sharpness, unevenness, stain colour and third colour of (h, w, 3) pixels."""
    tissue = _tissue(view)
    return float(tissue.mean()), *_detail(view), _stain_colour(view, tissue), _third_colour(view)


def _windows(pixels: np.ndarray, factor: float) -> Iterator[np.ndarray]:
    """Up to 3×3 windows of at most 224×224 px, evenly spread over the picture when it is `factor` times as large."""
    height, width = pixels.shape[:2]
    side = min(max(1, round(SIDE / factor)), height, width)
    rows, columns = (np.linspace(0, length - side, min(_WINDOWS, length // side)) for length in (height, width))
    seen = max(_BLOCK, round(side * factor))
    for top, left in product(rows.astype(int), columns.astype(int)):
        window = np.ascontiguousarray(pixels[top : top + side, left : left + side])
        if seen != side:
            window = cv2.resize(window, (seen, seen), interpolation=cv2.INTER_AREA if seen < side else cv2.INTER_LINEAR)
        yield window


def _model_view(image: TissueImage) -> np.ndarray:
    """The working copy, also of a picture too small or too long for a bag.

    Of a very large picture only every n-th pixel is averaged, at least 16 for each of the copy's.
    """
    step = max(1, min(image.pixels.shape[:2]) // (4 * SIDE))
    pixels = np.ascontiguousarray(image.pixels[::step, ::step])
    try:
        return image.working_copy if step == 1 else working_copy(pixels)
    except InputError:
        return np.asarray(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR))


def _tissue(working: np.ndarray) -> np.ndarray:
    """Which pixels are not bare glass, (h, w) bool."""
    red, green, blue = cv2.split(working)
    return np.asarray(cv2.min(cv2.min(red, green), blue) < 255 * np.exp(-GLASS))


def _detail(working: np.ndarray) -> tuple[float, float]:
    grey = cv2.cvtColor(working.astype(np.float32), cv2.COLOR_RGB2GRAY)
    difference = np.abs(cv2.Laplacian(grey, cv2.CV_32F)) / 4
    typical = float(np.median(difference))
    strength = float(np.sqrt(np.square(difference).mean()))
    return typical, strength / (typical + 0.125)  # the eighth of a grey level keeps flat pictures finite


def _stain_colour(working: np.ndarray, tissue: np.ndarray) -> float:
    if not tissue.any():
        return 0.0
    _, a, b = cv2.split(cv2.cvtColor(working, cv2.COLOR_RGB2LAB))
    return float(_IS_STAIN_COLOUR[a[tissue], b[tissue]].mean())


def _third_colour(working: np.ndarray) -> float:
    height, width = (max(2, length // _BLOCK) for length in working.shape[:2])
    blocks = cv2.resize(cv2.LUT(working, DENSITY), (width, height), interpolation=cv2.INTER_AREA)
    smallest = np.linalg.eigvalsh(np.cov(blocks.reshape(-1, 3).T.astype(np.float64)))[0]
    return float(np.sqrt(max(smallest, 0.0)))


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
    pale = density.mean(axis=1) < GLASS
    tissue = eosin[~pale]
    return Looks(
        nuclei=float((haematoxylin > _NUCLEUS_DENSITY).mean()),
        pale=float(pale.mean()),
        eosin=float(tissue.mean()) if len(tissue) else 0.0,
    )


LEAST_DETAIL = 1.0
"""Grey levels from pixel to pixel; tissue in focus has more, and the same blurred by a few pixels has less."""


def has_detail(pixels: np.ndarray) -> bool:
    """Whether a patch (h, w, 3) is more than a flat or blurred area, of which no tissue words can be said."""
    grey = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY).astype(np.float32)
    return bool(np.abs(cv2.Laplacian(grey, cv2.CV_32F)).mean() / 4 >= LEAST_DETAIL)


def in_tissue_words(looks: Looks) -> str:
    """One sentence, each part of it with its number.

    >>> in_tissue_words(Looks(nuclei=0.41, pale=0.02, eosin=0.3))
    'Dark, crowded nuclei (41 % of the patch).'
    """
    if looks.pale >= 0.6:
        return f"Mostly pale: lumen, mucus or glass ({100 * looks.pale:.0f} % of the patch)."
    nuclei = next(words for least, words in _NUCLEI.items() if looks.nuclei >= least)
    parts = [f"{nuclei} ({100 * looks.nuclei:.0f} % of the patch)"]
    if looks.pale >= 0.2:
        parts.append(f"pale gaps such as lumen or mucus ({100 * looks.pale:.0f} %)")
    if looks.eosin >= 0.35 and looks.nuclei < _SOME_NUCLEI:
        parts.append("pink tissue between them")
    return f"{'; '.join(parts)}."
