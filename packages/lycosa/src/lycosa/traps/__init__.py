"""Trap detection: pages that cost requests without yielding content are recognised and fetched last."""
