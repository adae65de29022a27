"""The corpus of bad inputs: what people and attackers upload, and what they must read. Nothing of it is kept."""
