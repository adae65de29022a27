"""The pictures that come with the project: real tissue, re-stained real tissue, and phantoms with known truth.

`scripts/make_samples.py` makes them; `samples.json` beside them says what each one is and where it is from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from bag_generators.base.assets import assets
from bag_generators.base.validation import Record, Sha256, read_json, validated
from bag_generators.image import TissueImage, load

SAMPLES_FOLDER = assets("samples")

SCALE_SOURCE = "description of the sample"
_REPAIR = "Get the project's files again, or make the samples anew with “python scripts/make_samples.py”."


class Sample(Record):
    """One picture, where it lies, and what `samples.json` says of it."""

    id: str
    file: str
    title: str  # says “re-stained” or “phantom” where it is
    kind: Literal["real", "restained", "phantom"]
    description: str
    label: str | None  # tissue code; None when the truth is unknown
    candidates: tuple[str, ...]  # tissue codes a crowd would name, the true one among them; empty when unknown
    seed: int | None  # `phantom.draw(label, seed)` gives the same pixels
    truth_file: str | None
    credit: str
    licence: str
    sha256: Sha256
    truth_sha256: Sha256 | None
    microns_per_pixel: float | None
    folder: Path = SAMPLES_FOLDER

    def load(self) -> TissueImage:
        """The picture, with its scale where that is known."""
        image = load(self.folder / self.file)
        return image.at_scale(self.microns_per_pixel, SCALE_SOURCE) if self.microns_per_pixel else image

    def truth(self) -> np.ndarray | None:
        """Which pixels carry the class, (H, W) bool; None for pictures whose truth is unknown."""
        if self.truth_file is None:
            return None
        with Image.open(self.folder / self.truth_file) as mask:
            return np.asarray(mask.convert("1"))


def list_samples(folder: Path = SAMPLES_FOLDER) -> tuple[Sample, ...]:
    """All samples in the order in which they are to be shown.

    >>> list(dict.fromkeys(sample.kind for sample in list_samples()))
    ['real', 'restained', 'phantom']
    """
    called = "The list of samples “samples.json”"
    listed = validated(tuple[Sample, ...], read_json(folder / "samples.json", called, _REPAIR), called, _REPAIR)
    return tuple(sample.model_copy(update={"folder": folder}) for sample in listed)
