"""The generic engine: types, protocols, the loop, the frontier. Knows nothing of the web."""
