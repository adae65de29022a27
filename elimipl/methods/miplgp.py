"""MIPLGP (Tang, Zhang and Zhang 2023): Gaussian processes on instances that inherit the candidates of their bag.

As in the authors' program, the concentrations α that are recomputed after every epoch move the parameters of the
prior only: in training, the mean of a process is the constant of its class. Predictions condition on the first α.
(Conditioning on α from the posterior means instead gives nearly all instances to the negative class within a few
rounds, since nothing asks for a positive instance in a bag.)

What differs from the paper, so that it runs on a CPU: the prior is fitted on a sample of instances, in 100 epochs
(there 500, on all instances) from a length scale of the median distance (there .69); and beyond `exact_up_to`
distinct instances the regression is on inducing points, the centres of k-means. More epochs are no better here:
the constants of the classes go on following the negative class (on one split of Birdsong-MIPL with r = 1 the
accuracy is .682 after 100 epochs and .628 after 300; the paper has .716±.026).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.methods.gp_kernel import Prior, backward, median_distance
from elimipl.methods.gp_posterior import Posterior, bytes_needed
from elimipl.methods.gp_targets import (
    augmented_candidates,
    disambiguated_concentrations,
    initial_concentrations,
    log_normal_targets,
)
from elimipl.methods.memory import usable_bytes
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.settings import Settings, choice, number
from elimipl.training.reports import EpochReport

_CLUSTERED = 20_000  # distinct instances that k-means looks at, at most
_INSTANCES_AT_ONCE = 64  # in a prediction: their draws stay in the processor's cache


@dataclass(frozen=True)
class MiplgpConfig(Settings):
    """Settings of MIPLGP."""

    epochs: int = number(100, 1, 1_000_000)
    """Adam steps on the parameters of the prior."""
    lr: float = number(0.1, 1e-9, 1e3)
    """Annealed along a half cosine."""
    kernel_instances: int = number(500, 2, 100_000)
    """Instances that the prior is fitted on; the time grows with their cube."""
    exact_up_to: int = number(2048, 0, 100_000)
    """Distinct instances up to which the regression is exact, memory permitting."""
    inducing: int = number(512, 1, 100_000)
    """Inducing points beyond that."""
    epsilon: float = number(1e-4, 1e-12, 1.0)
    """ε, the concentration of labels that are no candidates."""
    samples: int = number(512, 1, 1_000_000)
    """Draws of the processes that a prediction averages over."""
    scaling: str = choice("zscore", "none", "robust", "global")
    """Feature standardisation, fitted on the training bags only (see `elimipl.model.scaling`)."""

    @property
    def trainer(self) -> Callable[..., FittedMiplgp]:
        """`fit` of this module."""
        return fit

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        return 0.5 * self.lr * (1 + math.cos(math.pi * (epoch - 1) / self.epochs))


@dataclass(frozen=True, eq=False)
class FittedMiplgp:
    """Gaussian processes conditioned on training instances."""

    posterior: Posterior
    prior: Prior
    scaler: Scaler
    config: MiplgpConfig
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...]

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """The largest probability of each class over a bag's instances, made to sum to one.

        So the predicted class is that of the single largest probability in the bag.
        """
        if dataset.dim != len(self.scaler.shift):
            raise InputError(
                f"The method has learned from instances of {len(self.scaler.shift)} features, but these have "
                f"{dataset.dim}.",
                "Use bags made by the same generator.",
            )
        with one_thread():
            x = torch.from_numpy(self.scaler.transform(dataset.instances)).to(self.prior.means.device)
            means, variances = self.posterior.predict(x)
            of_instances = self._class_probabilities(means[:, :-1], variances[:, :-1]).cpu().numpy()
        largest = np.maximum.reduceat(of_instances, dataset.offsets[:-1], axis=0)
        return Predictions(largest / largest.sum(1, keepdims=True))

    def _class_probabilities(self, means: Tensor, variances: Tensor) -> Tensor:
        """E[exp f_c / Σ exp f_c'] over draws of f without the negative class, (n, k).

        All instances meet the same draws, so that a bag's prediction doesn't depend on its company.
        """
        generator = torch.Generator().manual_seed(self.config.seed)
        draws = torch.randn(self.config.samples, means.shape[1], generator=generator, dtype=torch.float64)
        draws = draws.to(means.device)
        parts = zip(means.split(_INSTANCES_AT_ONCE), variances.sqrt().split(_INSTANCES_AT_ONCE), strict=True)
        return torch.cat([torch.addcmul(mean[:, None], draws, std[:, None]).softmax(2).mean(1) for mean, std in parts])


def fit(
    dataset: BagDataset,
    config: MiplgpConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedMiplgp:
    """Fit the prior on a sample of instances, then condition on all of them.

    `on_epoch` hears of each epoch of the prior; `should_stop` is asked after each. `notes` tell whether the
    regression is exact, and why. On a CPU the same seed always gives the same result.
    """
    with one_thread(), threadpool_limits(1):
        on_device = resolve_device(device, "float64")
        sample = min(config.kernel_instances, len(dataset.instances))
        _check_memory(sample)
        scaler = fit_scaler(dataset.instances, config.scaling)
        instances = scaler.transform(dataset.instances)
        points, note = _inducing_points(instances, dataset.n_classes + 1, config)
        x = torch.from_numpy(instances).to(on_device)
        candidates = augmented_candidates(dataset).to(on_device)
        prior, history = _fit_prior(x, candidates, config, on_epoch, should_stop)
        targets, variances = log_normal_targets(initial_concentrations(candidates, config.epsilon))
        posterior = Posterior(prior, torch.from_numpy(points).to(on_device), x, targets, variances)
    fitted_on = f"The kernel was fitted on {sample:,} of {len(x):,} instances in {len(history)} epochs."
    return FittedMiplgp(posterior, prior, scaler, config, tuple(history), (note, fitted_on))


def _check_memory(sample: int) -> None:
    needed, free = 8 * 10 * sample**2, usable_bytes()
    if needed > free:
        raise InputError(
            f"Fitting the kernel on {sample:,} instances needs {needed / 1e9:.1f} GB of memory, but only "
            f"{free / 1e9:.1f} GB are free.",
            "Choose fewer instances (kernel_instances).",
        )


def _inducing_points(instances: np.ndarray, classes: int, config: MiplgpConfig) -> tuple[np.ndarray, str]:
    """Every distinct instance if that is within bounds, centres of k-means otherwise; and which of the two."""
    distinct = np.unique(instances, axis=0)
    count, free = len(distinct), usable_bytes()
    if count <= config.exact_up_to and bytes_needed(count, classes) <= free:
        return distinct, f"The Gaussian processes are exact, on {count:,} distinct instances."
    points = min(config.inducing, count)
    if bytes_needed(points, classes) > free:
        raise InputError(
            f"{points:,} inducing points for {classes} Gaussian processes need "
            f"{bytes_needed(points, classes) / 1e9:.1f} GB of memory, but only {free / 1e9:.1f} GB are free.",
            "Choose fewer inducing points (inducing).",
        )
    reason = f"more than {config.exact_up_to:,}" if count > config.exact_up_to else "too many for the free memory"
    rng = np.random.default_rng(config.seed)
    seen = distinct if count <= _CLUSTERED else distinct[np.sort(rng.choice(count, _CLUSTERED, replace=False))]
    clusters = MiniBatchKMeans(points, random_state=config.seed, n_init=1, batch_size=2048, max_iter=20).fit(seen)
    note = f"The Gaussian processes rest on {points:,} inducing points: {count:,} distinct instances are {reason}."
    return np.unique(clusters.cluster_centers_, axis=0), note


def _fit_prior(
    x: Tensor,
    candidates: Tensor,
    config: MiplgpConfig,
    on_epoch: Callable[[EpochReport], None] | None,
    should_stop: Callable[[], bool] | None,
) -> tuple[Prior, list[EpochReport]]:
    """Adam on the marginal likelihood of a sample whose targets follow the means of the classes."""
    draws = torch.Generator().manual_seed(config.seed)
    sample = torch.randperm(len(x), generator=draws)[: config.kernel_instances].to(x.device)
    x, candidates = x[sample], candidates[sample]
    prior = Prior(candidates.shape[1], median_distance(x)).to(x.device)
    optimizer = torch.optim.Adam(prior.parameters(), lr=config.lr)
    targets, variances = log_normal_targets(initial_concentrations(candidates, config.epsilon))
    history: list[EpochReport] = []
    for epoch in range(1, config.epochs + 1):
        began, lr = time.perf_counter(), config.learning_rate(epoch)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        loss = backward(prior, x, targets, variances)
        means = prior.means.detach()
        targets, _ = log_normal_targets(disambiguated_concentrations(means, candidates, config.epsilon))
        optimizer.step()
        seconds = time.perf_counter() - began
        history.append(EpochReport(epoch, config.epochs, {"total": loss}, None, None, None, lr, seconds))
        if on_epoch is not None:
            on_epoch(history[-1])
        if should_stop is not None and should_stop():
            break
    return prior, history
