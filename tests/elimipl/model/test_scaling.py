import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elimipl.model.scaling import ROBUST_LIMIT, fit_scaler

ROOT = Path(__file__).resolve().parents[3]
RNG = np.random.default_rng(0)
X = RNG.normal(5, [1, 10, 0.1], (500, 3)).astype(np.float32)


def test_robust_is_not_moved_by_outliers_and_cuts_them():
    spoiled = X.copy()
    spoiled[:20] = 1e6
    scaler = fit_scaler(spoiled, "robust")
    z = scaler.transform(X[20:])
    np.testing.assert_allclose(np.median(z, 0), 0, atol=0.15)
    np.testing.assert_allclose(z.std(0), 1, atol=0.15)
    assert scaler.transform(spoiled).max() == ROBUST_LIMIT


@pytest.mark.parametrize("kind", ["zscore", "robust", "global"])
def test_the_numbers_are_those_of_a_float64_copy_and_what_never_varies_is_only_centred(kind):
    values = X.astype(np.float64)
    shift, scale = {
        "zscore": (values.mean(0), values.std(0)),
        "robust": (np.median(values, 0), np.subtract(*np.quantile(values, (0.75, 0.25), axis=0)) / 1.3489795),
        "global": (np.full(3, values.mean()), np.full(3, values.std())),
    }[kind]
    scaler = fit_scaler(X, kind)
    np.testing.assert_allclose(scaler.shift, shift, rtol=1e-13)
    np.testing.assert_allclose(scaler.scale, scale, rtol=1e-13)
    level = fit_scaler(np.full((4, 2), 7.0), kind).transform(np.array([[7.0, 8.0]]))
    np.testing.assert_allclose(level, [[0, 1]])
    np.testing.assert_array_equal(fit_scaler(X, "none").transform(X), X)


# One process for the libraries, a copy of it for each measurement: a peak never goes down again.
MEMORY_OF_TRAININGS = """
import os, resource, sys
import numpy as np
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.candidates.labels import LabelSpace
from elimipl.training.loop import fit
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
def bags(m):
    rng = np.random.default_rng(0)
    values = rng.random((8 * m, 256), dtype=np.float32)
    return BagDataset(values, np.arange(0, 8 * m + 1, 8), np.ones((m, 3), bool), np.arange(m) % 3, LabelSpace.of("abc"))
def measure(kind):
    config = Config.preset("default", hidden=16, epochs=1, batch=64, scaling=kind)
    fit(bags(100), config, device="cpu")
    data = bags(8_000)
    before = peak()
    fit(data, config, device="cpu")
    print((peak() - before) / data.instances.nbytes, flush=True)
for kind in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        measure(kind)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_training_takes_little_more_than_a_scaled_copy_and_one_in_another_order():
    """66 MB of instances. A float64 copy of them on the way would add two of the units counted here."""
    kinds = ("zscore", "robust", "global")
    command = [sys.executable, "-c", MEMORY_OF_TRAININGS, *kinds]
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=settings)
    taken = dict(zip(kinds, map(float, done.stdout.split()), strict=True))
    assert {kind: times for kind, times in taken.items() if times > 2.5} == {}
    assert min(taken.values()) > 0.5  # the copies that there must be are counted
