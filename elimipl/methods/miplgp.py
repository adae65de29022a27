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
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from sklearn.cluster import MiniBatchKMeans
from torch import Tensor

from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.methods.gp_kernel import Prior, backward, median_distance
from elimipl.methods.gp_posterior import Posterior, bytes_needed
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run, check_memory, check_width, usable_bytes
from elimipl.model.inference import Predictions
from elimipl.model.scaling import fit_scaler
from elimipl.training.reports import EpochReport

_CLUSTERED = 20_000  # distinct instances that k-means looks at, at most
_INSTANCES_AT_ONCE = 64  # in a prediction: their draws stay in the processor's cache


class MiplgpConfig(LearnerSettings):
    """Settings of MIPLGP."""

    epochs: int = Field(100, ge=1, le=1_000_000)
    """Adam steps on the parameters of the prior."""
    lr: float = Field(0.1, ge=1e-9, le=1e3)
    """Annealed along a half cosine."""
    kernel_instances: int = Field(500, ge=2, le=100_000)
    """Instances that the prior is fitted on; the time grows with their cube."""
    exact_up_to: int = Field(2048, ge=0, le=100_000)
    """Distinct instances up to which the regression is exact, memory permitting."""
    inducing: int = Field(512, ge=1, le=100_000)
    """Inducing points beyond that."""
    epsilon: float = Field(1e-4, ge=1e-12, le=1.0)
    """ε, the concentration of labels that are no candidates."""
    samples: int = Field(512, ge=1, le=1_000_000)
    """Draws of the processes that a prediction averages over."""
    scaling: Literal["zscore", "none", "robust", "global"] = "zscore"
    """Feature standardisation, fitted on the training bags only (see `elimipl.model.scaling`)."""

    def run(self, dataset: BagDataset, device: torch.device) -> MiplgpRun:
        """On the device."""
        return MiplgpRun(dataset, self, device)

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        return 0.5 * self.lr * (1 + math.cos(math.pi * (epoch - 1) / self.epochs))


@dataclass(frozen=True, eq=False)
class FittedMiplgp(FittedLearner):
    """Gaussian processes conditioned on training instances."""

    posterior: Posterior
    prior: Prior

    def predict(self, dataset: BagDataset) -> Predictions:
        """The largest probability of each class over a bag's instances, made to sum to one.

        So the predicted class is that of the single largest probability in the bag.
        """
        check_width(dataset, len(self.scaler.shift))
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


class MiplgpRun(Run):
    """Fits the prior on a sample of instances by Adam, then conditions on all of them.

    The targets of the sample follow the means of the classes.
    """

    def __init__(self, dataset: BagDataset, config: MiplgpConfig, device: torch.device) -> None:
        super().__init__(dataset, config)
        count = min(config.kernel_instances, len(dataset.instances))
        instead = "Choose fewer instances (kernel_instances)."
        check_memory(8 * 10 * count**2, f"Fitting the kernel on {count:,} instances needs", instead)
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        instances = self.scaler.transform(dataset.instances)
        points, self.note = _inducing_points(instances, dataset.n_classes + 1, config)
        self.points, self.x = torch.from_numpy(points).to(device), torch.from_numpy(instances).to(device)
        self.candidates = augmented_candidates(dataset).to(device)
        draws = torch.Generator().manual_seed(config.seed)
        sample = torch.randperm(len(self.x), generator=draws)[: config.kernel_instances].to(device)
        self.sample, self.sample_candidates = self.x[sample], self.candidates[sample]
        self.prior = Prior(self.candidates.shape[1], median_distance(self.sample)).to(device)
        self.optimizer = torch.optim.Adam(self.prior.parameters(), lr=config.lr)
        first = initial_concentrations(self.sample_candidates, config.epsilon)
        self.targets, self.variances = log_normal_targets(first)

    def epoch(self, epoch: int) -> EpochReport:
        """One step on the marginal likelihood."""
        began, lr = time.perf_counter(), self.config.learning_rate(epoch)
        self.optimizer.param_groups[0]["lr"] = lr
        self.optimizer.zero_grad()
        loss = backward(self.prior, self.sample, self.targets, self.variances)
        means = self.prior.means.detach()
        moved = disambiguated_concentrations(means, self.sample_candidates, self.config.epsilon)
        self.targets, _ = log_normal_targets(moved)
        self.optimizer.step()
        return self.report(epoch, began, {"total": loss}, lr)

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedMiplgp:
        """The posterior; its notes tell whether the regression is exact, and why."""
        targets, variances = log_normal_targets(initial_concentrations(self.candidates, self.config.epsilon))
        posterior = Posterior(self.prior, self.points, self.x, targets, variances)
        sample, whole = len(self.sample), len(self.x)
        fitted_on = f"The kernel was fitted on {sample:,} of {whole:,} instances in {len(history)} epochs."
        return FittedMiplgp(self.config, history, self.scaler, posterior, self.prior, notes=(self.note, fitted_on))


def _inducing_points(instances: np.ndarray, classes: int, config: MiplgpConfig) -> tuple[np.ndarray, str]:
    """Every distinct instance if that is within bounds, centres of k-means otherwise; and which of the two."""
    distinct = np.unique(instances, axis=0)
    count = len(distinct)
    if count <= config.exact_up_to and bytes_needed(count, classes) <= usable_bytes():
        return distinct, f"The Gaussian processes are exact, on {count:,} distinct instances."
    points = min(config.inducing, count)
    what = f"{points:,} inducing points for {classes} Gaussian processes need"
    check_memory(bytes_needed(points, classes), what, "Choose fewer inducing points (inducing).")
    reason = f"more than {config.exact_up_to:,}" if count > config.exact_up_to else "too many for the free memory"
    rng = np.random.default_rng(config.seed)
    seen = distinct if count <= _CLUSTERED else distinct[np.sort(rng.choice(count, _CLUSTERED, replace=False))]
    clusters = MiniBatchKMeans(points, random_state=config.seed, n_init=1, batch_size=2048, max_iter=20).fit(seen)
    note = f"The Gaussian processes rest on {points:,} inducing points: {count:,} distinct instances are {reason}."
    return np.unique(clusters.cluster_centers_, axis=0), note


def augmented_candidates(dataset: BagDataset) -> Tensor:
    """S' = S ∪ {negative} of every instance, (N, k + 1) bool.

    An instance inherits the candidate set of its bag and a further class for instances that show none of its labels.
    """
    bags = torch.from_numpy(dataset.candidates.copy())
    negative = torch.ones(len(dataset), 1, dtype=torch.bool)
    return torch.cat([bags, negative], 1).repeat_interleave(torch.from_numpy(dataset.sizes.copy()), 0)


def initial_concentrations(candidates: Tensor, epsilon: float) -> Tensor:
    """α = ε + [c∈S']/|S'| of a Dirichlet distribution over the classes."""
    return epsilon + candidates.double() / candidates.sum(1, keepdim=True)


def disambiguated_concentrations(means: Tensor, candidates: Tensor, epsilon: float) -> Tensor:
    """α = ε + the softmax of Gaussian-process means within S'."""
    return epsilon + means.expand(candidates.shape).masked_fill(~candidates, -torch.inf).softmax(1)


def log_normal_targets(concentrations: Tensor) -> tuple[Tensor, Tensor]:
    """The log-normal with the moments of Gamma(α, 1): mean y = log α − σ²/2, variance σ² = log(1/α + 1).

    Targets of regression, after Milios et al. 2018.
    """
    variance = (1 / concentrations + 1).log()
    return concentrations.log() - variance / 2, variance
