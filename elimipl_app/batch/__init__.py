"""The parts of the Batch page."""
