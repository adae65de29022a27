"""Add a way to cut pictures into instances: commands, pages and worker processes then know it by name."""

import numpy as np

from bag_generators import Generator, generate, register
from bag_generators.regions import BoxRegions
from bag_generators.tissue.samples import list_samples

COLOURS = ("red", "green", "blue")


def quadrants(pixels, shape):
    """The mean colour of the four quarters of a picture of `shape`; `pixels` is its 224×224 working copy."""
    features = pixels.reshape(2, 112, 2, 112, 3).mean(axis=(1, 3)).reshape(4, 3)
    height, width = shape
    corners = [(x, y) for y in (0, height // 2) for x in (0, width // 2)]
    boxes = [(x, y, width if x else width // 2, height if y else height // 2) for x, y in corners]
    return features, BoxRegions(np.array(boxes), shape)


register(Generator("quadrants", "Quadrants", "Four quarters: their mean colour.", COLOURS, quadrants))
picture = list_samples()[0].load()
bag = generate("quadrants", picture)
print(f"{len(bag)} instances of {bag.features.shape[1]} features, painted on {bag.regions.paint(np.arange(4)).shape}")
