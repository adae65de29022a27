"""Phantoms: drawn haematoxylin-eosin tiles whose class-carrying pixels are known, for teaching and tests."""

from bag_generators.tissue.phantom.drawing import HAEMATOXYLIN_EOSIN, PHANTOM_KINDS, Phantom, draw
from bag_generators.tissue.phantom.truth import instance_shares, instance_truth

__all__ = ["HAEMATOXYLIN_EOSIN", "PHANTOM_KINDS", "Phantom", "draw", "instance_shares", "instance_truth"]
