"""`lycosa lab ...`: corpora, experiments, the papers. Each command imports what it needs when it is called."""

from __future__ import annotations

from lycosa.cli.laboratory import comparing, evaluating, generating, indexing, papers, ranking, running
from lycosa.cli.laboratory.app import lab

__all__ = ["comparing", "evaluating", "generating", "indexing", "lab", "papers", "ranking", "running"]

ORDER = ("index", "fetch", "generate", "run", "compare", "evaluate", "paper", "leaderboard", "gate")
"""As they are needed, one after the other: so --help lists them."""

lab.registered_commands.sort(key=lambda command: ORDER.index(command.name or ""))
