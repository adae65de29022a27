"""A slide as a file: a pyramidal TIFF, which OpenSlide and QuPath read."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from tifffile import TiffWriter

_TILE = 256


def pyramid(levels: Sequence[np.ndarray], microns_per_pixel: float) -> bytes:
    """The bytes of a TIFF with all levels, (height, width, 3) uint8 each: the largest first, each half of the last.

    `microns_per_pixel` is that of the largest.
    """
    content = io.BytesIO()
    with TiffWriter(content) as file:
        for number, pixels in enumerate(levels):
            per_centimetre = 10_000 / (microns_per_pixel * 2**number)
            file.write(
                np.ascontiguousarray(pixels),
                tile=(_TILE, _TILE),
                photometric="rgb",
                compression="zlib",  # JPEG would need a second, large package
                compressionargs={"level": 1},
                predictor=True,
                subfiletype=min(number, 1),
                resolution=(per_centimetre, per_centimetre),
                resolutionunit="CENTIMETER",
                metadata=None,
            )
    return content.getvalue()
