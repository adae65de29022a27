"""What several tests share: the repository root and, when it lies beside the project, the real data."""

from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: a slow example is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tiles next to the project; tests that ask for it are skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real tiles (../shared/data) are not on this machine")
    return folder
