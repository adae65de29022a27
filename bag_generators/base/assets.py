"""Where to find what ships beside the code: models, samples, the app and its results.

In a checkout these lie in the project's folder. A wheel keeps the same tree in one folder named after the distribution,
beside the packages, so that nothing called `assets` or `app.py` lands in site-packages.
"""

import hashlib
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_BESIDE_THE_PACKAGES = Path(__file__).resolve().parents[2]
_IN_A_WHEEL = _BESIDE_THE_PACKAGES / "elimipl_pathology"

INSTALLED = _IN_A_WHEEL.is_dir()
"""Whether this is a package installed from a wheel, not a checkout."""

PROJECT = _IN_A_WHEEL if INSTALLED else _BESIDE_THE_PACKAGES
"""The folder of app.py, pages, assets and benchmarks/results. Read only: in a wheel it belongs to pip."""

WORK = Path.cwd() if INSTALLED else PROJECT
"""The folder where data sets are looked for and runs are kept: the checkout, or where an installed command starts."""


def assets(*parts: str) -> Path:
    """A file or folder that ships, such as `assets("models")`."""
    return PROJECT.joinpath("assets", *parts)


def asset_sha256(name: str) -> str | None:
    """The sum of a file that ships, such as “encoder/x.safetensors”; None where it can't be read."""
    path = assets(*name.split("/"))
    try:
        about = path.stat()
        return _sha256(path, about.st_mtime_ns, about.st_size)
    except OSError:
        return None


def program_version() -> str:
    """The version of the installed program, for what it writes; “unknown” where it was never installed."""
    try:
        return version("elimipl-pathology")
    except PackageNotFoundError:
        return "unknown"


@lru_cache(maxsize=32)
def _sha256(path: Path, *_: int) -> str:
    """Computed again when the file has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
