"""Opening Explore loads no library that only a click, another page or another command needs."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LATER = {
    "gpytorch",
    "jinja2",
    "requests",
    "scipy.optimize",
    "scipy.stats",
    "shapely",
    "skimage",
    "sklearn",
    "torchvision",
}


def test_what_explore_imports():
    code = (ROOT / "app.py").read_text(encoding="utf-8")
    lines = [ast.unparse(node) for node in ast.parse(code).body if isinstance(node, ast.Import | ast.ImportFrom)]
    program = "\n".join([*lines, "import sys", f"print(sorted({LATER} & sys.modules.keys()))"])
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "[]"
