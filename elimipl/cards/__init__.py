"""A trained model as two files: its weights, and a card that says what it is and how well it does."""
