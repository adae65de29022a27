"""Builders of bag data sets, a file each: tile folders, the authors' files, the paper's benchmark sets."""
