"""The parts of benchmarks/soak.py: a world with weather, processes that die, people, and what has to hold."""
