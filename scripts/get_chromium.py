"""Make sure there is a Chromium for the browser tests: find one, else install one, else say so and fail."""

import os
import shutil
import subprocess
import sys

from scripts.chromium import find_chromium

INSTALLERS = (
    ("apt-get", ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]),
    (sys.executable, [sys.executable, "-m", "playwright", "install", "chromium"]),
)


def main() -> int:
    if found := find_chromium():
        print(f"browser tests: using {found}")
        return 0
    for tool, command in INSTALLERS:
        if tool == "apt-get" and (not shutil.which(tool) or os.geteuid() != 0):
            continue
        print("browser tests: no Chromium yet, trying", " ".join(command))
        if tool == "apt-get":
            subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(command, check=False)
        if found := find_chromium():
            print(f"browser tests: using {found}")
            return 0
    print("browser tests: no Chromium could be found or installed; they will not run")
    return 1


if __name__ == "__main__":
    sys.exit(main())
