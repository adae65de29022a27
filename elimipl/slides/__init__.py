"""A whole slide through a model: every tile's class, probability, attention and votes, areas in mm², files to take."""

from elimipl.slides.mapping import MapStoppedError, map_slide
from elimipl.slides.slide_map import SlideMap

__all__ = ["MapStoppedError", "SlideMap", "map_slide"]
