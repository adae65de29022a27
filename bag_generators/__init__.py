"""From a tissue picture to a bag of instances, with the part of the picture each instance covers."""

from bag_generators.base.errors import InputError
from bag_generators.generator import Bag, Generator
from bag_generators.image import TissueImage, load, tiles
from bag_generators.parallel import generate_many
from bag_generators.registry import GENERATORS, generate, register

__all__ = [
    "GENERATORS",
    "Bag",
    "Generator",
    "InputError",
    "TissueImage",
    "generate",
    "generate_many",
    "load",
    "register",
    "tiles",
]
