"""Patches in words: what is said follows from what was measured."""

import numpy as np
import pytest

from bag_generators.tissue import phantom
from bag_generators.tissue.words import Looks, in_tissue_words, looks_of


def test_glass_is_pale_and_a_field_of_dark_violet_is_crowded():
    glass = looks_of(np.full((20, 20, 3), 245, dtype=np.uint8))
    assert glass.pale == 1
    assert "Mostly pale" in in_tissue_words(glass)
    violet = looks_of(np.full((20, 20, 3), (70, 40, 120), dtype=np.uint8))
    assert violet.nuclei == 1
    assert "crowded nuclei (100 %" in in_tissue_words(violet)


def test_lymphocytes_have_more_nuclei_than_mucus():
    crowded, empty = (looks_of(phantom.draw(tissue, seed=1).pixels) for tissue in ("LYM", "MUC"))
    assert crowded.nuclei > 2 * empty.nuclei


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        (Looks(0.2, 0.3, 0.1), "Scattered nuclei (20 % of the patch); pale gaps such as lumen or mucus (30 %)."),
        (Looks(0.05, 0.0, 0.5), "Few nuclei (5 % of the patch); pink tissue between them."),
        (Looks(0.0, 0.0, 0.1), "Hardly any nuclei (0 % of the patch)."),
    ],
)
def test_every_part_of_the_sentence_has_its_number(looks, said):
    assert in_tissue_words(looks) == said
