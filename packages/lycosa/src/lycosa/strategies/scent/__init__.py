"""Scent: the default strategy. It starts from the topic, and learns from every page which links lead to good ones."""

from lycosa.strategies.scent.estimator import WEIGHTS, Scent

__all__ = ["WEIGHTS", "Scent"]
