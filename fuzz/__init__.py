"""Throw damaged files at everything that reads files: the only exception that may ever escape is `InputError`."""
