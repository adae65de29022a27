"""How much noise on a tile flips the answer of a model, and do the checks notice? Written to benchmarks/results.

    python scripts/measure_noise.py [--model tissue7-deep-elimipl …] [--data FOLDER]

Each step adds more noise of either kind to tiles (the first of each class of tissue7/train): random, every value for
itself, and adversarial, found by the square attack (Andriushchenko et al. 2020), which needs answers only, no
gradients: a square of the picture is shifted by ± the amount, and kept when the probability of the first answer falls.
Only tiles that are in scope before count, so that a check of the scope that fails afterwards has noticed the noise.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bag_generators import TissueImage, generate, load
from bag_generators.tissue.quality import measure
from benchmarks.measuring import DATA, earlier, write
from elimipl.answers.answer import answer as answer_about
from elimipl.answers.predictor import Predictor

AMOUNTS = (1, 2, 4, 8, 16, 32)
TRIES = 40


@dataclass(frozen=True)
class Said:
    """What a model says of some pixels, and what the checks say of that."""

    index: int
    probabilities: np.ndarray
    in_scope: bool
    decided: bool
    """Whether exactly one label is possible."""


Answer = Callable[[np.ndarray], Said]


def answer_of(predictor: Predictor) -> Answer:
    """The model with its checks as a function of pixels."""

    def answer(pixels: np.ndarray) -> Said:
        image = TissueImage.from_array(pixels)
        bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
        prediction = predictor.predict(bag)
        said = answer_about(measure(image).numbers(), predictor, bag, prediction)
        decided = said.label_set == (prediction.label,)
        return Said(prediction.index, prediction.probabilities, said.verdict.in_scope is not False, decided)

    return answer


def random_noise(pixels: np.ndarray, amount: int, rng: np.random.Generator) -> np.ndarray:
    """Every value shifted by up to `amount`."""
    return _shifted(pixels, rng.integers(-amount, amount + 1, pixels.shape))


def square_attack(pixels: np.ndarray, amount: int, answer: Answer, rng: np.random.Generator) -> np.ndarray:
    """Pixels at most `amount` away for which the first answer is as improbable as a few tries make it."""
    said = answer(pixels)
    height, width, _ = pixels.shape
    shift = np.broadcast_to(rng.choice([-amount, amount], (1, width, 3)), pixels.shape).copy()  # stripes
    best, least = pixels, float(said.probabilities[said.index])
    for number in range(TRIES):
        side = max(2, round(min(height, width) * (0.5 if number < TRIES // 4 else 0.2)))
        y, x = rng.integers(0, height - side + 1), rng.integers(0, width - side + 1)
        tried = shift.copy()
        if number:
            tried[y : y + side, x : x + side] = rng.choice([-amount, amount], 3)
        changed = _shifted(pixels, tried)
        now = answer(changed)
        if now.probabilities[said.index] < least:
            best, least, shift = changed, float(now.probabilities[said.index]), tried
        if now.index != said.index:
            return changed
    return best


def _shifted(pixels: np.ndarray, by: np.ndarray) -> np.ndarray:
    return (pixels.astype(int) + by).clip(0, 255).astype(np.uint8)


def measured(answer: Answer, tiles: list[np.ndarray]) -> dict[str, dict[str, dict[str, int]]]:
    """For each kind and amount of noise: how many answers flipped, and how many of those which check noticed.

    `out_of_scope` of the flipped ones get no answer any more; `undecided` of the others no longer have a single
    possible label, and had one before.
    """
    found: dict[str, dict[str, dict[str, int]]] = {"random": {}, "adversarial": {}}
    for amount in AMOUNTS:
        for kind in found:
            found[kind][str(amount)] = {"tiles": len(tiles), "flipped": 0, "out_of_scope": 0, "undecided": 0}
        for number, tile in enumerate(tiles):
            rng = np.random.default_rng((0, amount, number))
            first = answer(tile)
            noisy = {"random": random_noise(tile, amount, rng), "adversarial": square_attack(tile, amount, answer, rng)}
            for kind, pixels in noisy.items():
                now, counts = answer(pixels), found[kind][str(amount)]
                flipped = now.index != first.index
                counts["flipped"] += flipped
                counts["out_of_scope"] += flipped and not now.in_scope
                counts["undecided"] += flipped and now.in_scope and first.decided and not now.decided
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["tissue7-deep-elimipl"])
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    folders = sorted((arguments.data / "tissue7" / "train").iterdir())
    tiles = [np.array(load(min(folder.iterdir())).pixels) for folder in folders if folder.is_dir()]
    for model in arguments.model:
        answer = answer_of(Predictor.load(model))
        before = [(tile, said) for tile in tiles if (said := answer(tile)).in_scope][:7]
        about = {
            "tiles": "first of each class of tissue7/train",
            "tiles_in_scope": len(before),
            "decided_before": sum(said.decided for _, said in before),
        }
        write("noise", earlier("noise") | {model: about | measured(answer, [tile for tile, _ in before])})


if __name__ == "__main__":
    main()
