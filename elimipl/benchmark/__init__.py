"""The paper's comparison on the data at hand: which runs there are, how they are run and kept, what they show."""
