"""Watch a training from within: every report holds the network, and asking it to stop stops it."""

from elimipl import Config, fit
from elimipl.datasets.benchmark_sets import build_digits

digits, found = build_digits(r=1), []


def watch(report):
    found.append(report.disambiguation_accuracy)
    print(f"{report.epoch:>3}  {found[-1]:.2f} found, norm of W_c {report.network.classifier.weight.norm():.2f}")


config = Config.preset("default", hidden=32, epochs=100, batch=16, lr=0.05, scaling="global")
fit(digits, config, on_epoch=watch, should_stop=lambda: len(found) >= 10)
