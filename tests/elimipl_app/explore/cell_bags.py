"""Bags of many cells, as Deep makes them, and a model of twelve classes that reads them; neither needs an encoder."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import torch

from bag_generators import Bag, TissueImage
from bag_generators.generators.deep import FEATURE_NAMES, deep
from elimipl.answers.acceptance import KnownBags
from elimipl.answers.answer import judge
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import COLON
from elimipl.cards.card import SIGNS, Acceptance
from elimipl.cards.limits import Limits
from elimipl.config import Config
from elimipl.model.network import Network
from elimipl.model.scaling import Scaler
from elimipl_app.explore.analysis import Analysis, View

DIM = len(FEATURE_NAMES)


def cell_bag(side: int, seed: int = 0) -> tuple[TissueImage, Bag]:
    """A picture of noise and its cells of 14 px; those of the upper left quarter are of their own kind."""
    rng = np.random.default_rng(seed)
    image = TissueImage.from_array(rng.integers(100, 240, (side, side, 3), dtype=np.uint8)).at_scale(0.5, "a test")

    class NoEncoder:
        def cells(self, _pixels: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
            features = rng.normal(0, 0.3, (*grid, DIM)).astype(np.float32)
            features[: grid[0] // 2, : grid[1] // 2, : DIM // 2] += 1
            return features.reshape(-1, DIM)

    with patch("bag_generators.generators.deep.shipped_encoder", NoEncoder):
        features, regions = deep(image.pixels, (side, side))
    return image, Bag(features, regions, "deep", {}, FEATURE_NAMES, image.sha256)


def colon_model(chance: float | None = None, limit: float = 0.9) -> Predictor:
    """Twelve classes, weights by chance; with a `chance` every answer is right that often, by its card."""
    torch.manual_seed(0)
    config = Config(method="elimipl", hidden=16)
    card = replace(
        Predictor.load("tissue7-sbn-elimipl").card,
        id="colon-deep-elimipl", generator="deep", generator_params={}, label_space=COLON, dim=DIM, checks=Limits(),
        config=config.to_dict(), conformal=None, conformal_by_candidates=None, reliability=None, trust=None,
        calibration=None, sha256="0" * 64,
    )  # fmt: skip
    network = Network(config, DIM, len(COLON))
    with torch.no_grad():
        for weights in network.parameters():
            weights *= 4
    known = None
    if chance is not None:
        nothing = (0.0,) * len(SIGNS)
        odds = float(np.log(chance / (1 - chance)))
        rule = Acceptance(nothing, nothing, (1.0,) * len(SIGNS), odds, limit, 1, "nothing", {})
        card = replace(card, acceptance=rule)
        known = KnownBags(np.zeros((1, 16)), np.zeros((1, DIM)), np.ones((1, len(COLON)), dtype=bool))
    return Predictor(network, Scaler(np.zeros(DIM), np.ones(DIM), np.inf), card, known)


def cell_analysis(side: int = 224, **card: float) -> Analysis:
    """What Explore knows of such a picture."""
    image, bag = cell_bag(side)
    predictor = colon_model(**card)
    prediction = predictor.predict(bag)
    verdict = judge({}, predictor, bag, prediction)
    return Analysis(View(image), None, bag, predictor, prediction, np.ones(len(COLON), dtype=bool), verdict)
