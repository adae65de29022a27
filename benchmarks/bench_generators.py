"""How fast the generators are, against the libraries' own way in the same run: `python benchmarks/bench_generators.py`.

One thread, 224×224 tiles, ours and the reference taking turns on every tile, medians; Deep also on 1,000 px. Then
`generate_many` on two processes against one, and the memory that 7,000 bags take.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pywt
import sklearn
import torch
from PIL import Image
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from bag_generators import TissueImage, generate, generate_many, load
from bag_generators.generators.encoder import SEEN, STAGES, VIEWS, as_seen, shipped_encoder
from bag_generators.generators.kmeansseg import LITTLE_GAIN, TIGHT, to_ycbcr
from bag_generators.generators.sift import CELL, POINTS
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from benchmarks.measuring import DATA, ROOT, seconds_of, write

KEY_POINTS = [cv2.KeyPoint(x, y, 4 * CELL / 6, 0) for y in map(float, POINTS) for x in map(float, POINTS)]
SIFT = cv2.SIFT_create()
MEMORY_FILES = 7000


def blur_and_resize(image: TissueImage) -> None:
    """What Row and SBN can't do without, by OpenCV alone."""
    cv2.resize(cv2.GaussianBlur(image.pixels, (5, 5), 0), (8, 8), interpolation=cv2.INTER_AREA)


def opencv_sift(image: TissueImage) -> None:
    """OpenCV's descriptors at the same 25 key points."""
    SIFT.compute(cv2.cvtColor(image.pixels, cv2.COLOR_RGB2GRAY), KEY_POINTS)


def overlapping_patches(image: TissueImage) -> None:
    """The same network on 56 px patches every 28 px, each with its 168 px, all patches of a view at once."""
    encoder, most = shipped_encoder(), max(VIEWS) // 2
    padded = cv2.copyMakeBorder(image.pixels, most, most, most, most, cv2.BORDER_REFLECT_101)
    middles = [most + STEP // 2 + STEP * i for i in range(image.width // STEP)]
    with torch.inference_mode():
        for view in VIEWS:
            way, half = cv2.INTER_AREA if view > SEEN else cv2.INTER_CUBIC, view // 2
            crops = [padded[y - half : y + half, x - half : x + half] for y in middles for x in middles]
            seen = np.stack([cv2.resize(crop, (SEEN, SEEN), interpolation=way) for crop in crops])
            maps = encoder.network.maps(_as_input(seen))
            torch.cat([maps[stage].mean((2, 3)) for stage in STAGES], 1)


def bare_network(image: TissueImage) -> None:
    """The same network over the same pixels in one piece, and nothing read from its maps."""
    with torch.inference_mode():
        for view in VIEWS:
            shipped_encoder().network.maps(_as_input(as_seen(image.pixels, view)[0][None]))


def _as_input(pictures: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float()


def kmeansseg_by_libraries(image: TissueImage) -> None:
    """The same algorithm, the wavelets of all blocks at once by PyWavelets and the clusters by scikit-learn."""
    ycbcr = to_ycbcr(image.pixels)
    blocks = ycbcr.reshape(56, 4, 56, 4, 3).swapaxes(1, 2).reshape(-1, 4, 4, 3)
    _, bands = pywt.dwt2(blocks[..., 0], "db4", axes=(1, 2))
    texture = [np.sqrt(np.mean(np.square(band), axis=(1, 2))) for band in bands]
    points = np.column_stack([blocks.mean(axis=(1, 2)), *texture])
    before = np.inf
    for k in range(2, 17):
        distances = KMeans(k, n_init=1, random_state=0).fit(points).transform(points).min(axis=1)
        spread = (distances**4).sum()
        if spread < TIGHT or (k >= 3 and before - spread < LITTLE_GAIN):
            break
        before = spread


STEP = 28
"""Pixels from one overlapping patch to the next."""
# generator, the reference's name, the reference, at least so many times as fast
COMPARISONS: tuple[tuple[str, str, Callable[[TissueImage], None], float], ...] = (
    ("row", "GaussianBlur + resize alone", blur_and_resize, 0.5),
    ("sbn", "GaussianBlur + resize alone", blur_and_resize, 0.5),
    ("sift", "cv2.SIFT.compute", opencv_sift, 3.0),
    ("kmeansseg", "pywt on all blocks, sklearn KMeans", kmeansseg_by_libraries, 4.0),
    ("deep", "patches of 56 and 168 px, every 28 px", overlapping_patches, 8.0),
    ("deep", "the bare network, same pixels", bare_network, 1 / 1.3),
)
LARGE, LARGE_PICTURES = 1000, 3
MOST_SECONDS = {"deep": 0.06, f"deep, {LARGE:,} px": 1.5}
"""On one warm core."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiles", type=int, default=200, help="tiles per comparison (200)")
    parser.add_argument("--files", type=int, default=2000, help="files for generate_many (2000)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files, source = find_tiles(max(args.tiles, args.files), Path(scratch))
        images = [load(file) for file in files[: args.tiles]]
        with threadpool_limits(1):
            cv2.setNumThreads(1)
            torch.set_num_threads(1)
            rows = [compare(*comparison, images) for comparison in COMPARISONS]
            rows.append(compare(*COMPARISONS[-1], large_pictures(images), f"deep, {LARGE:,} px"))
            rows.append(compare_processes(list(islice(cycle(files), args.files))))
        peak = peak_memory(files)
    versions = {module.__name__: module.__version__ for module in (np, cv2, pywt, sklearn, torch)}
    report = {
        "tiles": f"{len(images)} tiles of 224×224 px, {source}",
        "comparisons": rows,
        "memory": {"files": MEMORY_FILES, "generator": "sift", "peak_mb": round(peak), "limit_mb": 1000},
        "versions": {"python": platform.python_version(), **versions},
    }
    write("generators", report)


def find_tiles(count: int, scratch: Path) -> tuple[list[Path], str]:
    """Up to `count` files of 224×224 tiles: real ones from ../shared/data, else drawn ones made in `scratch`."""
    real = sorted(DATA.glob("lesion5/train/*/*"))
    if real:
        return real[:: max(1, len(real) // count)][:count], "real colorectal tissue"
    for i, kind in zip(range(min(count, 200)), cycle(PHANTOM_KINDS), strict=False):
        Image.fromarray(draw(kind, seed=i).pixels).save(scratch / f"{i}.png")
    return sorted(scratch.iterdir()), "drawn phantoms (the real tiles are not on this machine)"


def compare(
    generator: str,
    reference_name: str,
    reference: Callable[[TissueImage], None],
    target: float,
    images: list[TissueImage],
    name: str = "",
) -> dict[str, Any]:
    """Median seconds of the generator and of its reference over the same pictures, in turns."""
    ours, theirs = [], []
    generate(generator, images[0])  # what is read or compiled once is not a tile's time
    reference(images[0])
    for image in tqdm(images, desc=generator, disable=None):
        ours.append(seconds_of(lambda: generate(generator, image)))  # noqa: B023 - called at once
        theirs.append(seconds_of(lambda: reference(image)))  # noqa: B023
    return _row(name or generator, reference_name, statistics.median(ours), statistics.median(theirs), target)


def large_pictures(images: list[TissueImage]) -> list[TissueImage]:
    """Pictures of 1,000 px, each many tiles side by side."""
    across = -(-LARGE // images[0].width)
    tiles = cycle(image.pixels for image in images)
    return [
        TissueImage.from_array(
            np.vstack([np.hstack(list(islice(tiles, across))) for _ in range(across)])[:LARGE, :LARGE]
        )
        for _ in range(LARGE_PICTURES)
    ]


def compare_processes(files: list[Path]) -> dict[str, Any]:
    """`generate_many` of KMeansSeg on two processes, start included, against one."""
    one, two = (
        seconds_of(lambda: sum(1 for _ in generate_many("kmeansseg", files, workers=n)))  # noqa: B023
        for n in (1, 2)
    )
    return _row(f"generate_many, 2 processes, {len(files)} tiles", "1 process", two, one, 1.7)


def peak_memory(files: list[Path]) -> float:
    """Megabytes of a fresh process that keeps the SIFT bags of 7,000 files, and of the larger of its two workers."""
    program = (
        "import resource, sys; from itertools import cycle, islice; from bag_generators import generate_many\n"
        f"files = islice(cycle(sys.argv[1:]), {MEMORY_FILES})\n"
        "bags = list(generate_many('sift', files, workers=2))\n"
        "print(sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))"
    )
    command = [sys.executable, "-c", program, *map(str, files[:1000])]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout) / 1024


def _row(name: str, reference: str, seconds: float, reference_seconds: float, target: float) -> dict[str, Any]:
    ratio = reference_seconds / seconds
    fast_enough = seconds <= MOST_SECONDS.get(name, np.inf)
    return {
        "name": name,
        "seconds": round(seconds, 6),
        "reference": reference,
        "reference_seconds": round(reference_seconds, 6),
        "times_as_fast": round(ratio, 2),
        "target": round(target, 2),
        "met": bool(ratio >= target and fast_enough),
    }


if __name__ == "__main__":
    main()
