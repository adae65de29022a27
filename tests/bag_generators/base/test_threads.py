"""One thread for torch, also where several threads of the program ask for that at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from bag_generators.base.threads import one_thread

SECONDS = 30


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_the_number_is_restored_also_when_nested_and_after_an_error(two_threads):
    with one_thread():
        with pytest.raises(ZeroDivisionError), one_thread():
            _ = 1 / 0
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_whoever_leaves_last_restores_what_was_there_before_anybody_came(two_threads):
    entered, left = threading.Event(), threading.Event()

    def second() -> tuple[int, int]:
        with one_thread():
            entered.set()
            assert left.wait(SECONDS)
            inside = torch.get_num_threads()
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(1) as pool:
        with one_thread():
            other = pool.submit(second)
            assert entered.wait(SECONDS)
        left.set()
        assert other.result(SECONDS) == (1, 2)
    assert torch.get_num_threads() == 2
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result(SECONDS) == 2
