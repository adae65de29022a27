"""Train an extractor of your own along with the attention: any module that maps (N, d) instances to (N, d')."""

from torch import nn

from elimipl import Config, fit
from elimipl.datasets.benchmark_sets import build_digits

digits = build_digits(r=1)  # bags of 8×8 pictures
extractor = nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
config = Config.preset("default", hidden=32, epochs=40, batch=16, lr=0.05, scaling="global")
fitted = fit(digits, config, extractor=extractor)
print(f"accuracy on the training bags {fitted.predict(digits).accuracy(digits.labels):.2f}")
