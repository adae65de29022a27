"""Trainings that visitors start, on whichever page: what is to be trained, the run, and the models that came out."""
