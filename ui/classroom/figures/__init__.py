"""What the class's answers look like."""
