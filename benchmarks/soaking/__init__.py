"""Parts of benchmarks/soak.py: a web with failures, processes that are killed, people, and the checks."""
