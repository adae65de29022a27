"""Builders of bag data sets: tile folders, zips, drawings, the paper's benchmark sets, and downloads."""
