"""The colon model: its real sources, the encoder's adaptation, training and measuring."""
