"""`lycosa lab ...`: corpora, experiments, the papers. Each command imports what it needs when it is called."""

from __future__ import annotations

from lycosa.cli.laboratory import comparing, evaluating, generating, indexing, papers, ranking, running
from lycosa.cli.laboratory.app import lab

__all__ = ["comparing", "evaluating", "generating", "indexing", "lab", "papers", "ranking", "running"]
