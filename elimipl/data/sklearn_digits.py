"""Small digit bags for teaching, from the 1,797 pictures of 8×8 pixels that scikit-learn carries along.

The recipe of MNIST-MIPL in miniature: 100 bags of 8 to 12 pictures, two of them of the bag's even digit. An
instance is 64 numbers from 0 to 1. The 906 odd digits are enough that none is in the data set twice; larger
recipes use some again.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from elimipl.data.mixed_bags import Recipe, mix_bags
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace

TARGETS = (0, 2, 4, 6, 8)
RECIPE = Recipe(bags_per_class=20, smallest=8, largest=12, average=10.0, positive_share=0.2)
LABEL_SPACE = LabelSpace.of(
    [str(digit) for digit in TARGETS],
    id="digits5",
    descriptions=[f"The handwritten digit {digit}." for digit in TARGETS],
    source="Optical recognition of handwritten digits (Alpaydin and Kaynak 1998), as in scikit-learn",
)


def build_digits(*, r: int = 1, seed: int = 0, recipe: Recipe = RECIPE) -> BagDataset:
    """Digit bags with r false positive labels.

    >>> build_digits(r=2)
    BagDataset(100 bags of 8..12 x 64, digits5, generator='pixels')
    """
    digits = load_digits()
    return mix_bags(
        (digits.data / 16.0).astype(np.float32),
        digits.target,
        TARGETS,
        digits.target % 2 == 1,
        LABEL_SPACE,
        recipe,
        r=r,
        seed=seed,
        described={
            "generator": "pixels",
            "source": LABEL_SPACE.source,
            "licence": "CC BY 4.0",
            "params": {"image": [8, 8]},
        },
    )
