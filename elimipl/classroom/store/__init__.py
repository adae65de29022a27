"""Sessions of a class in one database file; knows nothing of pages."""
