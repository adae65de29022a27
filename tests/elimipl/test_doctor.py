"""The doctor: what it finds on a broken computer, and that every complaint says what to do."""

import builtins
import importlib.metadata
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from elimipl import doctor
from elimipl.doctor import FAIL, PASS, WARN, Check

ROOT = Path(__file__).resolve().parents[2]


def one(checks):
    (check,) = checks
    return check


def test_lines_read_as_sentences_and_old_python_is_named():
    assert str(Check(PASS, "torch 2.14.1.")) == "PASS  torch 2.14.1."
    assert str(Check(FAIL, "It is broken.", "Mend it.")) == "FAIL  It is broken. Mend it."
    assert one(doctor.check_python((3, 10, 4))).status == FAIL
    assert one(doctor.check_python((3, 11, 0))).status == PASS
    assert one(doctor.check_python((4, 0, 0))).status == PASS


def test_this_computer_has_what_the_app_needs():
    found = {check.what.split()[0]: check.status for check in doctor.check_packages()}
    assert {"torch", "torchvision", "opencv-python-headless", "numpy", "scikit-image", "streamlit"} <= found.keys()
    assert not {"pytest", "ruff", "mypy", "dask"} & found.keys()  # developers' tools, and what only clusters need
    assert FAIL not in found.values()


def test_a_missing_package_and_another_version(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# pinned\nNumPy==0.0.1  # old\nno-such-package==1.0\n\nscipy\nruff==0\n")
    needed = {"numpy": False, "no-such-package": False, "scipy": False}
    wrong_version, missing, not_pinned = doctor.check_packages(requirements, needed)
    assert not_pinned.status == PASS
    assert wrong_version.status == WARN
    assert wrong_version.what.endswith("tested is 0.0.1.")
    assert missing == Check(FAIL, "The package no-such-package is not installed.", doctor.INSTALL)


def test_what_only_the_app_needs_is_no_failure_for_the_commands(tmp_path, monkeypatch):
    def not_there(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", not_there)
    (tmp_path / "requirements.txt").write_text("streamlit==1\nnumpy==1\n")
    app, core = doctor.check_packages(tmp_path / "requirements.txt", {"streamlit": True, "numpy": False})
    assert (app.status, core.status) == (WARN, FAIL)
    assert "Only “elimipl app” needs it" in app.fix


def test_torch_and_torchvision_that_do_not_belong_together(tmp_path, monkeypatch):
    def mismatched(name):
        if name == "torchvision":
            raise RuntimeError("operator torchvision::nms does not exist\nand more lines")

    monkeypatch.setattr(doctor, "import_module", mismatched)
    (tmp_path / "requirements.txt").write_text("torchvision==0.29.1\n")
    check = one(doctor.check_packages(tmp_path / "requirements.txt", {"torchvision": False}))
    assert check.status == FAIL
    assert "can't be imported (operator torchvision::nms does not exist)" in check.what
    assert "\n" not in str(check)


def test_a_build_of_torch_for_a_graphics_card_is_the_same_version(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "version", lambda name: "2.14.1+cu130")
    (tmp_path / "requirements.txt").write_text("torch==2.14.1\n")
    assert one(doctor.check_packages(tmp_path / "requirements.txt", {"torch": False})).status == PASS


def test_no_requirements(tmp_path):
    assert one(doctor.check_packages(tmp_path / "none.txt", {})).status == WARN


def test_two_builds_of_opencv(monkeypatch):
    assert list(doctor.check_opencv_twins()) == []
    monkeypatch.setattr(doctor, "version", lambda name: "4.0")
    assert one(doctor.check_opencv_twins()).status == WARN


def test_models_that_are_whole_broken_or_missing(toy_folder, tmp_path):
    assert one(doctor.check_models(toy_folder)) == Check(PASS, "1 of 1 models are whole and belong to their cards.")
    (toy_folder / "toy-row-elimipl.safetensors").write_bytes(b"short")
    check = one(doctor.check_models(toy_folder))
    assert check.status == FAIL
    assert "“toy-row-elimipl.safetensors” is cut short" in check.what
    assert one(doctor.check_models(tmp_path)).status == WARN
    assert one(doctor.check_models(tmp_path / "none")).status == WARN


def test_samples(tmp_path):
    assert one(doctor.check_samples(tmp_path)).status == WARN
    (tmp_path / "a.png").write_bytes(b"something")
    assert one(doctor.check_samples(tmp_path)) == Check(PASS, "1 sample pictures.")
    (tmp_path / "b.png").touch()
    assert one(doctor.check_samples(tmp_path)).status == FAIL


def test_space(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: usage(10**10, 0, 10**10))
    assert one(doctor.check_space(tmp_path)).status == PASS
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: usage(10**10, 10**10, 5 * 10**8))
    assert one(doctor.check_space(tmp_path)).what == f"Only 0.5 GB free in {tmp_path}."
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert "may not be written" in one(doctor.check_space(tmp_path)).what


def test_one_core(monkeypatch):
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert one(doctor.check_cores()).status == WARN


def test_every_finding_that_is_not_a_pass_says_what_to_do(tmp_path, monkeypatch):
    real_import = builtins.__import__

    def without_torch(name, *rest):
        if name == "torch" or name.startswith("elimipl"):
            raise ImportError(f"No module named {name!r}")
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    checks = list(doctor.examine(tmp_path))
    assert FAIL in {check.status for check in checks}
    assert all(check.fix or check.status == PASS for check in checks)


def test_the_doctor_works_where_the_rest_does_not():
    program = (
        "import sys; sys.modules['cv2'] = sys.modules['torch'] = None\n"
        "from elimipl.commands import main; sys.exit(main(['doctor']))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr == ""
    for missing in ("cv2", "torch"):
        assert re.search(rf"FAIL  .* can't be imported \(import of {missing} halted", ended.stdout)
    assert "FAIL  The models can't be checked" in ended.stdout
