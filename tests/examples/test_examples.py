"""Every example runs as it stands, offline, and says what it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# file: what it prints, and from where on the number in it is right
PROMISED = {
    "predict_a_picture": (r"normal with probability (0\.\d+)", 0.5),
    "train_on_own_bags": (r"accuracy (\d\.\d+), z of each bag \(15, 32\)", 0.8),
    "join_data_sets": (r"(\d\.\d+) right, though half", 0.8),
    "own_attention": (r"training bags (\d\.\d+)", 0.6),
    "own_extractor": (r"training bags (\d\.\d+)", 0.6),
    "own_loss": (r"training bags (\d\.\d+)", 0.6),
    "own_generator": (r"(4) instances of 3 features, painted on \(\d+, \d+\)", 4),
    "bags_in_a_data_loader": (r"instances of (\d+) bags, means \(\d+, 64\)", 32),
    "own_method": (r"training bags (\d\.\d+)", 0.4),
    "compare_methods": (r"accuracy (\d\.\d+)", 0.5),
    "cross_validation": (r"accuracy (\d\.\d+) ± ", 0.5),
    "watch_training": (r"^ 10  (\d\.\d+) found", 0.3),
}


def test_every_example_is_tested():
    assert [path.stem for path in EXAMPLES] == sorted(PROMISED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_keeps_its_promise(path, tmp_path):
    settings = {"PYTHONPATH": str(ROOT), "PATH": os.environ.get("PATH", ""), "NO_PROXY": "", "https_proxy": "closed:1"}
    settings["OMP_NUM_THREADS"] = "1"  # other tests run beside it
    run = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, cwd=tmp_path, env=settings, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    pattern, least = PROMISED[path.stem]
    found = re.search(pattern, run.stdout, re.MULTILINE)
    assert found is not None, run.stdout
    assert float(found[1]) >= least, run.stdout
    assert not list(tmp_path.iterdir())
