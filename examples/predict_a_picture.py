"""Classify a picture, and see which of its regions the model looked at."""

import sys

from bag_generators import generate, load
from bag_generators.tissue.samples import SAMPLES_FOLDER
from elimipl import Predictor

picture = load(sys.argv[1] if len(sys.argv) > 1 else SAMPLES_FOLDER / "restained-overview.png")
predictor = Predictor.load("colon-deep-elimipl")
bag = generate("deep", picture, **predictor.card.generator_params)
prediction = predictor.predict(bag)
print(f"{prediction.label} with probability {prediction.probability:.2f}")
print("instance with the most attention:", prediction.attention.argmax(), "of", len(bag))
print("attention as a map of the picture:", bag.regions.paint(prediction.attention).shape)
