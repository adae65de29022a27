"""The corpus of bad inputs: what people and attackers upload, and what they must be told. Nothing of it is kept."""
