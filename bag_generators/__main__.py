"""The former command line: bags of unlabelled pictures are a command of `elimipl` now."""

import sys


def main() -> int:
    """Say in one sentence what to type instead."""
    print(
        "Bags are made by “elimipl bags”: type “elimipl bags --unlabelled PATH --generator sbn”, with --json or --out "
        "as before.",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
