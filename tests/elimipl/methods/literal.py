"""PRODEN, RC and LWS on a linear model, number by number with Python loops: slow and plain."""

import math

import torch

from tests.elimipl.literal import sigmoid, softmax


def logits(theta, x):
    """theta: d rows of k weights, then a row of k biases."""
    return [sum(row[c] * v for row, v in zip(theta, [*x, 1.0], strict=True)) for c in range(len(theta[0]))]


def on_candidates(g, S):
    """softmax(g) within S, 0 elsewhere."""
    p = softmax(g)
    mass = sum(p[c] for c in S)
    return [p[c] / mass if c in S else 0.0 for c in range(len(p))]


def on_both_sides(g, S):
    """softmax(g) within S and, apart from that, within the others."""
    others = {c for c in range(len(g)) if c not in S}
    return [a + b for a, b in zip(on_candidates(g, S), on_candidates(g, others), strict=True)]


def cross_entropy(g, w, S):
    return -sum(w[c] * math.log(softmax(g)[c]) for c in S)


def cross_entropy_slope(g, w, S):
    return [p - w_c for p, w_c in zip(softmax(g), w, strict=True)]


def psi(t):
    return sigmoid(-t)


def leveraged(g, w, S, beta):
    total = 0.0
    for c in range(len(g)):
        total += w[c] * psi(g[c]) if c in S else beta * w[c] * psi(-g[c])
    return total


def leveraged_slope(g, w, S, beta, step=1e-6):
    """By central differences: nothing here knows the derivative of ψ."""
    slopes = []
    for c in range(len(g)):
        up, down = list(g), list(g)
        up[c], down[c] = g[c] + step, g[c] - step
        slopes.append((leveraged(up, w, S, beta) - leveraged(down, w, S, beta)) / (2 * step))
    return slopes


def central_differences(parameter, value, step=1e-6):
    """The slope of value() by every number of a torch parameter."""
    flat = parameter.view(-1)
    slopes = torch.empty_like(flat)
    for u in range(len(flat)):
        own = flat[u].item()
        flat[u] = own + step
        up = value()
        flat[u] = own - step
        slopes[u] = (up - value()) / (2 * step)
        flat[u] = own
    return slopes.view(parameter.shape)


class Momentum:
    def __init__(self, momentum, decay):
        self.momentum, self.decay, self.velocity = momentum, decay, {}

    def step(self, theta, gradient, lr):
        for u, row in enumerate(theta):
            for c in range(len(row)):
                g = gradient[u][c] + self.decay * row[c]
                self.velocity[u, c] = self.momentum * self.velocity.get((u, c), 0.0) + g
                row[c] -= lr * self.velocity[u, c]


class Adam:
    def __init__(self, decay):
        self.decay, self.first, self.second, self.t = decay, {}, {}, 0

    def step(self, theta, gradient, lr):
        self.t += 1
        for u, row in enumerate(theta):
            for c in range(len(row)):
                g = gradient[u][c] + self.decay * row[c]
                self.first[u, c] = 0.9 * self.first.get((u, c), 0.0) + 0.1 * g
                self.second[u, c] = 0.999 * self.second.get((u, c), 0.0) + 0.001 * g * g
                m, v = self.first[u, c] / (1 - 0.9**self.t), self.second[u, c] / (1 - 0.999**self.t)
                row[c] -= lr * m / (math.sqrt(v) + 1e-8)


def train(theta, X, S, w, epochs, *, slope, moved, after_step, optimizer):
    """`epochs`: (learning rate, batches of indices) of each. Changes theta and w in place."""
    for lr, batches in epochs:
        for batch in batches:
            outputs = [logits(theta, X[i]) for i in batch]
            slopes = [slope(g, w[i], S[i]) for g, i in zip(outputs, batch, strict=True)]
            gradient = [
                [
                    sum(s[c] * [*X[i], 1.0][u] for s, i in zip(slopes, batch, strict=True)) / len(batch)
                    for c in range(len(theta[0]))
                ]
                for u in range(len(theta))
            ]
            optimizer.step(theta, gradient, lr)
            for g, i in zip(outputs, batch, strict=True):
                w[i] = moved(logits(theta, X[i]) if after_step else g, S[i])
