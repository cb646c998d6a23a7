"""Scent: our own strategy. It starts from what the topic says of a link, and learns from every page what led there."""

from lycosa.strategies.scent.estimator import TERMS, Scent

__all__ = ["TERMS", "Scent"]
