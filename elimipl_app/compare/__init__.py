"""The parts of the Compare page: what was recorded, two methods side by side, all methods, one trained live."""
