"""Python in a process of its own, for what may be killed, limited or put into odd surroundings."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def python(*words: object, environment: Mapping[str, str | None] | None = None, **more: Any) -> subprocess.Popen[str]:
    """A running Python that finds the project; `environment` changes variables, None takes one away."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    given = {name: value for name, value in variables.items() if value is not None}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    return subprocess.Popen([sys.executable, *map(str, words)], env=given, **{**pipes, **more})


def ended(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """The same, once it has ended."""
    run = python(*words, **more)
    out, err = run.communicate()
    return subprocess.CompletedProcess(run.args, run.returncode, out, err)
