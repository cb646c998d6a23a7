"""Every reader of what comes from outside, given bytes that nobody meant: `make fuzz`, and a short run in CI."""
