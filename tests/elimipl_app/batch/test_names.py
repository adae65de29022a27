"""The class that names of files and folders carry."""

import pytest

from elimipl.candidates.labels import label_in

LABELS = ["NORM", "STR", "TUM", "AC", "LG IN", "Normal mucosa"]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("TUM/0001.png", "TUM"),
        ("tiles/tum/STR-1.png", "TUM"),  # the nearest folder comes before the file
        ("NORM/deep/x.png", "NORM"),
        ("STR-TCGA-AAQF.tif", "STR"),
        ("str_12.png", "STR"),
        ("12TUM34.png", "TUM"),
        ("normal mucosa 3.png", "Normal mucosa"),
        ("lg_in-7.png", "LG IN"),
        ("C:\\tiles\\TUM\\1.png", "TUM"),
        ("TUM", "TUM"),
        ("action.png", ""),  # AC is a part of a word, no word
        ("STR-TUM.png", ""),
        ("unknown/1.png", ""),
        ("", ""),
        (".png", ""),
    ],
)
def test_the_label_of_a_name(name, label):
    assert label_in(name, LABELS) == label
