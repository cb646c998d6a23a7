"""The command line: a skin over the library. Heavy imports wait until a command needs them."""

from lycosa.cli.main import main

__all__ = ["main"]
