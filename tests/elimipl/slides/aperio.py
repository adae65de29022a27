"""A slide as a scanner of Aperio writes it, with everything in it that nobody may see."""

from pathlib import Path

import numpy as np
import tifffile

SECRETS = ("Jane Roe", "1961-05-04", "HOSP-77123", "scanner-operator-9")
LABEL_COLOUR = (13, 250, 77)
"""Of every pixel of the label and of the photograph of the whole glass; nowhere else on the slide."""


def write_aperio(path: Path, pixels: np.ndarray) -> None:
    """Pixels at 0.5 µm as a slide with a thumbnail, a label and a macro picture."""
    texts = f"|AppMag = 20|MPP = 0.5|Patient = {SECRETS[0]}, {SECRETS[1]}|ImageID = {SECRETS[2]}|User = {SECRETS[3]}"
    height, width = pixels.shape[:2]
    secret = np.broadcast_to(np.array(LABEL_COLOUR, np.uint8), (240, 320, 3)).copy()
    with tifffile.TiffWriter(path) as file:
        common = {"photometric": "rgb", "software": SECRETS[3], "metadata": None}
        head = f"Aperio Image Library v12.0.15 \r\n{width}x{height} [0,0 {width}x{height}] (256x256)"
        file.write(pixels, tile=(256, 256), description=head + texts, compression="deflate", **common)
        file.write(pixels[::4, ::4].copy(), description=f"{head} -> {width // 4}x{height // 4}{texts}", **common)
        for name, kind in (("label", 1), ("macro", 9)):
            described = f"Aperio Image Library v12.0.15 \r\n{name} 320x240"
            file.write(secret, description=described, subfiletype=kind, **common)
