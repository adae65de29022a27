"""From the bytes of an unknown file to pixels, or to a sentence saying why not."""
