"""Pictures that open well but show no colorectal H&E tissue."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from scripts.bad_inputs.encodings import encoded, tissue

SIDE = 224


def flat(colour: str) -> bytes:
    """One colour everywhere."""
    return encoded("PNG", Image.new("RGB", (SIDE, SIDE), colour))


def blurred() -> bytes:
    """Tissue far out of focus."""
    return _png(cv2.GaussianBlur(np.asarray(tissue()), (0, 0), 12))


def noise() -> bytes:
    """No picture at all: every value by chance."""
    return _png(np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3)))


def screenshot() -> bytes:
    """Grey windows with black text on white."""
    pixels = np.full((SIDE, SIDE, 3), 255, np.uint8)
    pixels[:24] = (60, 60, 64)
    for row in range(40, SIDE - 10, 14):
        cv2.putText(pixels, "file edit view help", (12, row), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (20, 20, 20), 1)
    return _png(pixels)


def fluorescence() -> bytes:
    """Green and blue spots on black."""
    rng, pixels = np.random.default_rng(1), np.zeros((SIDE, SIDE, 3), np.uint8)
    for x, y in rng.integers(0, SIDE, (60, 2)).tolist():
        cv2.circle(pixels, (x, y), 7, (20, 90, 230), -1)
        cv2.circle(pixels, (x + 4, y + 3), 9, (30, 220, 60), 2)
    return _png(cv2.GaussianBlur(pixels, (0, 0), 1.2))


def brown_stain() -> bytes:
    """The brown of an antibody stain with blue nuclei: the tile's colours turned round."""
    hsv = cv2.cvtColor(np.asarray(tissue()), cv2.COLOR_RGB2HSV)
    hsv[:, :, 0] = np.where(hsv[:, :, 0] > 140, 15, 105)
    return _png(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))


def landscape() -> bytes:
    """Sky, hills and a meadow, as a holiday picture has them."""
    rng = np.random.default_rng(2)
    pixels = np.zeros((SIDE, SIDE, 3), np.float64)
    pixels[:110] = np.linspace((90, 150, 235), (190, 220, 250), 110)[:, None]
    pixels[110:] = np.linspace((70, 130, 50), (40, 90, 30), SIDE - 110)[:, None]
    pixels[110:] += rng.normal(0, 18, (SIDE - 110, SIDE, 1))
    return _png(np.clip(pixels, 0, 255))


def _png(pixels: np.ndarray) -> bytes:
    return encoded("PNG", Image.fromarray(pixels.astype(np.uint8)))


FILES = {
    "white.png": (lambda: flat("white"), "too little tissue"),
    "black.png": (lambda: flat("black"), "out of focus, magnified too far or largely empty"),
    "one-colour.png": (lambda: flat("#c080b0"), "out of focus, magnified too far or largely empty"),
    "blurred.png": (blurred, "out of focus"),
    "noise.png": (noise, "grainier than any tile"),
    "screenshot.png": (screenshot, "no stained section"),
    "fluorescence.png": (fluorescence, "another stain"),
    "antibody-stain.png": (brown_stain, "another stain"),
    "landscape.png": (landscape, "another stain"),
}
