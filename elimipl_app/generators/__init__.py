"""The panels of the page that puts the four bag generators side by side."""
