"""CDL and MIPLMA of one step, number by number with Python loops: slow and plain."""

import math


def best(p, classes):
    return max((p[c] for c in classes), default=0.0)


def mapping(p, w, S):
    return -sum(w[c] * math.log(p[c]) for c in S)


def others(p, S):
    return [c for c in range(len(p)) if c not in S]


def cdl(p, w, S, focus, against):
    """Mean of (1 − (q − φ))^γ · mapping loss over the bags."""
    total = 0.0
    for p_i, w_i, S_i in zip(p, w, S, strict=True):
        u = max(S_i, key=lambda c: p_i[c])
        phi = best(p_i, S_i - {u}) if against == "cc" else best(p_i, others(p_i, S_i))
        total += (1 - (p_i[u] - phi)) ** focus * mapping(p_i, w_i, S_i)
    return total / len(p)


def halved_gaps(p, S):
    return [0.5 * (1 - (best(p_i, S_i) - best(p_i, others(p_i, S_i)))) for p_i, S_i in zip(p, S, strict=True)]


def miplma(p, w, S, weight):
    """Mapping loss and, of each bag, mean and deviation (n − 1) of the pair {0, φ}."""
    total = 0.0
    for phi, p_i, w_i, S_i in zip(halved_gaps(p, S), p, w, S, strict=True):
        pair = [0.0, phi]
        mean = sum(pair) / 2
        deviation = math.sqrt(sum((v - mean) ** 2 for v in pair) / (2 - 1))
        total += mapping(p_i, w_i, S_i) + weight * mean / (1 - deviation)
    return total / len(p)


def miplma_batch(p, w, S, weight):
    """Mapping loss and the mean and deviation (n) of φ over all bags."""
    gaps = halved_gaps(p, S)
    mean = sum(gaps) / len(gaps)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in gaps) / len(gaps) + 1e-12)
    mapped = sum(mapping(p_i, w_i, S_i) for p_i, w_i, S_i in zip(p, w, S, strict=True)) / len(p)
    return mapped + weight * mean / (1 - deviation)
