"""Many files at once: order, equality with one process, and what happens when a file or a worker breaks."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators.base import pool
from bag_generators.base.errors import InputError
from bag_generators.generator import Bag
from bag_generators.image import load
from bag_generators.parallel import generate_many
from bag_generators.registry import generate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pictures(tmp_path):
    """Twenty small pictures of different shapes, the seventh cut in the middle."""
    rng = np.random.default_rng(0)
    paths = []
    for i in range(20):
        path = tmp_path / f"{i:02}.png"
        blocks = rng.integers(0, 256, (4 + i % 3, 5, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((70 + i, 80)).save(path)
        paths.append(path)
    paths[6].write_bytes(paths[6].read_bytes()[:300])
    return paths


@pytest.fixture
def started(monkeypatch):
    """The worker processes started during a test."""
    processes = []
    start = subprocess.Popen

    def record(*arguments, **options):
        processes.append(start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", record)
    return processes


def patched_worker(load_of_path):
    """A worker whose loader is replaced by an expression of `path` and `load`."""
    return (
        "import os, sys; from bag_generators import parallel; from bag_generators.base import worker; "
        f"load = parallel.load; parallel.load = lambda path: {load_of_path}; worker.serve(int(sys.argv[1]))"
    )


def assert_same_bag(one, other):
    assert np.array_equal(one.features, other.features)
    assert (one.params, one.feature_names, one.image_sha256) == (other.params, other.feature_names, other.image_sha256)
    scores = np.arange(len(one))
    assert np.array_equal(one.regions.paint(scores), other.regions.paint(scores), equal_nan=True)


def test_nineteen_bags_and_one_reason_in_order_and_no_process_for_so_few(pictures, started):
    told = []
    results = list(generate_many("sbn", pictures, progress=lambda done, total: told.append((done, total))))
    assert told == [(done, 20) for done in range(1, 21)]
    assert (started, list(generate_many("row", [], workers=4))) == ([], [])
    assert [path for path, _ in results] == pictures
    assert [i for i, (_, result) in enumerate(results) if not isinstance(result, Bag)] == [6]
    assert isinstance(results[6][1], InputError)
    assert "incomplete or damaged" in str(results[6][1])
    for path, bag in (results[5], results[7], results[19]):
        assert_same_bag(bag, generate("sbn", load(path)))


def test_two_processes_give_what_one_gives(pictures, started):
    alone = list(generate_many("kmeansseg", pictures, workers=1, stain="reinhard"))
    assert started == []
    together = list(generate_many("kmeansseg", map(str, pictures), workers=2, stain="reinhard"))
    assert len(started) == 2
    assert [path for path, _ in together] == [str(path) for path in pictures]
    for i, ((_, one), (_, other)) in enumerate(zip(alone, together, strict=True)):
        if i == 6:
            assert str(one) == str(other)
        else:
            assert_same_bag(one, other)
            assert not other.features.flags.writeable
    assert all(process.poll() is not None for process in started)


@pytest.mark.parametrize("arguments", [{"name": "rows"}, {"name": "row", "blur": 3}, {"name": "row", "workers": 0}])
def test_wrong_arguments_are_refused_before_the_first_file(arguments):
    with pytest.raises(InputError):
        generate_many(paths=["never-read.png"], **arguments)


def test_a_file_that_kills_its_worker_is_a_reason_and_the_rest_goes_on(pictures, monkeypatch):
    monkeypatch.setattr(
        pool, "_WORKER_PROGRAM", patched_worker("os._exit(9) if '03' in os.path.basename(path) else load(path)")
    )
    results = [result for _, result in generate_many("row", pictures, workers=2)]
    assert "stopped the program that reads it" in str(results[3])
    assert [i for i, result in enumerate(results) if not isinstance(result, Bag)] == [3, 6]


def test_workers_that_can_not_start_are_an_error_and_not_an_endless_try(pictures, monkeypatch):
    monkeypatch.setattr(pool, "_WORKER_PROGRAM", "raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="could not be started"):
        list(generate_many("row", pictures, workers=2))


def test_leaving_early_ends_the_workers_and_little_was_made_ahead(pictures, monkeypatch, started):
    monkeypatch.setattr(pool, "_WINDOW", 3)
    given = []
    give = pool._Worker.give
    monkeypatch.setattr(pool._Worker, "give", lambda worker, i, file: (given.append(i), give(worker, i, file)))
    results = generate_many("row", pictures, workers=2)
    assert next(results)[0] == pictures[0]
    assert max(given) < 2 * 3
    results.close()
    assert all(process.poll() is not None for process in started)


def test_the_callers_script_is_not_run_again_and_its_folder_is_not_searched(pictures, tmp_path):
    """Streamlit's main script is the page itself; and a stray numpy.py beside the pictures must not be imported."""
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    script = ROOT / "tests" / "never-written.py"
    program = (
        f"import sys; sys.path[0] = {str(ROOT)!r}; print('once');"
        f"import types; sys.modules['__main__'].__file__ = {str(script)!r};"
        "from bag_generators.parallel import generate_many;"
        f"print(len(list(generate_many('row', {[str(path) for path in pictures[:4]]!r}, workers=2))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["once", "4"], "", 0)


def test_a_worker_starts_without_the_heavy_libraries():
    program = (
        "import sys, bag_generators.base.worker; print({'torch', 'streamlit', 'skimage', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"
