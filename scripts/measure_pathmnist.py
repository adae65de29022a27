"""PathMNIST (nine classes, 28 px) by the encoder's own head, which learned from candidate sets only; prints JSON.

    python scripts/measure_pathmnist.py FILE.npz

Reads `test_images`/`test_labels` or `images`/`labels`; pictures marked in `test_in_tissue7` are left out. The encoder
has seen other tiles of the same patients (tissue7 holds tiles of CRC-VAL-HE-7K, of which the test part is made).
"""

import argparse
import json
from pathlib import Path

import numpy as np

from bag_generators.generators.encoder import Encoder, shipped_encoder

_AT_ONCE = 64


def accuracy(encoder: Encoder, path: Path) -> tuple[float, int]:
    """Share of the test pictures that are named rightly, and how many they are."""
    with np.load(path) as npz:
        kind = "test_" if "test_images" in npz else ""
        images, labels = npz[f"{kind}images"], npz[f"{kind}labels"].ravel().astype(int)
        if "test_in_tissue7" in npz:
            kept = ~npz["test_in_tissue7"].astype(bool).ravel()
            images, labels = images[kept], labels[kept]
    found = np.concatenate([encoder.of_tiles(images[i : i + _AT_ONCE]) for i in range(0, len(images), _AT_ONCE)])
    return float((found.argmax(1) == labels).mean()), len(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    share, n = accuracy(shipped_encoder(), parser.parse_args().file)
    print(json.dumps({"n": n, "accuracy": share}))


if __name__ == "__main__":
    main()
