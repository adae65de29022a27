"""Start the app on this computer, from any folder; end it with Ctrl-C. Its settings are those that ship."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from bag_generators.base.assets import PROJECT
from bag_generators.base.errors import InputError
from bag_generators.slide.folder import VARIABLE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `app` asks for."""
    parser.add_argument("--port", type=int, metavar="N", help="port to listen on (default 8501)")
    parser.add_argument("--slides", type=Path, metavar="FOLDER", help="folder of whole slides to show")


def run(args: argparse.Namespace) -> int:
    """Hand over to Streamlit, which reads the settings that lie beside app.py."""
    missing = [name for name in ("streamlit", "plotly", "pandas") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"The app needs {', '.join(missing)}, which the bare package does without.",
            "Install the package with its extra: “python -m pip install .[app]” in the project's folder.",
        )
    if args.slides is not None:
        if not args.slides.is_dir():
            raise InputError(f"There is no folder “{args.slides}”.", "Give a folder of slides.")
        os.environ[VARIABLE] = str(args.slides.absolute())
    sys.argv = ["streamlit", "run", str(PROJECT / "app.py")]
    if args.port is not None:
        sys.argv += ["--server.port", str(args.port)]
    # In this process: a signal ends the app itself, not only the command that started it.
    runpy.run_module("streamlit", run_name="__main__")
    return 0
