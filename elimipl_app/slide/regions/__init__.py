"""Regions that a person draws on a slide or brings along: what they are, what a map says in them, and as files."""
