"""What a visitor meets before choosing anything: one line for the picture, one for the model."""

from elimipl.cards.files import DEFAULT

SAMPLE = "real-gland"
"""Id of the sample shown first: a real field that the model answers and whose map bears being tested by removal.

`tests/ui/explore/test_first_visit.py` says which samples do when another model is trained.
"""
MODELS = (DEFAULT, "drawn7-deep-elimipl", "tissue7-deep-elimipl")
"""Ids of the models that read pictures at first, the best one first: of tissue, of drawings."""
