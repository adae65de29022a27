"""Does the app hold many visitors at once?

    python benchmarks/bench_load.py                    # all that follows, about an hour
    python benchmarks/bench_load.py votes uploads      # some of it; the other results stay
    python benchmarks/bench_load.py --small            # a tenth of everything, to see that it works; nothing is written

explore: 1, 8, 32 and 64 visitors, and 8 with one more who trains. Each is a real WebSocket session: it opens Explore,
uploads a tile that nobody else has, switches through the generators and downloads its JSON export after every
switch. The export must name the sha256 of the visitor's own tile and the generator chosen last: nobody may ever see the
picture or result of another. Between two actions a visitor thinks for a while.

votes: a hundred students of a class send twenty votes each within a minute, and all are kept.

uploads: ten visitors upload 40 million pixels each at the same moment, while another works on Explore.

gone: fifty visitors with 200 uploads leave, and the server gives their memory back though nobody comes after them.

endurance: 5,000 actions one after the other, and the memory stays what it was after the first thousand.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import psutil

from bag_generators import GENERATORS
from bag_generators.tissue import phantom
from benchmarks.measuring import earlier, write
from elimipl.candidates.labels import TISSUE7
from elimipl.classroom.pictures import drawn
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.database import VARIABLE
from tests.support.running_app import ROOT, running_app
from tests.support.simulated_visitor import Visitor

VISITORS, ROUNDS = (1, 8, 32, 64), 4
THINKING = (2.0, 8.0)  # seconds between two actions, evenly spread
BESIDE_TRAINING, PAIRS = 8, 2
MOST_RISE = 2.0
TRAINING = {"train_epochs": 1000.0, "train_hidden": 512.0}
OPEN = "open"


@dataclass
class Observed:
    """What a crowd of visitors experienced: seconds by action, and everything that went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    foreign: int = 0
    """Exports that were about somebody else's picture or another generator than the one chosen."""

    async def timed(self, action: str, work: Awaitable[object]) -> object:
        """Wait for `work` and note how long it took."""
        start = time.perf_counter()
        outcome = await work
        self.seconds.setdefault(action, []).append(time.perf_counter() - start)
        return outcome

    def summary(self) -> dict[str, object]:
        """Plain values for the results file; milliseconds."""
        actions = {
            action: {"n": len(times), "p50_ms": _percentile(times, 50), "p95_ms": _percentile(times, 95)}
            for action, times in self.seconds.items()
        }
        everything = [value for action, times in self.seconds.items() for value in times if action != OPEN]
        return {
            "actions": actions,
            "p95_ms": _percentile(everything, 95),
            "errors": len(self.errors),
            "foreign_results": self.foreign,
        }


def _percentile(times: Sequence[float], share: float) -> float:
    return round(1000 * float(np.percentile(times, share)), 1) if times else 0.0


def tile_png(seed: int) -> bytes:
    """A drawn tile as PNG bytes; another one for every seed."""
    pixels = phantom.draw(("TUM", "STR", "LYM", "NORM")[seed % 4], seed).pixels
    return cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1].tobytes()


async def visit(address: str, tile: bytes, rounds: int, thinking: tuple[float, float], seen: Observed) -> None:
    """One visitor from opening the page to the last export; whatever goes wrong is noted, not raised."""
    own = hashlib.sha256(tile).hexdigest()
    chance = random.Random(own)
    try:
        await asyncio.sleep(chance.uniform(0, thinking[1]))
        visitor = await asyncio.to_thread(Visitor, address)
        async with visitor:
            await seen.timed(OPEN, visitor.run())
            await asyncio.sleep(chance.uniform(*thinking))
            await seen.timed("upload", visitor.upload("upload", "tile.png", tile))
            for number in range(rounds):
                generator = list(GENERATORS.values())[number % len(GENERATORS)]
                await asyncio.sleep(chance.uniform(*thinking))
                await seen.timed("switch generator", visitor.choose("generator", generator.title))
                exported = json.loads(await seen.timed("export", visitor.download("download-json")))
                if exported["picture"]["sha256"] != own or exported["bag"]["generator"] != generator.name:
                    seen.foreign += 1
    except Exception as error:
        seen.errors.append(f"{type(error).__name__}: {error}")


async def crowd(
    address: str,
    tiles: Sequence[bytes],
    rounds: int,
    thinking: tuple[float, float] = THINKING,
    seen: Observed | None = None,
) -> Observed:
    """Everybody at once, each with a tile of its own; added to what others have `seen`."""
    seen = seen or Observed()
    await asyncio.gather(*(visit(address, tile, rounds, thinking, seen) for tile in tiles))
    return seen


async def beside_training(address: str, tiles: Sequence[bytes], seen: Observed) -> int:
    """The same with one more visitor who trains all the time; the epochs that were trained meanwhile."""
    async with Visitor(address, page="train") as trainer:
        await trainer.run()
        await trainer.switch("train_slow", False)
        for key, value in TRAINING.items():
            await trainer.set_number(key, value)
        await trainer.click("start")
        watching = asyncio.create_task(_watch(trainer))
        await crowd(address, tiles, ROUNDS, seen=seen)
        watching.cancel()
        try:
            await watching
        except asyncio.CancelledError:
            pass
        except Exception as error:
            seen.errors.append(f"training: {type(error).__name__}: {error}")
    epochs = [int(found[1]) for text in trainer.texts if (found := re.fullmatch(r"(\d+) / \d+", text))]
    return epochs[0] if epochs else 0


async def _watch(trainer: Visitor) -> None:
    """Ask for news as the page does, as often as it wants; train again when the training is over."""
    while True:
        if not trainer.fragments:
            await trainer.click("start")
        for fragment, interval in list(trainer.fragments.items()):
            await asyncio.sleep(interval)
            await trainer.run(fragment=fragment)


def family_mb(process: int) -> int:
    """Resident memory of a server and the processes it started."""
    parent, taken = psutil.Process(process), 0
    for one in (parent, *parent.children(recursive=True)):
        with suppress(psutil.Error):
            taken += one.memory_info().rss
    return round(taken / 2**20)


def explore(share: float) -> dict[str, object]:
    """All crowds one after the other against one server; tiles are never used twice."""
    fresh = iter(range(10_000))
    crowds: list[dict[str, object]] = []
    failed: list[str] = []

    def tiles(count: int) -> list[bytes]:
        return [tile_png(next(fresh)) for _ in range(count)]

    def keep(name: str, count: int, seen: Observed, **more: object) -> None:
        memory = {"memory_mb": round(psutil.Process(server.pid).memory_info().rss / 2**20)}
        crowds.append({"crowd": name, "visitors": count, **seen.summary(), **memory, **more})
        failed.extend(seen.errors)
        print(crowds[-1], flush=True)

    with running_app() as (address, server):
        asyncio.run(crowd(address, tiles(1), len(GENERATORS), (0.0, 0.1)))  # what is loaded once is loaded now
        for count in VISITORS if share == 1 else VISITORS[:2]:
            keep(f"{count} exploring", count, asyncio.run(crowd(address, tiles(count), ROUNDS)))
        alone, beside, epochs = Observed(), Observed(), 0
        for _ in range(PAIRS):  # in turns, for the machine may be busier at one time than at another
            asyncio.run(crowd(address, tiles(BESIDE_TRAINING), ROUNDS, seen=alone))
            epochs += asyncio.run(beside_training(address, tiles(BESIDE_TRAINING), beside))
        keep(f"{BESIDE_TRAINING} exploring, nobody training", BESIDE_TRAINING, alone)
        keep(f"{BESIDE_TRAINING} exploring, one more training", BESIDE_TRAINING + 1, beside, epochs_trained=epochs)
    rise = float(beside.summary()["p95_ms"]) / float(alone.summary()["p95_ms"])
    foreign = any(row["foreign_results"] for row in crowds)
    held = not failed and not foreign and rise <= MOST_RISE
    return {
        "crowds": crowds, "p95_rise_by_training": round(rise, 2), "allowed_rise": MOST_RISE, "errors": failed,
        "thinking_seconds": THINKING, "rounds": ROUNDS, "held": held,
    }  # fmt: skip


STUDENTS, VOTES, VOTING_SECONDS, MOST_VOTE_SECONDS = 100, 20, 60.0, 3.0
JOINING_SECONDS = 15.0


class Student(Visitor):
    """A student who answers one picture after the other."""

    def __init__(self, address: str, link_key: str) -> None:
        super().__init__(address, "class")
        self._query = f"join={link_key}"

    async def look(self) -> None:
        """Open the page of the class, or look at it again."""
        await self.run(self._query)

    async def vote(self, session: int, picture: int, top: int) -> None:
        """Choose a label and send it."""
        pills = f"class_top_{session}_{picture}"
        self._set(pills).string_array_value.data.append(self.elements[pills].options[top].content)
        self._set(f"class-send-{picture}").trigger_value = True
        await self.look()


def votes(share: float) -> dict[str, object]:
    """A class that votes as fast as anybody can look."""
    students, seen = round(STUDENTS * share), Observed()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.sqlite3"
        store = ClassStore(path)
        pictures = [drawn(TISSUE7.names[number % 7], number) for number in range(VOTES)]
        store.open_session("teacher", TISSUE7, pictures, "here")
        session = store.session_of("teacher")
        assert session is not None

        async def study(number: int) -> None:
            await asyncio.sleep(JOINING_SECONDS * number / students)
            async with await asyncio.to_thread(Student, address, session.link_key) as student:
                await seen.timed(OPEN, student.look())
                begin = started + JOINING_SECONDS + VOTING_SECONDS / VOTES * number / students
                for picture in range(1, VOTES + 1):
                    due = begin + (picture - 1) * VOTING_SECONDS / VOTES
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                    await seen.timed("vote", student.vote(session.id, picture, (number + picture) % 7))

        async def noted(number: int) -> None:
            try:
                await study(number)
            except Exception as error:
                seen.errors.append(f"{type(error).__name__}: {error}")

        async def all_of_them() -> None:
            await asyncio.gather(*map(noted, range(students)))

        async def first() -> None:  # what is loaded once is loaded when the teacher opens the class
            async with Visitor(address, "class") as teacher:
                await teacher.run()

        with running_app(environment={VARIABLE: str(path)}) as (address, _):
            asyncio.run(first())
            started = time.perf_counter()
            asyncio.run(all_of_them())
            took = time.perf_counter() - started - JOINING_SECONDS
        kept = store.votes(session.id, "teacher")
        tops = sorted(ballot.top for ballot in kept)
        sent = sorted((number + picture) % 7 for number in range(students) for picture in range(1, VOTES + 1))
        store.close()
    summary = seen.summary()
    held = tops == sent and not seen.errors and float(str(summary["p95_ms"])) <= 1000 * MOST_VOTE_SECONDS
    return {"students": students, "votes_sent": len(sent), "votes_kept": len(kept), "seconds": round(took, 1),
            **summary, "allowed_p95_ms": 1000 * MOST_VOTE_SECONDS, "held": held}  # fmt: skip


LARGE_UPLOADS, LARGE_SIDE, MOST_BESIDE_UPLOADS = 10, 6320, 2.0


def large_jpeg(side: int, number: int) -> bytes:
    """Tissue without end, another one for every number."""
    tile = phantom.draw("TUM", number).pixels
    times = side // len(tile) + 1
    pixels = np.tile(tile, (times, times, 1))[:side, :side]
    return cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1].tobytes()


def uploads(share: float) -> dict[str, object]:
    """Ten of the largest pictures at the same moment, and one more visitor who works on."""
    seen, large = Observed(), Observed()
    files = [large_jpeg(LARGE_SIDE, number) for number in range(max(2, round(LARGE_UPLOADS * share)))]
    memory: list[int] = []

    async def bring(data: bytes) -> None:
        try:
            async with await asyncio.to_thread(Visitor, address) as visitor:
                await visitor.run()
                await large.timed("upload", visitor.upload("upload", "large.jpg", data))
        except Exception as error:
            large.errors.append(f"{type(error).__name__}: {error}")

    async def all_of_them() -> None:
        async with await asyncio.to_thread(Visitor, address) as other:
            await other.run()
            await other.upload("upload", "tile.png", tile_png(1))
            bringing = asyncio.gather(*map(bring, files))
            number = 0
            while not bringing.done():
                generator = list(GENERATORS.values())[number % len(GENERATORS)]
                await seen.timed("switch generator", other.choose("generator", generator.title))
                await asyncio.sleep(0.5)
                memory.append(family_mb(server.pid))
                number += 1

    with running_app() as (address, server):
        asyncio.run(crowd(address, [tile_png(0)], len(GENERATORS), (0.0, 0.1)))
        memory.append(family_mb(server.pid))
        asyncio.run(all_of_them())
    summary = seen.summary()
    held = not large.errors and float(str(summary["p95_ms"])) <= 1000 * MOST_BESIDE_UPLOADS
    return {"uploads": len(files), "upload_seconds": _percentile(large.seconds.get("upload", []), 95) / 1000, **summary,
            "allowed_p95_ms": 1000 * MOST_BESIDE_UPLOADS, "memory_mb_before": memory[0], "memory_mb_most": max(memory),
            "errors": len(large.errors), "held": held}  # fmt: skip


GONE_VISITORS, UPLOADS_OF_EACH, GONE_SIDE, MOST_MB_LEFT = 50, 4, 1500, 50
_SHORT = f"""
import streamlit as st
from elimipl_app.server import app as server, upload_limit, visitor
upload_limit.LEFT_SECONDS, upload_limit.SWEEP_SECONDS, visitor.KEPT_SECONDS = 2.0, 1.0, 4.0
app = st.App({str(ROOT / "app.py")!r}, lifespan=server.starting, middleware=server.MIDDLEWARE)
"""


@contextmanager
def forgetful_app() -> Iterator[tuple[str, Callable[[], int]]]:
    """The app that waits seconds, not minutes, for those who left; and what it takes then, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "forgetful.py"
        script.write_text(_SHORT, encoding="utf-8")
        with running_app(script) as (address, server):

            def settled() -> int:
                time.sleep(15)
                return family_mb(server.pid)

            yield address, settled


def gone(share: float) -> dict[str, object]:
    """What visitors leave behind: nothing, also when nobody comes after them."""
    fresh, failed = iter(range(10_000)), list[str]()

    async def come_and_go() -> None:
        try:
            async with await asyncio.to_thread(Visitor, address) as visitor:
                await visitor.run()
                await visitor.choose("generator", "Row")  # what reading a large picture costs is not asked here
                for _ in range(UPLOADS_OF_EACH):
                    await visitor.upload("upload", "a.jpg", large_jpeg(GONE_SIDE, next(fresh)))
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")

    async def wave(count: int) -> None:
        for _ in range(0, count, 5):
            await asyncio.gather(*(come_and_go() for _ in range(5)))

    with forgetful_app() as (address, settled):
        asyncio.run(wave(max(20, round(GONE_VISITORS * share))))  # caches are full then
        before = settled()
        asyncio.run(wave(round(GONE_VISITORS * share)))
        after = settled()
    return {"uploads": round(GONE_VISITORS * share) * UPLOADS_OF_EACH, "memory_mb_before": before,
            "memory_mb_after": after, "allowed_mb": MOST_MB_LEFT, "errors": len(failed),
            "held": not failed and after - before <= MOST_MB_LEFT}  # fmt: skip


ACTIONS_IN_A_ROW, PARTS = 5000, 10


def endurance(share: float) -> dict[str, object]:
    """Use without end by one visitor after the other, a hundred actions each."""
    seen, fresh, memory = Observed(), iter(range(100_000)), list[int]()
    each = round(ACTIONS_IN_A_ROW * share / PARTS)

    async def part() -> None:
        done = 0
        while done < each:
            async with await asyncio.to_thread(Visitor, address) as visitor:
                await seen.timed(OPEN, visitor.run())
                for number in range(min(100, each - done)):
                    done += 1
                    if number % 5 == 0:
                        await seen.timed("upload", visitor.upload("upload", "a.png", tile_png(next(fresh))))
                    elif number % 5 == 4:
                        await seen.timed("export", visitor.download("download-json"))
                    else:
                        generator = list(GENERATORS.values())[number % len(GENERATORS)]
                        await seen.timed("switch generator", visitor.choose("generator", generator.title))

    with forgetful_app() as (address, settled):
        for _ in range(PARTS):
            asyncio.run(part())
            memory.append(settled())
            print(memory, flush=True)
    return {"action_count": each * PARTS, **seen.summary(), "memory_mb": memory, "allowed_mb": MOST_MB_LEFT,
            "held": memory[-1] - memory[PARTS // 5 - 1] <= MOST_MB_LEFT}  # fmt: skip


SCENARIOS = {one.__name__: one for one in (explore, votes, uploads, gone, endurance)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Does the app hold many visitors at once?")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--small", action="store_true", help="a tenth of everything; nothing is written")
    asked = parser.parse_args()
    if unknown := set(asked.scenarios) - set(SCENARIOS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    report = earlier("load")
    found = {}
    for name in asked.scenarios or SCENARIOS:
        before, start = round(os.getloadavg()[0], 2), time.perf_counter()
        found[name] = SCENARIOS[name](0.1 if asked.small else 1.0)
        found[name] |= {"date": time.strftime("%Y-%m-%d"), "load_average_before": before, "cores": os.cpu_count(),
                        "all_seconds": round(time.perf_counter() - start)}  # fmt: skip
        print(name, json.dumps(found[name], indent=2), flush=True)
        if not asked.small:
            report = {**report, **found.pop(name)} if name == "explore" else {**report, name: found[name]}
            write("load", report)
    sys.exit(0 if all(one.get("held") for one in (report, *found.values())) else 1)


if __name__ == "__main__":
    main()
