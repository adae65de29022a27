"""What the pixels alone say about whether a picture is one to judge: size, tissue, focus, colour.

Only measures, no verdicts: what is usual depends on the tiles a model learned from (`elimipl.scope`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import cv2
import numpy as np

from bag_generators.errors import InputError
from bag_generators.generators.working_size import SIDE, working_copy
from bag_generators.image import TissueImage

_BARE_GLASS = 0.15
"""A pixel whose optical density is below this in every channel shows the bare glass."""
_FAINTEST_CHROMA = 5.0
_HUES = (-75.0, 30.0)
"""Violet (haematoxylin) to pink (eosin) and red (blood) as degrees in the a*b* plane of CIE L*a*b*."""
_BLOCK = 8


@dataclass(frozen=True)
class Quality:
    """Measures of one picture, all finite. All but the first two are taken from the 224×224 working copy."""

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

    def numbers(self) -> dict[str, float]:
        """The measures by name."""
        return asdict(self)


def measure(image: TissueImage) -> Quality:
    """The measures of a picture of any size and content."""
    shorter, longer = sorted((image.width, image.height))
    working = _model_view(image)
    tissue = _tissue(working)
    sharpness, unevenness = _detail(working)
    return Quality(
        shorter_side=float(shorter),
        aspect=longer / shorter,
        tissue=float(tissue.mean()),
        sharpness=sharpness,
        unevenness=unevenness,
        stain_colour=_stain_colour(working, tissue),
        third_colour=_third_colour(working),
    )


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
    """Which pixels are not bare glass, (224, 224) bool."""
    red, green, blue = cv2.split(working)
    return np.asarray(cv2.min(cv2.min(red, green), blue) < 255 * np.exp(-_BARE_GLASS))


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


def _stain_colours() -> np.ndarray:
    """Which pairs of 8-bit a*, b* are colours of the two stains, (256, 256) bool."""
    a, b = np.indices((256, 256)) - 128
    hue = np.degrees(np.arctan2(b, a))
    return (np.hypot(a, b) > _FAINTEST_CHROMA) & (hue > _HUES[0]) & (hue < _HUES[1])


def _third_colour(working: np.ndarray) -> float:
    blocks = cv2.resize(cv2.LUT(working, _DENSITY), (SIDE // _BLOCK, SIDE // _BLOCK), interpolation=cv2.INTER_AREA)
    smallest = np.linalg.eigvalsh(np.cov(blocks.reshape(-1, 3).T.astype(np.float64)))[0]
    return float(np.sqrt(max(smallest, 0.0)))


_IS_STAIN_COLOUR = _stain_colours()
_DENSITY = -np.log((np.arange(256, dtype=np.float32) + 1) / 256)
"""Optical density of each pixel value."""
