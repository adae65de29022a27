"""A class at a running server: forty phones at once, a server that is killed while they vote, nothing lost."""

import asyncio
from pathlib import Path

from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.database import VARIABLE
from tests.elimipl_app.classroom.a_class import TEACHER, opened
from tests.support.running_app import free_port, running_app
from tests.support.simulated_visitor import Visitor

STUDENTS, AGAIN = 40, 8


class Phone(Visitor):
    """A student who answers one picture after the other."""

    def __init__(self, address: str, link_key: str) -> None:
        super().__init__(address, "class")
        self._query = f"join={link_key}"

    async def answer(self, session: int, picture: int, top: int) -> None:
        """Look at the page, choose a label and send it."""
        async with self:
            await self.run(self._query)
            pills = f"class_top_{session}_{picture}"
            self._set(pills).string_array_value.data.append(self.elements[pills].options[top].content)
            self._set(f"class-send-{picture}").trigger_value = True
            await self.run(self._query)


async def answered(phones: list[Phone], session: int, picture: int) -> None:
    """All of them answer at once."""
    await asyncio.gather(*(phone.answer(session, picture, number % 7) for number, phone in enumerate(phones)))


async def test_forty_phones_vote_though_the_server_is_killed_in_between(tmp_path: Path):
    path, port = tmp_path / "classes.sqlite3", free_port()
    store, session, _ = opened(path, pictures=2)
    store.close()
    with running_app(port=port, environment={VARIABLE: str(path)}) as (address, server):
        phones = [Phone(address, session.link_key) for _ in range(STUDENTS)]
        await answered(phones, session.id, 1)
        server.kill()
    with running_app(port=port, environment={VARIABLE: str(path)}):
        await answered(phones[:AGAIN], session.id, 2)  # who comes back goes on with the second picture
    ballots = ClassStore(path).votes(session.id, TEACHER)
    tops = {picture: sorted(one.top for one in ballots if one.picture == picture) for picture in (1, 2)}
    assert tops == {1: sorted(n % 7 for n in range(STUDENTS)), 2: sorted(n % 7 for n in range(AGAIN))}
    assert len({ballot.student for ballot in ballots}) == STUDENTS
