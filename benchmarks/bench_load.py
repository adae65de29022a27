"""Does the app hold many visitors at once? 1, 8 and 32 of them, and 8 with one more who trains.

Each visitor is a real WebSocket session: it opens the Explore page, uploads a tile that nobody else has, switches
through the generators and downloads its JSON export after every switch. The export must name the sha256 of the
visitor's own tile and the generator chosen last: nobody may ever see the picture or result of another. Between two
actions a visitor thinks for a while. The one who trains runs the Train page at full speed beside eight others.

    python benchmarks/bench_load.py
"""

import asyncio
import hashlib
import json
import os
import random
import re
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import psutil

from bag_generators import GENERATORS
from bag_generators.tissue import phantom
from benchmarks.measuring import write
from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor

VISITORS, ROUNDS = (1, 8, 32), 4
THINKING = (2.0, 8.0)  # seconds between two actions, evenly spread
BESIDE_TRAINING, PAIRS = 8, 2
MOST_RISE = 2.0
TRAINING = {"train_epochs": 1000.0, "train_hidden": 512.0}
ACTIONS = ("open", "upload", "switch generator", "export")


@dataclass
class Observed:
    """What a crowd of visitors experienced: seconds by action, and everything that went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    errors: list[str] = field(default_factory=list)
    foreign: int = 0
    """Exports that were about somebody else's picture or another generator than the one chosen."""

    async def timed(self, action: str, work: Awaitable[object]) -> object:
        """Wait for `work` and note how long it took."""
        start = time.perf_counter()
        outcome = await work
        self.seconds[action].append(time.perf_counter() - start)
        return outcome

    def summary(self) -> dict[str, object]:
        """Plain values for the results file; milliseconds."""
        actions = {
            action: {"n": len(times), "p50_ms": _percentile(times, 50), "p95_ms": _percentile(times, 95)}
            for action, times in self.seconds.items()
            if times
        }
        everything = [value for action in ACTIONS[1:] for value in self.seconds[action]]
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
            await seen.timed("open", visitor.run())
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


def measure() -> dict[str, object]:
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
        for count in VISITORS:
            keep(f"{count} exploring", count, asyncio.run(crowd(address, tiles(count), ROUNDS)))
        alone, beside, epochs = Observed(), Observed(), 0
        for _ in range(PAIRS):  # in turns, for the machine may be busier at one time than at another
            asyncio.run(crowd(address, tiles(BESIDE_TRAINING), ROUNDS, seen=alone))
            epochs += asyncio.run(beside_training(address, tiles(BESIDE_TRAINING), beside))
        keep(f"{BESIDE_TRAINING} exploring, nobody training", BESIDE_TRAINING, alone)
        keep(f"{BESIDE_TRAINING} exploring, one more training", BESIDE_TRAINING + 1, beside, epochs_trained=epochs)
    rise = float(beside.summary()["p95_ms"]) / float(alone.summary()["p95_ms"])
    return {"crowds": crowds, "p95_rise_by_training": round(rise, 2), "allowed_rise": MOST_RISE, "errors": failed}


def main() -> None:
    before, start = os.getloadavg()[0], time.perf_counter()
    results = measure()
    results |= {"thinking_seconds": THINKING, "rounds": ROUNDS, "cores": os.cpu_count()}
    results |= {"load_average_before": round(before, 2), "seconds": round(time.perf_counter() - start)}
    write("load", results)
    held = not results["errors"] and not any(row["foreign_results"] for row in results["crowds"])
    sys.exit(0 if held and results["p95_rise_by_training"] <= MOST_RISE else 1)


if __name__ == "__main__":
    main()
