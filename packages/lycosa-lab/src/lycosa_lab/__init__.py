"""Simulated crawls of recorded graphs with the production code; docs/architecture.md describes the data flow.

Relevance is measured by a ground truth that no strategy can read.
"""
