"""One small cluster for all tests of this folder."""

import dask
import numpy as np
import pytest
from PIL import Image

from bag_generators.registry import GENERATORS, register
from elimipl.cluster.engine import local_cluster
from tests.elimipl.cluster import mortals


@pytest.fixture(scope="package")
def cluster():
    """Two workers; a task is lost with the first worker that it kills. Its certificate is known here by settings."""
    with local_cluster(2) as running:
        running.scheduler.allowed_failures = 0
        held = running.security
        known = {"ca-file": held.tls_ca_file, "client.cert": held.tls_client_cert, "client.key": held.tls_client_key}
        with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in known.items()}):
            yield running


@pytest.fixture
def forgiving(cluster):
    """The same cluster, where a task may kill three workers, as is Dask's default."""
    cluster.scheduler.allowed_failures = 3
    yield cluster
    cluster.scheduler.allowed_failures = 0


@pytest.fixture
def mortal():
    register(mortals.GENERATOR)
    yield "mortal"
    GENERATORS.unregister("mortal")


@pytest.fixture
def pictures(tmp_path):
    """Two class folders of three pictures, one of them black, and a broken file."""
    for number, name in enumerate(("a/0.png", "a/1.png", "a/black.png", "b/3.png", "b/4.png", "b/5.png")):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        colour = (0, 0, 0) if "black" in name else (10 * number + 5, 100, 200)
        Image.fromarray(np.full((64, 64, 3), colour, np.uint8)).save(path)
    (tmp_path / "pictures" / "b" / "broken.png").write_bytes(b"no picture")
    return tmp_path / "pictures"
