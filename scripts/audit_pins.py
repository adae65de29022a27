"""Are weaknesses known of the pinned versions? Asks the vulnerability lists of PyPI and OSV through pip-audit.

pip-audit is put into a small environment of its own beside .venv, for it is needed for nothing else. Exit code 0: every
pin was looked up and none has a known weakness; 1: some have, each is named; 2: not all could be looked up.

    python scripts/audit_pins.py
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOOL = "pip-audit==2.10.1"
SERVICES = ("pypi", "osv")
PLACE = ROOT / ".venv" / "audit"
OFFLINE = "Connect to the internet and run “make audit” again."


def verdict(report: Mapping[str, Any]) -> tuple[int, str]:
    """Exit code and what to tell of pip-audit's report."""
    pins = report["dependencies"]
    known = [pin for pin in pins if pin.get("vulns")]
    unknown = [pin["name"] for pin in pins if "skip_reason" in pin]
    lines = [
        f"{pin['name']} {pin['version']}: {one['id']}, fixed in {', '.join(one['fix_versions']) or 'none yet'}"
        for pin in known
        for one in pin["vulns"]
    ]
    if unknown and len(unknown) == len(pins):
        lines.append(
            f"None of the {len(pins)} pinned versions could be looked up: no vulnerability list answers. {OFFLINE}"
        )
    elif unknown:
        lines.append(f"{len(unknown)} of {len(pins)} pinned versions could not be looked up: {', '.join(unknown)}.")
    elif not known:
        lines.append(f"None of the {len(pins)} pinned versions has a known weakness.")
    return (1 if known else 2 if unknown else 0), "\n".join(lines)


def installed_tool() -> Path | None:
    """pip-audit, installed now if need be; None where it can't be."""
    program = PLACE / "bin" / "pip-audit"
    if not program.exists():
        commands = (
            [sys.executable, "-m", "venv", str(PLACE)],
            [str(PLACE / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TOOL],
        )
        for command in commands:
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
    return program


def looked_up(program: Path, service: str) -> dict[str, Any] | None:
    """pip-audit's report on all that the lock names; None where the service can't be reached."""
    command = [str(program), "--requirement", str(ROOT / "requirements-dev.lock"), "--require-hashes", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off", "--vulnerability-service", service]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        return None
    return report if isinstance(report, dict) else None


def main() -> int:
    program = installed_tool()
    if program is None:
        print(f"The pinned versions were not checked: {TOOL} can't be installed. {OFFLINE}")
        return 2
    code, sentence = 2, f"The pinned versions were not checked: no vulnerability list can be reached. {OFFLINE}"
    for service in SERVICES:
        report = looked_up(program, service)
        if report is not None:
            code, sentence = verdict(report)
            if code != 2:
                break
    print(sentence)
    return code


if __name__ == "__main__":
    sys.exit(main())
