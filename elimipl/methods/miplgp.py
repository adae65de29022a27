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
from torch import Tensor, nn
from torch.nn.functional import pdist, softplus

from bag_generators.base.threads import one_thread
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run, check_memory, check_width, usable_bytes
from elimipl.model.inference import Predictions
from elimipl.model.scaling import fit_scaler
from elimipl.training.reports import EpochReport

_CLUSTERED = 20_000  # distinct instances that k-means looks at, at most
_ROWS_AT_ONCE = 4096
_JITTER = 1e-8  # of the kernel's variance, on the diagonal of the inducing points' covariance
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


class Prior(nn.Module):
    """Scaled Matérn 5/2 for all classes, a constant mean for each, and one noise on top of the known noise.

    What has to be positive is the softplus of a free parameter that starts at 0.
    """

    def __init__(self, classes: int, lengthscale: float) -> None:
        super().__init__()
        free = math.log(math.expm1(lengthscale)) if lengthscale < 30 else lengthscale  # softplus(x) ≈ x from there on
        self.free_lengthscale = nn.Parameter(torch.tensor(free, dtype=torch.float64))
        self.free_variance = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.free_noise = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.means = nn.Parameter(torch.zeros(classes, dtype=torch.float64))
        """The constant of every class, (C,)."""

    @property
    def lengthscale(self) -> Tensor:
        """How far apart inputs have to be to know little of each other."""
        return softplus(self.free_lengthscale)

    @property
    def variance(self) -> Tensor:
        """k(x, x), the same for every x."""
        return softplus(self.free_variance)

    @property
    def noise(self) -> Tensor:
        """The learned part of the noise, a variance."""
        return softplus(self.free_noise) + 1e-4

    def covariance(self, x: Tensor, z: Tensor) -> Tensor:
        """variance · (1 + t + t²/3) e^(−t) with t = √5 ‖x − z‖ / lengthscale; (n, m) for x (n, d) and z (m, d)."""
        centre = x.mean(0)  # the same distances, with fewer digits lost
        t = torch.cdist(x - centre, z - centre) * (math.sqrt(5) / self.lengthscale)
        return self.variance * (1 + t + t.square() / 3) * (-t).exp()


def median_distance(x: Tensor) -> float:
    """Median distance between rows, 1 if all are alike: a length scale to start from."""
    distances = pdist(x)
    distances = distances[distances > 0]
    return float(distances.median()) if len(distances) else 1.0


def backward(prior: Prior, x: Tensor, targets: Tensor, variances: Tensor) -> float:
    """Add the derivatives of the mean negative log marginal likelihood to `prior`'s gradients; gives its value.

    x (n, d), targets and known noise `variances` (n, C). With A = K + noise and a = A⁻¹(y − mean) the derivative by
    K is (A⁻¹ − a aᵀ)/2 for each class; summed up, it goes through the kernel once instead of once a class.
    """
    covariance, means, noise = prior.covariance(x, x), prior.means, prior.noise
    n, classes = targets.shape
    value = 0.0
    by_covariance, by_means = torch.zeros_like(covariance), torch.zeros_like(means)
    with torch.no_grad():
        for c in range(classes):
            factor = torch.linalg.cholesky(covariance + torch.diag(variances[:, c] + noise))
            residual = targets[:, c] - means[c]
            inverse = torch.cholesky_inverse(factor)
            a = inverse @ residual
            by_covariance += inverse.addr_(a, a, alpha=-1)
            by_means[c] = -a.sum()
            value += float(residual @ a / 2 + factor.diagonal().log().sum()) + n * math.log(2 * math.pi) / 2
        by_covariance /= 2 * n * classes
        by_noise = by_covariance.diagonal().sum().reshape(noise.shape)
    torch.autograd.backward([covariance, means, noise], [by_covariance, by_means / (n * classes), by_noise])
    return value / (n * classes)


def bytes_needed(points: int, classes: int) -> int:
    """Memory of a posterior while it is computed and used."""
    squares, work = (classes + 4) * points**2, 10 * _ROWS_AT_ONCE * points
    return 8 * (squares + work)


class Posterior:
    """C regressions on N targets that share their inputs and kernel, told apart by targets and noise.

    With an inducing point at every distinct instance this is exact regression; with fewer it is the projected process
    (Seeger et al. 2003; Quiñonero-Candela and Rasmussen 2005), whose variance is the prior's where no inducing point
    is near.
    """

    @torch.no_grad()
    def __init__(self, prior: Prior, points: Tensor, x: Tensor, targets: Tensor, variances: Tensor) -> None:
        """Inducing points (M, d), inputs (N, d), targets and known noise variances (N, C)."""
        self._prior, self._points = prior, points
        between = prior.covariance(points, points)
        between.diagonal().add_(_JITTER * prior.variance)
        self._root = torch.linalg.cholesky(between)
        classes = targets.shape[1]
        precisions = 1 / (variances + prior.noise)
        pulls = precisions * (targets - prior.means)
        grams = torch.eye(len(points), dtype=x.dtype, device=x.device).repeat(classes, 1, 1)
        moments = x.new_zeros(len(points), classes)
        least = precisions.amin()
        for first in range(0, len(x), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            features = self._features(x[rows])
            grams += least * (features.T @ features)
            # Few labels are candidates, and only these are known better than the rest: their rows add what is missing.
            for c, better in enumerate((precisions[rows] - least).T):
                some = better > 0
                chosen = features[some]
                grams[c].addmm_(chosen.T, chosen * better[some, None])
            moments += features.T @ pulls[rows]
        self._factors = grams
        for c in range(classes):
            self._factors[c] = torch.linalg.cholesky(grams[c])
        self._weights = torch.cholesky_solve(moments.T.unsqueeze(2), self._factors).squeeze(2).T  # (M, C)

    @torch.no_grad()
    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of every class's process at (n, d) inputs, each (n, C)."""
        parts = [self._predict_rows(rows) for rows in x.split(_ROWS_AT_ONCE)]
        means, variances = zip(*parts, strict=True)
        return torch.cat(means), torch.cat(variances)

    def _predict_rows(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self._features(x)
        unexplained = self._prior.variance - features.square().sum(1)
        left = [
            torch.linalg.solve_triangular(factor, features.T, upper=False).square_().sum(0) for factor in self._factors
        ]
        variances = (unexplained + torch.stack(left)).T
        return features @ self._weights + self._prior.means, variances.clamp_min(0)

    def _features(self, x: Tensor) -> Tensor:
        """Φ with ΦΦᵀ = K_xz K_zz⁻¹ K_zx, (n, M)."""
        return torch.linalg.solve_triangular(self._root, self._prior.covariance(self._points, x), upper=False).T
