"""Tasks on a cluster: every answer once, refusals in a sentence, workers that die, nothing open to others."""

import asyncio
import ssl
import sys
from queue import SimpleQueue
from typing import Any

import dask
import psutil
import pytest
from distributed import Security
from distributed.comm import connect

from bag_generators.base.errors import InputError
from elimipl.cluster import engine
from elimipl.cluster.engine import LOCAL, LostTaskError, connected, on_cluster
from tests.elimipl.cluster import mortals
from tests.support.waiting import PATIENCE


@pytest.fixture
def client(cluster):
    with connected(cluster.scheduler_address) as client:
        yield client


def test_every_task_is_answered_once_however_few_are_handed_out(client, monkeypatch):
    monkeypatch.setattr(engine, "_AT_ONCE", 3)
    answers = list(on_cluster(client, mortals.scaled, iter(range(20)), shared=(3,)))
    assert sorted(answers) == [(task, 3 * task) for task in range(20)]
    assert list(on_cluster(client, mortals.scaled, [], shared=(3,))) == []


def test_nothing_piles_up_for_tasks_that_have_not_ended(client):
    loop = client.loop.asyncio_loop
    before = len(asyncio.all_tasks(loop))
    found = [len(asyncio.all_tasks(loop)) for _ in on_cluster(client, mortals.slowly, range(60))]
    assert max(found) - before < 3 * 60


def test_a_refusal_is_raised_here(client):
    with pytest.raises(InputError, match="Task 2 is refused"):
        list(on_cluster(client, mortals.refuses_two, range(4)))


def test_other_versions_are_refused_by_the_worker(client, monkeypatch):
    asked_with = {**engine._versions(), "numpy": "1.0"}
    monkeypatch.setattr(engine, "_versions", lambda: asked_with)
    with pytest.raises(InputError, match=r"has numpy \d.*, the computer that asks has 1\.0\. Install the same"):
        list(on_cluster(client, mortals.scaled, [1], shared=(3,)))


def test_a_worker_that_was_killed_costs_no_answer(forgiving, client, tmp_path):
    answers = list(on_cluster(client, mortals.kills_once, range(4), shared=(tmp_path / "killed",)))
    assert (tmp_path / "killed").exists()
    assert sorted(answers) == [(task, task) for task in range(4)]


def test_a_task_that_always_kills_its_worker_is_lost_alone(client):
    answers = dict(on_cluster(client, mortals.always_kills_on_one, [1]))
    assert isinstance(answers[1], LostTaskError)
    assert dict(on_cluster(client, mortals.always_kills_on_one, [2, 3])) == {2: 2, 3: 3}


def test_a_worker_that_comes_back_late_is_not_given_up(monkeypatch, tmp_path):
    """A new process takes longer than Dask would wait for it here."""
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(engine, "_LOOKS_WITHOUT_WORKERS", round(PATIENCE))
    impatient = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 ms"})
    with impatient, connected(LOCAL, 1) as client:
        answers = list(on_cluster(client, mortals.kills_once, range(3), shared=(tmp_path / "killed",)))
    assert sorted(answers) == [(task, task) for task in range(3)]


@pytest.mark.parametrize(
    ("seen", "looks"),
    [(False, [{"late": 1}, {}, {}, {}]), (True, [{}, {}, {}]), (False, [{}, {}, {}, {}, {"late": 1}, {}, {}, {}])],
)
def test_when_all_workers_have_gone_nobody_waits_for_ever(seen, looks, monkeypatch):
    answers = iter(looks)

    class Deserted:
        def nthreads(self):
            return next(answers)

    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(engine, "_LOOKS_WITHOUT_WORKERS", 3)
    with pytest.raises(InputError, match="The workers of the cluster have gone"):
        engine._next_of(SimpleQueue(), Deserted(), seen)
    assert list(answers) == []


def test_nothing_can_be_reached_from_outside(cluster):
    here = psutil.Process()
    open_ports = [
        connection.laddr
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert open_ports
    assert {address.ip for address in open_ports} == {"127.0.0.1"}
    assert 8787 not in {address.port for address in open_ports}  # where Dask shows its dashboard


async def test_other_programs_of_this_machine_can_send_the_workers_nothing(cluster):
    async def asked(address: str, **known: Any) -> dict[str, object]:
        there = await connect(address, **known)
        await there.write({"op": "identity", "reply": True})
        return await there.read()

    trusting = Security.temporary().get_connection_args("client")  # shows a certificate of its own, believes any
    trusting["ssl_context"].verify_mode = ssl.CERT_NONE
    nannies = [nanny.address for nanny in cluster.workers.values()]
    for address in (cluster.scheduler_address, *cluster.scheduler_info["workers"], *nannies):
        assert "id" in await asked(address, **cluster.security.get_connection_args("client"))
        with pytest.raises(OSError, match=r"reset|closed"):
            await asked(address.replace("tls:", "tcp:"), timeout=5)
        with pytest.raises(OSError, match=r"unknown ca|decrypt error|closed"):
            await asked(address, **trusting)


def test_an_address_without_a_scheduler_is_a_sentence(monkeypatch):
    monkeypatch.setattr(engine, "_SECONDS_TO_CONNECT", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense", "ftp://x"):
        with pytest.raises(InputError, match=f"no Dask scheduler at “{address}”"), connected(address):
            pass
    with pytest.raises(InputError, match="The number of workers is that of the scheduler"), connected("tcp://x:1", 3):
        pass


def test_without_dask_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"Dask is not installed\. Run “pip install .*cluster"), connected("local"):
        pass
