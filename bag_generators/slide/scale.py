"""The scale at which a slide is read where its file does not say it: by the nuclei of its densest tissue."""

from __future__ import annotations

import cv2
import numpy as np

from bag_generators.image import TissueImage
from bag_generators.scale import ScaleDecision, by_hand_only, decide_scale
from bag_generators.slide.slide import Slide

_THUMBNAIL = 512
_WINDOW, _ALONG = 320, 2
"""Windows of level 0, and how many along a side of the picture that they are put together to."""


def at_decided_scale(slide: Slide, by_hand: float | None = None) -> tuple[Slide, ScaleDecision]:
    """The slide with the scale by hand, else of its file, else by the nuclei in four windows, or the assumed one."""
    if by_hand is None and slide.microns_per_pixel is not None:
        return slide, ScaleDecision(slide.microns_per_pixel, slide.scale_origin, "the slide", None, doubted=False)
    scale = decide_scale(_windows(slide)) if by_hand is None else by_hand_only(by_hand)
    return slide.with_scale(scale.microns_per_pixel, scale.origin), scale


def _windows(slide: Slide) -> TissueImage:
    """Four windows side by side, fixed by the slide."""
    side = min(_WINDOW, slide.width, slide.height)
    parts = [slide.pixels(x, y, side, side, (side, side)) for x, y in _places(slide, side)]
    rows = [np.hstack(parts[start : start + _ALONG]) for start in range(0, _ALONG**2, _ALONG)]
    return TissueImage.from_array(np.vstack(rows))


def _places(slide: Slide, side: int) -> list[tuple[int, int]]:
    """Corners of four windows among the parts with much haematoxylin, not only the darkest, which may be ink."""
    small = slide.thumbnail(_THUMBNAIL)
    shrunk = max(slide.width, slide.height) / max(small.shape[:2])
    cell = max(1, round(side / shrunk))
    size = max(1, small.shape[1] // cell), max(1, small.shape[0] // cell)
    red = cv2.resize(np.ascontiguousarray(small[..., 0]), size, interpolation=cv2.INTER_AREA)
    order = np.argsort(red, axis=None, kind="stable")
    chosen = order[(np.linspace(0, 0.2, _ALONG**2) * (len(order) - 1)).round().astype(int)]
    rows, columns = np.unravel_index(chosen, red.shape)
    right, bottom = slide.width - side, slide.height - side
    return [
        (min(round(column / size[0] * slide.width), right), min(round(row / size[1] * slide.height), bottom))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
