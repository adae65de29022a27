"""Whole slides and large pictures, read piece by piece: size, scale, levels, any region at any scale, tissue tiles."""

from bag_generators.slide.folder import list_slides, slide_folder, slide_path
from bag_generators.slide.scale import at_decided_scale
from bag_generators.slide.slide import Level, Slide, open_slide

__all__ = ["Level", "Slide", "at_decided_scale", "list_slides", "open_slide", "slide_folder", "slide_path"]
