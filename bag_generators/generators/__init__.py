"""The ways to cut a picture into instances, one file each, and what they share."""
