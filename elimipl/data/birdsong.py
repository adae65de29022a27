"""Birdsong-MIPL: 1,300 bags of sounds, 100 for each of 13 bird species, from the HJA birdsong recordings.

The recordings (Briggs, Fern and Raich 2012) are cut into 10,232 sounds of 38 numbers each; 4,998 of them
carry one of 13 species, the rest carry none. A bag has a few sounds of its species and is filled up with
sounds of no species. The paper gives 25 to 76 sounds in a bag, 37.25 on average. One sound in twelve is of the species,
halves rounded up: that is what the smallest and the largest share of positives say that the authors print in a later
paper (6.9 % and 10.0 %, CDL, Table 1). Whether a bag's sounds come from one recording isn't said: here they are drawn
from all recordings.
48,425 places for 10,232 sounds mean that sounds repeat: one of no species is in about nine bags, and the
rarest species (the hermit thrush) has 32 sounds for 100 bags. So the bags of a training and a test split
share sounds, as the authors' must.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from bag_generators.errors import InputError
from elimipl.data.mixed_bags import Recipe, mix_bags
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace

UNLABELLED = -1
RECIPE = Recipe(smallest=25, largest=76, average=37.25, positive_share=1 / 12)
_SPECIES = {
    "BRCR": "Brown creeper",
    "WIWR": "Winter wren",
    "PSFL": "Pacific-slope flycatcher",
    "RBNU": "Red-breasted nuthatch",
    "DEJU": "Dark-eyed junco",
    "OSFL": "Olive-sided flycatcher",
    "HETH": "Hermit thrush",
    "CBCH": "Chestnut-backed chickadee",
    "VATH": "Varied thrush",
    "HEWA": "Hermit warbler",
    "SWTH": "Swainson's thrush",
    "HAFL": "Hammond's flycatcher",
    "WETA": "Western tanager",
}
LABEL_SPACE = LabelSpace.of(
    _SPECIES,
    id="birdsong13",
    descriptions=[f"{name}." for name in _SPECIES.values()],
    source="HJA birdsong (Briggs, Fern and Raich 2012)",
)


def build_birdsong(path: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = RECIPE) -> BagDataset:
    """Birdsong-MIPL from `hja_birdsong.npz`, with r false positive labels.

    The file has `X` (N, 38) and `label` (N,), 1 to 13 for a species and −1 for none.
    """
    features, species = _read(Path(path))
    return mix_bags(
        features,
        species,
        range(1, len(LABEL_SPACE) + 1),
        species == UNLABELLED,
        LABEL_SPACE,
        recipe,
        r=r,
        seed=seed,
        described={"generator": "birdsong", "source": LABEL_SPACE.source, "licence": "research use"},
    )


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            features, species = np.asarray(arrays["X"], dtype=np.float32), np.asarray(arrays["label"])
    except FileNotFoundError:
        raise InputError(f"There is no file “{path}”.", "Give the path of hja_birdsong.npz.") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise InputError(
            f"“{path}” is not the birdsong data.", "It has to be an npz file with the arrays X and label."
        ) from None
    known = np.isin(species, [UNLABELLED, *range(1, len(LABEL_SPACE) + 1)])
    if features.ndim != 2 or species.shape != features.shape[:1] or not known.all():
        raise InputError(
            f"The arrays of “{path}” don't fit together.",
            "X needs one row for each entry of label, which is 1 to 13, or -1 for no species.",
        )
    return features, species
