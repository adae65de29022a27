"""Only the command that downloads loads the library for it, and none that of clusters."""

import subprocess
import sys
from pathlib import Path

from elimipl.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[3]


def test_only_fetch_loads_requests_and_none_loads_dask():
    others = ", ".join(f"elimipl.commands.{name}" for name in COMMANDS if name != "fetch")
    program = f"import sys, {others}; assert 'requests' not in sys.modules; import elimipl.commands.fetch"
    program += "; assert 'requests' in sys.modules; assert not {'dask', 'distributed'} & sys.modules.keys()"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
