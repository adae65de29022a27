"""Make the bag sets in assets/bags: `python scripts/make_bag_sets.py --tiles FOLDER`. The same bytes every time.

FOLDER holds tiles of NCT-CRC-HE in `train/<CLASS>/` and `SOURCES.csv` (file, dataset, tile, licence), which says
what each file is called in the published data set. Only features are kept, never pixels. Without --tiles the
phantom sets alone are made and the tissue sets stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bag_generators import GENERATORS, TissueImage, generate, load
from bag_generators.base.validation import plain
from bag_generators.tissue.quality import measure
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import (
    BAGS_FOLDER,
    QUALITIES_FILE,
    BagSet,
    bag_sets,
    build_phantoms,
    phantom_names,
    phantom_quality,
)
from elimipl.datasets.tiles import find_tiles

# Label-preserving copies that keep rows rows: tissue has no up and no left.
COPIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "": lambda pixels: pixels,
    " mirrored": lambda pixels: pixels[:, ::-1],
    " upside down": lambda pixels: pixels[::-1],
    " turned by 180°": lambda pixels: pixels[::-1, ::-1],
}
PARAMS: Mapping[str, dict[str, int]] = {"deep": {"cell": 56}}
"""Larger cells than the models that ship read, so that a set stays below 3 MB."""
PER_CLASS = 30  # phantoms
SOURCE = (
    "Features of tiles of CRC-VAL-HE-7K and NCT-CRC-HE-100K (Kather, Halama and Marx 2018, Zenodo record 1214456), "
    "computed by this project"
)
LICENCE = "CC BY 4.0"


def tile_bags(folder: Path, generator: str) -> BagDataset:
    """Bags of all tiles and their copies; the candidate sets are those of three simulated annotators."""
    published = published_names(folder)
    paths, labels, _ = find_tiles(folder / "train", TISSUE7)
    copies = copies_of(generator)
    bags, names = [], []
    for path in paths:
        image = load(path)
        for copy, change in copies.items():
            changed = TissueImage.from_array(np.ascontiguousarray(change(image.pixels)))
            bags.append(generate(generator, changed, **PARAMS.get(generator, {})))
            names.append(published[path.name] + copy)
    labels_of_bags = np.repeat(labels, len(copies))
    bare = BagDataset.from_bags(
        [bag.features for bag in bags],
        TISSUE7,
        labels_of_bags,
        generator=generator,
        params=dict(bags[0].params),
        groups=np.repeat(np.arange(len(paths)), len(copies)),
        names=tuple(names),
        source=SOURCE,
        licence=LICENCE,
    )
    return Candidates("crowd", seed=0).given_to(bare)


def copies_of(generator: str) -> Mapping[str, Callable[[np.ndarray], np.ndarray]]:
    """The copies of every tile in the set of a generator."""
    return dict(list(COPIES.items())[:2]) if generator == "deep" else COPIES


def published_names(folder: Path) -> dict[str, str]:
    """What each file of the folder is called in the published data set; only tiles under the licence named here."""
    with (folder / "SOURCES.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("licence") == LICENCE]
    return {Path(row["file"]).name: f"{row['dataset'].partition(',')[0]}/{row['tile']}" for row in rows}


def write(folder: Path, name: str, title: str, dataset: BagDataset, copies: int, pictures: tuple[str, ...]) -> BagSet:
    """Write one set with 16-bit features and return its entry in bags.json."""
    path = folder / f"{name}.safetensors"
    dataset.save(path, half=True)
    names = dataset.label_space.names
    counts = {label: len(np.unique(dataset.groups[dataset.labels == i])) for i, label in enumerate(names)}
    return BagSet(
        id=name,
        file=path.name,
        title=title,
        generator=dataset.generator,
        bags=len(dataset),
        copies=copies,
        counts=counts,
        pictures=pictures,
        source=dataset.source,
        licence=dataset.licence,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def make(folder: Path, tiles: Path | None) -> None:
    """Write the sets and bags.json into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = dict(bag_sets(folder)) if (folder / "bags.json").exists() else {}
    for generator in GENERATORS:
        name = f"phantoms-{generator}"
        phantoms = build_phantoms(generator, per_class=PER_CLASS, **PARAMS.get(generator, {}))
        entries[name] = write(folder, name, "Phantoms", phantoms, 1, ())
        if tiles is not None:
            name, bags, copies = f"tissue7-{generator}", tile_bags(tiles, generator), len(copies_of(generator))
            entries[name] = write(folder, name, "Tissue tiles", bags, copies, bags.names[::copies])
    text = json.dumps([plain(entries[name]) for name in sorted(entries)], indent=1, ensure_ascii=False)
    (folder / "bags.json").write_text(text + "\n", encoding="utf-8")


def write_qualities(folder: Path, tiles: Path | None) -> None:
    """Write the pixel measures of all source pictures, from which limits of the scope checks are derived."""
    path = folder / QUALITIES_FILE
    kept = json.loads(path.read_text(encoding="utf-8"))["pictures"] if path.exists() else {}
    measured = {name: phantom_quality(name) for name in phantom_names(PER_CLASS, 0)}
    if tiles is not None:
        published = published_names(tiles)
        for tile in find_tiles(tiles / "train", TISSUE7)[0]:
            measured[published[tile.name]] = measure(load(tile)).numbers()
    kept |= {name: [float(f"{value:.5g}") for value in values.values()] for name, values in measured.items()}
    measures = json.dumps(list(next(iter(measured.values()))))
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    path.write_text(f'{{\n "measures": {measures},\n "pictures": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the bag sets.")
    parser.add_argument("folder", nargs="?", type=Path, default=BAGS_FOLDER)
    parser.add_argument("--tiles", type=Path, help="folder with train/<CLASS>/ and SOURCES.csv")
    arguments = parser.parse_args()
    make(arguments.folder, arguments.tiles)
    write_qualities(arguments.folder, arguments.tiles)
