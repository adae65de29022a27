"""Measure whether explanations can be believed: do they find the instances that matter, to the label and to the model?

Each way of ranking instances is held against the truth about instances, where it is known, and against the model: an
honest ranking names the instances without which the answer falls (“flipping”). Rankings by networks with random weights
go through the same measurement on the same model; what they reach is chance.
"""

from elimipl.cards.trust import MethodTrust, Trust
from elimipl.trust.measure import measure_trust

__all__ = ["MethodTrust", "Trust", "measure_trust"]
