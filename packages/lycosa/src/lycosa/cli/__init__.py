"""The command line: a skin over the library. Heavy imports wait until a command needs them."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR", "RAYON"):
    # One thread each, also in processes that are started from here: pages are small, and threads would only wait for
    # each other. It has to be said before numpy is loaded. Whoever has set one of these wants something else.
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from lycosa.cli.main import main  # noqa: E402 - see above

__all__ = ["main"]
