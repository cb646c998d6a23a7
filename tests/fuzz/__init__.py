"""Fuzz tests of all parsers of external input: `make fuzz`, and a short run in CI."""
