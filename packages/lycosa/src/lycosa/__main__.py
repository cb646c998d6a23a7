"""Entry point of `python -m lycosa`."""

from lycosa.cli import main

main()
