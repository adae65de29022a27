"""A class as the crowd: students label pictures, and models learn from their doubt."""
