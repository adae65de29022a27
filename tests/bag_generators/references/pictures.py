"""Pictures the generator tests share: noise, soft noise, flat colour, and real colon tissue from scikit-image."""

import cv2
import numpy as np
import skimage.data

from bag_generators import TissueImage

KINDS = ("noise", "soft noise", "tissue", "tissue and glass")


def picture(kind: str, seed: int = 0, height: int = 224, width: int = 224) -> TissueImage:
    """A picture of `kind`; another `seed` gives another one."""
    rng = np.random.default_rng(seed)
    if kind == "noise":
        return TissueImage.from_array(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
    if kind == "soft noise":
        soft = cv2.GaussianBlur(rng.normal(size=(height, width, 3)), (0, 0), 6)
        return TissueImage.from_array(np.clip(140 + 700 * soft, 0, 255).astype(np.uint8))
    slide = skimage.data.immunohistochemistry()  # 512×512, colon
    y, x = (int(rng.integers(0, 512 - min(side, 511))) for side in (height, width))
    pixels = np.array(slide[y : y + height, x : x + width])
    if kind == "tissue and glass":
        pixels[:, : width // 3] = 243
    return TissueImage.from_array(pixels)


def flat(colour: tuple[int, int, int], height: int = 224, width: int = 224) -> TissueImage:
    return TissueImage.from_array(np.broadcast_to(np.array(colour, dtype=np.uint8), (height, width, 3)))
