"""Spaces: anything that can be visited."""
