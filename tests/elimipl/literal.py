"""Equations 1–9 of the paper and DEMIPL's, written out number by number with Python loops: slow and plain.

`P` is the dictionary of a network's parameters as nested lists of floats, under the names of `Network`.
"""

import math


def linear(weight, bias, x):
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def sigmoid(v):
    return 1 / (1 + math.exp(-v)) if v >= 0 else math.exp(v) / (1 + math.exp(v))


def softmax(values):
    top = max(values)
    weights = [math.exp(v - top) for v in values]
    return [w / sum(weights) for w in weights]


def embed(P, x):
    """Eq. 1 with ψ1 the identity."""
    return [max(0.0, v) for v in linear(P["embed.weight"], P["embed.bias"], x)]


def score(P, h):
    """Eq. 2, or the authors' shared gate and MLP, whichever the parameters are for."""
    for_tanh = linear(P["gate_t.weight"], P["gate_t.bias"], h)
    for_sigmoid = linear(P["gate_s.weight"], P["gate_s.bias"], h) if "gate_s.weight" in P else for_tanh
    gated = [math.tanh(a) * sigmoid(b) for a, b in zip(for_tanh, for_sigmoid, strict=True)]
    if "score.weight" in P:
        return sum(w * g for w, g in zip(P["score.weight"][0], gated, strict=True))
    inner = [max(0.0, v) for v in linear(P["score.0.weight"], P["score.0.bias"], gated)]
    return linear(P["score.2.weight"], P["score.2.bias"], inner)[0]


def attention(scores, pooling, hidden, tau=1.0):
    """Eq. 3, the same without 1/√l, MIPLMA's, or DEMIPL's normalised sigmoid."""
    if pooling == "softmax_scaled":
        return softmax([s / math.sqrt(hidden) for s in scores])
    if pooling == "softmax":
        return softmax(scores)
    if pooling == "softmax_standardised":
        return softmax([s / math.sqrt(hidden) / tau for s in standardised(scores)])
    open_gates = [sigmoid(s) for s in scores]
    return [a / sum(open_gates) for a in open_gates]


def standardised(scores):
    """(ξ − mean)/(standard deviation with n − 1 + 1e-8)."""
    mean = sum(scores) / len(scores)
    variance = sum((s - mean) ** 2 for s in scores) / max(len(scores) - 1, 1)
    return [(s - mean) / (math.sqrt(variance) + 1e-8) for s in scores]


def bag_logits(P, bag, pooling, tau=1.0):
    """Eq. 1–4 and the linear classifier for one bag; returns (logits, attention, scores)."""
    H = [embed(P, x) for x in bag]
    scores = [score(P, h) for h in H]
    a = attention(scores, pooling, len(H[0]), tau)
    z = [sum(a_j * h[u] for a_j, h in zip(a, H, strict=True)) for u in range(len(H[0]))]
    return linear(P["classifier.weight"], P["classifier.bias"], z), a, scores


def probabilities(logits, head):
    if head == "softmax":
        return softmax(logits)
    return softmax([min(max(sigmoid(v), 1e-5), 1 - 1e-5) for v in logits])


def mapping_loss(p, w, S):
    """Eq. 5 for m bags: p, w lists of k numbers a bag, S sets of candidates."""
    total = 0.0
    for p_i, w_i, S_i in zip(p, w, S, strict=True):
        for c in S_i:
            total -= w_i[c] * math.log(p_i[c])
    return total / len(p)


def updated_weights(w, p, S, rho):
    """Eq. 6."""
    new = []
    for w_i, p_i, S_i in zip(w, p, S, strict=True):
        mass = sum(p_i[c] for c in S_i)
        new.append([rho * w_i[c] + (1 - rho) * p_i[c] / mass if c in S_i else 0.0 for c in range(len(p_i))])
    return new


def l1_sparsity(p, S):
    """Eq. 7 with the ℓ1 norm in place of ℓ0."""
    return sum(abs(p_i[c]) for p_i, S_i in zip(p, S, strict=True) for c in S_i) / len(p)


def entropy_sparsity(p, S):
    """Entropy of the probabilities renormalised on the candidates."""
    total = 0.0
    for p_i, S_i in zip(p, S, strict=True):
        mass = sum(p_i[c] for c in S_i)
        total -= sum(p_i[c] / mass * math.log(p_i[c] / mass) for c in S_i)
    return total / len(p)


def inhibition_loss(p, S):
    """Eq. 8."""
    total = 0.0
    for p_i, S_i in zip(p, S, strict=True):
        for c in range(len(p_i)):
            if c not in S_i:
                total -= math.log(1 - p_i[c])
    return total / len(p)


def attention_entropy(scores_of_bags):
    """DEMIPL's −Σ a log a over the unnormalised attention."""
    total = 0.0
    for scores in scores_of_bags:
        for s in scores:
            total -= sigmoid(s) * math.log(sigmoid(s))
    return total / len(scores_of_bags)


def rho(t, T, schedule):
    return (T - t) / T if schedule == "paper" else (T - t + 1) / T
