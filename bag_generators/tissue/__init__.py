"""Haematoxylin and eosin: stain, focus and quality, augmented copies, and the pictures that ship."""
