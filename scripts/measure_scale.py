"""How well the scale is estimated from nuclei: `python scripts/measure_scale.py [--data FOLDER]` prints JSON.

tissue7 (0.5 µm per pixel) and kather8 (0.495) are shrunk and enlarged, so that the truth is known; measured on what is
held back from tuning: the held-back tiles and NCT-CRC-HE-100K of tissue7, slides 03 and 08 of kather8. Of lesion5,
ebhi6 and LC25000 nobody knows the scale: only the spread of the estimates is told.
`--fit` computes the constants of `bag_generators.tissue.nuclei` from the other tiles of tissue7/train and kather8.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from tqdm import tqdm

from bag_generators import TissueImage
from bag_generators.scale import decide_scale
from bag_generators.tissue.nuclei import estimate_scale, measure_nuclei
from scripts.colon.sources import DATA, Picture, pictures

KNOWN = {"tissue7": 0.5, "kather8": 0.495}
WITHOUT_TISSUE = {"ADI", "BACK", "ADIPOSE", "EMPTY"}
"""Fat and glass have no nuclei."""
FACTORS = 0.4, 2.5
COVERED = 0.9
SEED = 0


def chosen(source: str, data: Path, tuning: bool) -> list[Picture]:
    """Pictures with tissue, for tuning or held back from it."""
    shown = [one for one in pictures(source, data) if one.label not in WITHOUT_TISSUE]
    return [one for one in shown if (not one.held_back and "nct100k" not in one.path.parts) == tuning]


def resized(source: str, data: Path, tuning: bool, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, float]]:
    """Pictures shrunk or enlarged, each with its true scale; those of tissue7 for tuning three times."""
    cases = chosen(source, data, tuning)
    rng.random(len(cases))  # as when constants and published numbers were computed
    for picture in tqdm([one for one in cases for _ in range(3 if tuning and source == "tissue7" else 1)], source):
        whole = picture.pixels()
        side = whole.shape[0]
        size = round(side * math.exp(rng.uniform(*np.log(FACTORS))))
        way = cv2.INTER_AREA if size < side else cv2.INTER_CUBIC
        yield cv2.resize(whole, (size, size), interpolation=way), KNOWN[source] * side / size


def fit(data: Path) -> dict[str, Any]:
    """The constants: the centre by least squares, weighted so that both sources count alike; then the width."""
    rng = np.random.default_rng(SEED)
    seen = [
        (nuclei, math.log(truth), source)
        for source in KNOWN
        for pixels, truth in resized(source, data, True, rng)
        if (nuclei := measure_nuclei(pixels)) is not None
    ]
    sources = np.array([source for _, _, source in seen])
    weight = np.array([1 / (sources == source).sum() for source in sources])
    wanted = np.array([truth + nuclei.log_size for nuclei, truth, _ in seen])
    signs = np.array([nuclei.signs for nuclei, _, _ in seen])
    counts = weight
    for _ in range(20):  # a picture counts less the further off it is: debris and mucus have no nuclei to go by
        centre = weighted_fit(signs, wanted, counts)
        error = np.abs(wanted - signs @ centre)
        counts = weight / (1 + np.square(error / 0.2))
    width = weighted_fit(signs, np.log(error + 0.03), weight)
    ratio = error / np.exp(signs @ width)
    order = np.argsort(ratio)
    held = np.interp(COVERED, np.cumsum(weight[order]) / weight.sum(), ratio[order])
    width[0] += math.log(held)
    return {"n": len(seen), "_CENTRE": centre.round(4).tolist(), "_WIDTH": width.round(4).tolist()}


def weighted_fit(signs: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Least squares with a little ridge."""
    sides = signs * weight[:, None]
    ridge = np.diag([0.0] + [1e-3 * weight.sum()] * (signs.shape[1] - 1))
    return np.asarray(np.linalg.solve(sides.T @ signs + ridge, sides.T @ wanted))


def errors(source: str, data: Path) -> dict[str, Any]:
    """Of pictures of known scale, each shrunk or enlarged."""
    cases = list(resized(source, data, False, np.random.default_rng(SEED)))
    found = [[true, *estimate[:3]] for pixels, true in cases if (estimate := estimate_scale(pixels)) is not None]
    truth, centre, low, high = np.array(found).T
    ratio = np.abs(np.log(centre / truth))
    return {
        "n": len(cases),
        "estimated": len(found),
        "median_ratio_error": round(math.expm1(np.median(ratio)), 3),
        "ratio_error_90": round(math.expm1(np.quantile(ratio, 0.9)), 3),
        "inside_interval": round(float(np.mean((low <= truth) & (truth <= high))), 3),
        "median_high_by_low": round(float(np.median(high / low)), 2),
    }


def spread(files: list[np.ndarray]) -> dict[str, Any]:
    """Of pictures as they are: quantiles of the estimates, and what is decided."""
    decisions = [decide_scale(TissueImage.from_array(pixels)) for pixels in tqdm(files)]
    estimates = [one.estimate.microns_per_pixel for one in decisions if one.estimate is not None]
    return {
        "n": len(files),
        "estimated": len(estimates),
        "quantiles_10_50_90": [round(float(one), 3) for one in np.quantile(estimates, [0.1, 0.5, 0.9])],
        "read_at_the_estimate": sum(one.origin == "estimated" for one in decisions),
        "doubted": sum(one.doubted for one in decisions),
    }


def some(source: str, data: Path) -> list[np.ndarray]:
    """Up to 250 held-back pictures of a source, evenly spread."""
    held = chosen(source, data, False)
    return [held[place].pixels() for place in np.linspace(0, len(held) - 1, min(250, len(held))).astype(int)]


def main() -> None:
    """Print JSON."""
    parser = argparse.ArgumentParser(description="Measure the estimate of scale.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--fit", action="store_true", help="compute the constants instead")
    args = parser.parse_args()
    if args.fit:
        print(json.dumps(fit(args.data), indent=2))
        return
    lc25000 = [one for one in sorted((args.data / "lc25000").glob("*/*")) if one.suffix in (".jpg", ".jpeg", ".png")]
    told = {
        "errors": {source: errors(source, args.data) for source in KNOWN},
        "spread": {
            **{source: spread(some(source, args.data)) for source in (*KNOWN, "lesion5", "ebhi6")},
            "lc25000": spread([np.asarray(cv2.imread(str(one))[..., ::-1]) for one in lc25000]),
        },
    }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
