"""How well the scale is estimated from nuclei: `python scripts/measure_scale.py [--data FOLDER]` prints JSON.

tissue7 (0.5 µm per pixel) and kather8 (0.495) are shrunk and enlarged, so that the truth is known; measured on what is
held back from tuning: the held-back tiles and NCT-CRC-HE-100K of tissue7, slides 03 and 08 of kather8. Of lesion5,
ebhi6 and LC25000 nobody knows the scale: only the spread of the estimates is told.
`--fit` computes the constants of `bag_generators.tissue.nuclei` from the other tiles of tissue7/train and kather8.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from tqdm import tqdm

from bag_generators import TissueImage
from bag_generators.scale import decide_scale
from bag_generators.tissue.nuclei import Nuclei, estimate_scale, measure_nuclei
from scripts.colon.sources import DATA, Picture, pictures

KNOWN = {"tissue7": 0.5, "kather8": 0.495}
WITHOUT_TISSUE = {"ADI", "BACK", "ADIPOSE", "EMPTY"}
"""Fat and glass have no nuclei."""
FACTORS = 0.4, 2.5
COVERED = 0.9
SEED = 0


def resized(picture: Picture, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """A picture shrunk or enlarged, and its true scale."""
    whole = picture.pixels()
    side = whole.shape[0]
    size = round(side * math.exp(rng.uniform(*np.log(FACTORS))))
    way = cv2.INTER_AREA if size < side else cv2.INTER_CUBIC
    return cv2.resize(whole, (size, size), interpolation=way), KNOWN[picture.source] * side / size


def chosen(source: str, data: Path, tuning: bool) -> list[Picture]:
    """Pictures with tissue, for tuning or held back from it."""
    shown = [one for one in pictures(source, data) if one.label not in WITHOUT_TISSUE]
    return [one for one in shown if (not one.held_back and "nct100k" not in one.path.parts) == tuning]


def fit(data: Path) -> dict[str, Any]:
    """The constants: the centre by least squares, weighted so that both sources count alike; then the width."""
    rng = np.random.default_rng(SEED)
    seen: list[tuple[Nuclei, float, str]] = []
    for source in KNOWN:
        repeats = 3 if source == "tissue7" else 1
        cases = chosen(source, data, True)
        rng.random(len(cases))  # as when the constants were computed
        for picture in tqdm([one for one in cases for _ in range(repeats)], source):
            pixels, truth = resized(picture, rng)
            if (nuclei := measure_nuclei(pixels)) is not None:
                seen.append((nuclei, math.log(truth), source))
    sources = np.array([source for _, _, source in seen])
    weight = np.array([1 / (sources == source).sum() for source in sources])
    wanted = np.array([truth + nuclei.log_size for nuclei, truth, _ in seen])
    signs = np.array([nuclei.signs for nuclei, _, _ in seen])
    centre = robust_fit(signs, wanted, weight)
    error = np.abs(wanted - signs @ centre)
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


def robust_fit(signs: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The same, each picture counting less the further off it is: debris and mucus have no nuclei to go by."""
    counts = weight
    for _ in range(20):
        found = weighted_fit(signs, wanted, counts)
        counts = weight / (1 + np.square((wanted - signs @ found) / 0.2))
    return found


def errors(source: str, data: Path) -> dict[str, Any]:
    """Of pictures of known scale, each shrunk or enlarged."""
    rng = np.random.default_rng(SEED)
    found = []
    cases = chosen(source, data, False)
    rng.random(len(cases))  # as when the published numbers were measured
    for picture in tqdm(cases, source):
        pixels, truth = resized(picture, rng)
        if (estimate := estimate_scale(pixels)) is not None:
            found.append([truth, *estimate[:3]])
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


def spread(files: list[np.ndarray], name: str) -> dict[str, Any]:
    """Of pictures as they are: quantiles of the estimates, and what is decided."""
    estimates, origins, doubted = [], [], 0
    for pixels in tqdm(files, name):
        decision = decide_scale(TissueImage.from_array(pixels))
        origins.append(decision.origin)
        doubted += decision.doubted
        if decision.estimate is not None:
            estimates.append(decision.estimate.microns_per_pixel)
    return {
        "n": len(files),
        "estimated": len(estimates),
        "quantiles_10_50_90": [round(float(one), 3) for one in np.quantile(estimates, [0.1, 0.5, 0.9])],
        "read_at_the_estimate": origins.count("estimated"),
        "doubted": doubted,
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
            **{source: spread(some(source, args.data), source) for source in (*KNOWN, "lesion5", "ebhi6")},
            "lc25000": spread([np.asarray(cv2.imread(str(one))[..., ::-1]) for one in lc25000], "lc25000"),
        },
    }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
