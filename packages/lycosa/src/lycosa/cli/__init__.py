"""The command line. Heavy imports are deferred until a command needs them."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR", "RAYON"):
    # One thread per library, also in child processes: pages are small, and more threads would only contend. This must
    # be set before numpy is imported; values set by the user are kept.
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from lycosa.cli.main import main  # noqa: E402 - see above

__all__ = ["main"]
