"""Files that become shorter or longer while they are read end in a sentence, never in the end of the process."""

import os

import numpy as np
import pytest

from bag_generators import InputError, image, load
from bag_generators.base.formats import MAX_BYTES
from tests.support.programs import ended

SHRINK = """
import os, sys
from pathlib import Path
import numpy as np
from bag_generators.base import storage
from bag_generators.base.storage import ForeignFileError
path = Path(sys.argv[1])
storage.write_tensors(path, {"a": np.ones(3_000_000)}, "about", {}, "A test")
parse = storage.parse_json
def shrink(*given):  # between opening the file and reading its numbers
    os.truncate(path, 4096)
    return parse(*given)
storage.parse_json = shrink
try:
    storage.read_tensors(path, "about", "bags")
except ForeignFileError:
    print("refused")
"""


@pytest.mark.skipif(os.name != "posix", reason="others don't let a file that is read be made shorter")
def test_tensors_that_become_fewer_while_they_are_read(tmp_path):
    run = ended("-c", SHRINK, tmp_path / "bags.safetensors")
    assert run.returncode == 0, run.returncode  # -7 is the signal that ends a process whose mapped file shrank
    assert run.stdout == "refused\n"


@pytest.mark.parametrize("size", [10, MAX_BYTES + 1], ids=["shorter", "longer"])
def test_a_picture_that_changes_while_it_is_read(tmp_path, monkeypatch, size):
    path = tmp_path / "tile.png"
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    look = os.fstat

    def change(file: int) -> os.stat_result:  # between asking for the size and reading
        about = look(file)
        os.truncate(path, size)
        return about

    monkeypatch.setattr(image.os, "fstat", change)
    with pytest.raises(InputError):
        load(path)
