"""What opening each file of a folder costs: processor seconds and peak memory, each in a process of its own.

    python -m scripts.bad_inputs.budget FOLDER [SECONDS]

One line of JSON for each file. A process is stopped by the kernel when it uses more than it may, so that a bomb costs
seconds and not the machine. For Linux and macOS.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from bag_generators.errors import InputError
from bag_generators.image import load

MOST_SECONDS = 3
"""Where the kernel stops it; a second is what it may take on a machine that has nothing else to do."""
MOST_MEGABYTES = 400
"""Of the whole process, the interpreter and its libraries among them."""
_ROOM = 1500 * 2**20  # of addresses beyond what the libraries took, before memory is refused
_OPENED, _REFUSED, _ESCAPED = 0, 10, 11
_OUTCOMES = {_OPENED: "opened", _REFUSED: "refused", _ESCAPED: "another exception"}


def cost(path: Path, most_seconds: int) -> dict[str, str | float]:
    """Open one file in a copy of this process."""
    child = os.fork()
    if child == 0:
        os._exit(_opened(path, most_seconds))
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    kilobytes = used.ru_maxrss / 1024 if sys.platform == "darwin" else used.ru_maxrss
    return {
        "name": path.name,
        "outcome": _OUTCOMES.get(code, f"stopped by signal {-code}"),
        "seconds": round(used.ru_utime + used.ru_stime, 3),
        "megabytes": round(kilobytes / 1024),
    }


def _opened(path: Path, most_seconds: int) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds + 1))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        room = pages * resource.getpagesize() + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    try:
        load(path)
    except InputError:
        return _REFUSED
    except BaseException:  # whatever it is, it is a finding
        return _ESCAPED
    return _OPENED


def main() -> None:
    folder, most_seconds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else MOST_SECONDS
    for path in sorted(folder.iterdir()):
        print(json.dumps(cost(path, most_seconds)), flush=True)


if __name__ == "__main__":
    main()
