"""The check of pinned versions: what it says of clean, weak and unknown pins, and without the internet."""

import re
from pathlib import Path

from scripts import audit_pins
from scripts.audit_pins import verdict

CLEAN = {"name": "numpy", "version": "2.4.6", "vulns": []}
WEAK = {"name": "pillow", "version": "9.0.0", "vulns": [{"id": "CVE-1", "fix_versions": ["9.0.1"]}]}
UNKNOWN = {"name": "scipy", "skip_reason": "Dependency not found on PyPI and could not be audited: scipy (1.17.1)"}


def test_what_is_told_of_each_kind():
    assert verdict({"dependencies": [CLEAN]}) == (0, "None of the 1 pinned versions has a known weakness.")
    assert verdict({"dependencies": [CLEAN, WEAK]}) == (1, "pillow 9.0.0: CVE-1, fixed in 9.0.1")
    code, told = verdict({"dependencies": [CLEAN, UNKNOWN]})
    assert (code, told) == (2, "1 of 2 pinned versions could not be looked up: scipy.")
    code, told = verdict({"dependencies": [WEAK, UNKNOWN]})
    assert code == 1
    assert "CVE-1" in told
    assert "scipy" in told


def test_pins_that_nobody_looked_up_do_not_pass():
    code, told = verdict({"dependencies": [UNKNOWN, UNKNOWN]})
    assert code == 2
    assert told.startswith("None of the 2 pinned versions could be looked up")
    assert "\n" not in told


def test_offline_it_ends_with_one_sentence_and_the_second_list_is_asked_when_the_first_knows_nothing(
    monkeypatch, capsys
):
    monkeypatch.setattr(audit_pins, "installed_tool", lambda: None)
    assert audit_pins.main() == 2
    assert capsys.readouterr().out.count("\n") == 1
    reports: dict[str, object] = {}
    monkeypatch.setattr(audit_pins, "installed_tool", lambda: Path("pip-audit"))
    monkeypatch.setattr(audit_pins, "looked_up", lambda program, service: reports.get(service))
    assert audit_pins.main() == 2
    assert "no vulnerability list can be reached" in capsys.readouterr().out
    reports |= {"pypi": {"dependencies": [UNKNOWN]}, "osv": {"dependencies": [CLEAN]}}
    assert audit_pins.main() == 0
    assert "has a known weakness" in capsys.readouterr().out


REPORT = """{"dependencies": [
  {"name": "anyio", "version": "4.14.0", "vulns": []},
  {"name": "h11", "version": "0.14.0", "vulns": [{"id": "PYSEC-2025-1", "fix_versions": ["0.16.0"],
    "aliases": ["CVE-2025-43859", "GHSA-vqfr-h8mv-ghfj"], "description": "Lenient chunked bodies."}]}], "fixes": []}"""


def test_the_whole_lock_is_looked_up_with_its_sums_and_a_report_is_told(tmp_path):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\ncat <<'END'\n{REPORT}\nEND\nexit 1\n")
    program.chmod(0o755)
    report = audit_pins.looked_up(program, "osv")
    assert verdict(report) == (1, "h11 0.14.0: PYSEC-2025-1, fixed in 0.16.0")
    asked = (tmp_path / "asked").read_text()
    assert f"--requirement {audit_pins.ROOT / 'requirements-dev.lock'} --require-hashes --disable-pip" in asked
    assert "--vulnerability-service osv" in asked
    lock = (audit_pins.ROOT / "requirements-dev.lock").read_text()
    assert len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)) > 100  # not only what we name ourselves


def test_a_tool_that_fails_is_no_traceback(tmp_path):
    broken = tmp_path / "pip-audit"
    broken.write_text("#!/bin/sh\necho Traceback >&2\nexit 1\n")
    broken.chmod(0o755)
    assert audit_pins.looked_up(broken, "pypi") is None
