"""`python -m elimipl`: the command line."""

import sys

from elimipl.commands import main

if __name__ == "__main__":  # worker processes import this module again
    sys.exit(main())
