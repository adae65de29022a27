"""Small slides of several files, written by hand: each with a label, an overview photograph and names."""

import io

import numpy as np
from PIL import Image

WIDTH, HEIGHT, TILE = 512, 256, 128
MICRONS = 0.25
SECRETS = ("Jane Roe", "HOSP-77123")
LABEL_COLOUR = (13, 250, 77)
"""Of the label and of the photograph of the whole glass; nowhere else on the slide."""


def pixels() -> np.ndarray:
    """The slide itself, (HEIGHT, WIDTH, 3) uint8: smooth, so that JPEG changes it little."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    return np.stack([120 + x // 6, 60 + y // 4, 180 - x // 8], axis=-1).astype(np.uint8)


def label() -> np.ndarray:
    """What nobody may see."""
    return np.full((48, 64, 3), LABEL_COLOUR, np.uint8)


def jpeg(part: np.ndarray, **options: object) -> bytes:
    """As a JPEG of good quality."""
    file = io.BytesIO()
    Image.fromarray(part).save(file, "JPEG", quality=95, **options)
    return file.getvalue()


def tiles(whole: np.ndarray) -> list[np.ndarray]:
    """Squares of TILE pixels row by row."""
    rows, columns = whole.shape[0] // TILE, whole.shape[1] // TILE
    return [whole[r * TILE : (r + 1) * TILE, c * TILE : (c + 1) * TILE] for r in range(rows) for c in range(columns)]
