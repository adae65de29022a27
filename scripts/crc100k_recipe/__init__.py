"""The steps of `make crc100k`, and what they cost."""
