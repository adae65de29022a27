"""Whole slides and large pictures, read piece by piece: size, scale, any region at any scale, tissue tiles."""

from bag_generators.slide.folder import list_slides, slide_folder, slide_path
from bag_generators.slide.slide import Slide, at_decided_scale, open_slide

__all__ = ["Slide", "at_decided_scale", "list_slides", "open_slide", "slide_folder", "slide_path"]
