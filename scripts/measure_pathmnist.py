"""PathMNIST (nine classes, 28 px) by the encoder's own head, which learned from candidate sets only; prints JSON.

    python scripts/measure_pathmnist.py FILE.npz

Reads `test_images`/`test_labels` or `images`/`labels`; pictures marked in `test_in_tissue7` are left out. The encoder
has seen other tiles of the same patients (tissue7 holds tiles of CRC-VAL-HE-7K, of which the test part is made).
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import torch

from bag_generators.assets import assets
from bag_generators.generators.encoder import ENCODER, KEY, SEEN, Encoder, shipped_encoder
from bag_generators.storage import read_tensors

_AT_ONCE = 64


def logits(encoder: Encoder, head: tuple[torch.Tensor, torch.Tensor], tiles: np.ndarray) -> np.ndarray:
    """The nine classes for tiles (n, 28, 28, 3) uint8: (n, 9), means over the eight turns."""
    seen = np.stack([cv2.resize(tile, (SEEN, SEEN), interpolation=cv2.INTER_CUBIC) for tile in tiles])
    weight, bias = head
    total = torch.zeros(len(tiles), len(bias))
    with torch.inference_mode():
        for turn in range(8):
            turned = np.rot90(seen if turn < 4 else seen[:, :, ::-1], turn % 4, axes=(1, 2)).copy()
            pixels = torch.from_numpy(turned).to(encoder.device).permute(0, 3, 1, 2).float()
            maps = encoder.network.maps(pixels.to(memory_format=torch.channels_last))
            features = torch.cat([maps[stage].mean((2, 3)) for stage in (4, 6, 8)], 1)
            total += (features @ weight.T + bias).log_softmax(1).cpu() / 8
    return total.numpy()


def accuracy(encoder: Encoder, path: Path) -> tuple[float, int]:
    """Share of the test pictures that are named rightly, and how many they are."""
    with np.load(path) as npz:
        kind = "test_" if "test_images" in npz else ""
        images, labels = npz[f"{kind}images"], npz[f"{kind}labels"].ravel().astype(int)
        if "test_in_tissue7" in npz:
            kept = ~npz["test_in_tissue7"].astype(bool).ravel()
            images, labels = images[kept], labels[kept]
    arrays, _ = read_tensors(
        assets("encoder", f"{ENCODER}.safetensors"), KEY, ENCODER, ["pathmnist.weight", "pathmnist.bias"]
    )
    head = tuple(torch.from_numpy(array.astype(np.float32)).to(encoder.device) for array in arrays.values())
    found = np.concatenate([logits(encoder, head, images[i : i + _AT_ONCE]) for i in range(0, len(images), _AT_ONCE)])
    return float((found.argmax(1) == labels).mean()), len(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    share, n = accuracy(shipped_encoder(), parser.parse_args().file)
    print(json.dumps({"n": n, "accuracy": share}))


if __name__ == "__main__":
    main()
