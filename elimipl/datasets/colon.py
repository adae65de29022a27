"""What the labels of public colorectal sets mean in the classes of `elimipl.COLON`, and whom to credit for them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bag_generators.base.validation import Record

_TISSUE = {
    "ADI": {"fat"},
    "BACK": {"glass"},
    "DEB": {"debris"},
    "LYM": {"lymphocytes"},
    "MUC": {"mucus"},
    "MUS": {"muscle"},
    "NORM": {"normal"},
    "STR": {"stroma"},
    "TUM": {"carcinoma"},
}

SOURCES: Mapping[str, Mapping[str, set[str]]] = MappingProxyType(
    {
        "tissue7": _TISSUE,
        # Its stroma includes smooth muscle, its debris mucus; “complex” is stroma with single tumour or immune cells.
        "kather8": {
            "TUMOR": {"carcinoma"},
            "STROMA": {"stroma", "muscle"},
            "COMPLEX": {"stroma", "lymphocytes"},
            "LYMPHO": {"lymphocytes"},
            "DEBRIS": {"debris", "mucus"},
            "MUCOSA": {"normal"},
            "ADIPOSE": {"fat"},
            "EMPTY": {"glass"},
        },
        # Tubular and villous say how an adenoma grows, not its grade.
        "lesion5": {
            "adenocarcinoma": {"carcinoma"},
            "healthy": {"normal"},
            "serrated_adenoma": {"serrated"},
            "tubular_adenoma": {"low_grade", "high_grade"},
            "villous_adenoma": {"low_grade", "high_grade"},
        },
        # A class that one source alone has is learned as that source: non-neoplastic polyps belong to normal.
        "ebhi6": {
            "normal": {"normal"},
            "polyp": {"normal"},
            "low_grade": {"low_grade"},
            "high_grade": {"high_grade"},
            "serrated_adenoma": {"serrated"},
            "adenocarcinoma": {"carcinoma"},
        },
        "pathmnist": _TISSUE,
        "nct100k": _TISSUE,
    }
)
"""For `elimipl.join`: by source, which classes of the colon each of its labels may mean."""


class Credit(Record):
    """Where a source comes from, and on what terms."""

    title: str
    authors: str
    where: str
    licence: str


_NCT = {
    "authors": "Kather, Halama and Marx 2018",
    "where": "https://doi.org/10.5281/zenodo.1214456",
    "licence": "CC BY 4.0",
}

CREDITS: Mapping[str, Credit] = MappingProxyType(
    {
        "tissue7": Credit(title="Tiles of CRC-VAL-HE-7K and NCT-CRC-HE-100K", **_NCT),
        "kather8": Credit(
            title="Collection of textures in colorectal cancer histology",
            authors="Kather et al. 2016",
            where="https://doi.org/10.5281/zenodo.53169",
            licence="CC BY 4.0",
        ),
        "lesion5": Credit(
            title="Colorectal lesion tiles",
            authors="Flagy/Colorectal_Carcinoma_Classifier; origin of the slides not stated",
            where="https://github.com/Flagy/Colorectal_Carcinoma_Classifier",
            licence="published in a GPL-3.0 repository",
        ),
        "ebhi6": Credit(
            title="EBHI-SEG",
            authors="Shi et al. 2023",
            where="https://doi.org/10.6084/m9.figshare.21540159",
            licence="CC BY 4.0",
        ),
        "pathmnist": Credit(
            title="PathMNIST of MedMNIST v2, from NCT-CRC-HE-100K and CRC-VAL-HE-7K",
            authors="Yang et al. 2023; Kather, Halama and Marx 2018",
            where="https://medmnist.com",
            licence="CC BY 4.0",
        ),
        "nct100k": Credit(title="Tiles of NCT-CRC-HE-100K", **_NCT),
    }
)
"""Whom to name wherever a model that learned from these sources is shown."""
