"""Scent, the default strategy: it starts from the topic, and learns from pages which links lead to relevant ones."""

from lycosa.strategies.scent.estimator import WEIGHTS, Scent

__all__ = ["WEIGHTS", "Scent"]
