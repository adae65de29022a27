"""Figures that only this page shows."""
