"""CRC-MIPL rebuilt: 7,000 bags of colorectal tissue, 1,000 of each of seven classes, as in the paper's Table 1.

The tiles are those of NCT-CRC-HE-100K without fat and background: from a folder of class folders, or from the npz file
of PathMNIST (MedMNIST v2), which holds them at 28×28 pixels or more. Row and SBN shrink a picture to 8×8 cells before
anything else, so that enlarged small pictures give the bags of the full tiles (every feature correlates by .997 to
.999, on 90 tiles); KMeansSeg and SIFT read details that are gone there, and take full tiles only.

Which 1,000 tiles the authors drew is not known, nor what their three workers said of them: every bag's only candidate
is its label, and `elimipl.candidates.crowd` simulates the crowd.

**PathMNIST-MIPL** is MNIST-MIPL's recipe on real tissue, for anybody to rebuild: a bag is a drawer of 28×28 tiles, a
few of them of its class, the rest fat, background, muscle and stroma. Which they are is known, so that attention can be
scored on real tissue. Bags of the training part are of other patients than those of the test part.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bag_generators import Bag, InputError, TissueImage, generate, generate_many
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.datasets.benchmark_sets import MNIST_RECIPE, Recipe, mix_bags
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.tiles import find_tiles

PER_CLASS = 1000
_SIDE = 224  # of the full tiles
_OF_SMALL = ("row", "sbn")
_PATHMNIST = ("ADI", "BACK", "DEB", "LYM", "MUC", "MUS", "NORM", "STR", "TUM")  # its labels 0 to 8
PATHMNIST = LabelSpace.of(
    ("TUM", "NORM", "MUC", "LYM", "DEB"),
    id="pathmnist5",
    descriptions=[TISSUE7.descriptions[TISSUE7.index(name)] for name in ("TUM", "NORM", "MUC", "LYM", "DEB")],
    source="PathMNIST (MedMNIST v2; Yang et al. 2023) of NCT-CRC-HE-100K and CRC-VAL-HE-7K",
)
"""The target classes of PathMNIST-MIPL."""
_NEEDED = "Give pathmnist.npz of MedMNIST, or a folder of NCT-CRC-HE-100K with a folder of tiles for each class."


def build_crc_mipl(
    source: str | Path,
    generator: str = "row",
    *,
    per_class: int = PER_CLASS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **params: Any,
) -> BagDataset:
    """CRC-MIPL bags of a generator, from PathMNIST's npz (its training part) or from a folder of full tiles.

    `seed` draws `per_class` tiles of each class, the same ones for every generator. `progress` is called with the
    number of tiles done and of all.
    """
    source = Path(source)
    if per_class < 1:
        raise InputError(f"{per_class} tiles per class make no bags.", "Ask for at least 1.")
    if source.is_dir():
        there = {path.name for path in source.iterdir() if path.is_dir() and not path.name.startswith(".")}
        if not set(TISSUE7.names) <= there <= set(_PATHMNIST):
            raise InputError(f"The class folders of “{source}” are not those of NCT-CRC-HE-100K.", _NEEDED)
        paths, codes, _ = find_tiles(source, LabelSpace.of(_PATHMNIST, id="nct9"))
        labels = _as_tissue(np.array(codes))
        chosen = _drawn(labels, per_class, seed, str(source))
        names = [paths[i].relative_to(source).as_posix() for i in chosen]
        bags = _of_files([paths[i] for i in chosen], generator, progress, params)
        tissue = labels[chosen]
    else:
        if generator not in _OF_SMALL:
            raise InputError(
                f"The generator {generator!r} needs details that small pictures have lost.",
                f"Choose {' or '.join(_OF_SMALL)}, or give a folder of full tiles.",
            )
        pictures, read, places, _ = _part(source, "train")
        labels = _as_tissue(read)
        chosen = _drawn(labels, per_class, seed, str(source))
        tissue = labels[chosen]
        names = [f"{TISSUE7.names[label]}/{place}" for label, place in zip(tissue, places[chosen], strict=True)]
        bags = _of_pictures(pictures[chosen], generator, progress, params)
    made = list(bags)
    return _dataset(made, tissue, generator, names, f"{TISSUE7.source}; {per_class} per class, seed {seed}")


def build_crc_val(source: str | Path, generator: str = "row", **params: Any) -> BagDataset:
    """Bags of CRC-VAL-HE-7K, tiles of other patients than CRC-MIPL's: the test part of PathMNIST's npz.

    Tiles that the array `test_in_tissue7` marks, where there is one, are left out: other models here have seen them.
    """
    pictures, codes, places, arrays = _part(Path(source), "test")
    tissue = _as_tissue(codes)
    kept = (tissue >= 0) & ~arrays.get("test_in_tissue7", np.zeros(len(tissue), bool))
    made = list(_of_pictures(pictures[kept], generator, None, params))
    names = [f"{TISSUE7.names[label]}/{place}" for label, place in zip(tissue[kept], places[kept], strict=True)]
    return _dataset(made, tissue[kept], generator, names, "CRC-VAL-HE-7K by PathMNIST's test part")


def build_pathmnist(
    source: str | Path, part: str = "train", *, r: int = 1, seed: int = 0, recipe: Recipe = MNIST_RECIPE
) -> BagDataset:
    """PathMNIST-MIPL with r false positive labels, of the `train` or the `test` part of PathMNIST's npz."""
    pictures, codes, _, _ = _part(Path(source), part)
    targets = [_PATHMNIST.index(name) for name in PATHMNIST.names]
    about = {"generator": "pixels", "source": f"{PATHMNIST.source}, {part} part", "licence": "CC BY 4.0"}
    return mix_bags(
        (pictures / np.float32(255)).reshape(len(pictures), -1),
        codes,
        targets,
        ~np.isin(codes, targets),
        PATHMNIST,
        recipe,
        r=r,
        seed=seed,
        described={**about, "params": {"image": list(pictures.shape[1:])}},
    )


def _dataset(made: list[Bag], labels: np.ndarray, generator: str, names: list[str], source: str) -> BagDataset:
    return BagDataset.from_bags(
        [bag.features for bag in made],
        TISSUE7,
        labels=labels,
        generator=generator,
        params=dict(made[0].params),
        names=tuple(names),
        source=source,
        licence="CC BY 4.0",
    )


def _as_tissue(codes: np.ndarray) -> np.ndarray:
    """Labels of tissue7 for PathMNIST's codes; −1 for fat and background."""
    known = [TISSUE7.names.index(name) if name in TISSUE7.names else -1 for name in _PATHMNIST]
    return np.array(known)[codes]


def _drawn(labels: np.ndarray, per_class: int, seed: int, called: str) -> np.ndarray:
    """Places of `per_class` tiles of each class, class by class."""
    rng = np.random.default_rng(seed)
    chosen = []
    for label, name in enumerate(TISSUE7.names):
        members = np.flatnonzero(labels == label)
        if len(members) < per_class:
            raise InputError(
                f"“{called}” has {len(members)} tiles of {name}, not {per_class}.", "Ask for fewer, or get all tiles."
            )
        chosen.append(np.sort(rng.choice(members, per_class, replace=False)))
    return np.concatenate(chosen)


def _part(path: Path, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Pictures, PathMNIST's codes and places of a part of the npz, and its other arrays of that part."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name.startswith(f"{part}_")}
        pictures, codes = arrays[f"{part}_images"], np.asarray(arrays[f"{part}_labels"]).reshape(-1)
    except FileNotFoundError:
        raise InputError(f"There is no file “{path}”.", _NEEDED) from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise InputError(f"“{path}” is not PathMNIST.", _NEEDED) from None
    square = pictures.ndim == 4 and pictures.shape[1] == pictures.shape[2] and pictures.shape[3] == 3
    if not square or pictures.dtype != np.uint8 or len(codes) != len(pictures) or not np.isin(codes, range(9)).all():
        raise InputError(f"The pictures and labels of “{path}” are not those of PathMNIST.", _NEEDED)
    return pictures, codes, np.asarray(arrays.get(f"{part}_index", np.arange(len(codes)))), arrays


def _of_pictures(
    pictures: np.ndarray, generator: str, progress: Callable[[int, int], None] | None, params: dict[str, Any]
) -> Iterator[Bag]:
    for done, picture in enumerate(pictures, 1):
        large = Image.fromarray(picture).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
        yield generate(generator, TissueImage.from_array(np.asarray(large)), **params)
        if progress is not None:
            progress(done, len(pictures))


def _of_files(
    paths: list[Path], generator: str, progress: Callable[[int, int], None] | None, params: dict[str, Any]
) -> Iterator[Bag]:
    for path, result in generate_many(generator, paths, None, progress, **params):
        if isinstance(result, InputError):
            raise InputError(f"The tile “{path}” can't be used: {result.what}", "Remove it or get it again.")
        yield result
