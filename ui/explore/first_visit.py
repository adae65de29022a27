"""What a visitor meets before choosing anything: one line for the picture, one for the model."""

SAMPLE = "phantom-tum"
"""Id of the sample shown first; the first of the gallery where it is not installed."""
MODELS = ("drawn7-deep-elimipl", "colon-deep-elimipl", "tissue7-deep-elimipl")
"""Ids of the models that read pictures at first, the best one first: of drawings, of tissue."""
