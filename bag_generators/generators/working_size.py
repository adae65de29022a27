"""The 224×224 working copy every generator sees, whatever the size of the picture."""

import cv2
import numpy as np

from bag_generators.errors import InputError

SIDE = 224
"""Side of the working copy in pixels: the paper's tiles."""
SMALLEST = 64
LONGEST_ASPECT = 8


def working_copy(pixels: np.ndarray) -> np.ndarray:
    """Bring (H, W, 3) uint8 to (224, 224, 3).

    Sides longer than 224 px shrink by area averaging, shorter ones grow by linear interpolation; a 224×224
    picture is returned as it is.
    """
    height, width = pixels.shape[:2]
    check_size(height, width)
    shrunk = (min(width, SIDE), min(height, SIDE))
    if shrunk != (width, height):
        pixels = cv2.resize(pixels, shrunk, interpolation=cv2.INTER_AREA)
    if shrunk != (SIDE, SIDE):
        pixels = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    return pixels


def check_size(height: int, width: int) -> None:
    """Refuse a picture that is too small or too long for a bag."""
    if min(height, width) < SMALLEST:
        raise InputError(
            f"The picture is {width}×{height} px; a bag needs at least {SMALLEST}×{SMALLEST} px.",
            "Choose a larger picture or export the region at a higher magnification.",
        )
    if max(height, width) > LONGEST_ASPECT * min(height, width):
        raise InputError(
            f"The picture is {width}×{height} px, more than {LONGEST_ASPECT} times as long as it is wide.",
            "Cut a part that is closer to a square.",
        )
