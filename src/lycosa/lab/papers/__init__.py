"""The experiments of the five papers, and ours: each module has `findings(bench)`: tables, figures, claims."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lycosa.core.telling import Tell, silent
from lycosa.lab.findings import Findings
from lycosa.lab.index import Index

PAPERS = {
    "otie": "Guan et al. 2008: link context and importance (OTIE)",
    "batsakis": "Batsakis 2007: classic, semantic and learning crawlers",
    "personalized": "Trivedi et al. 2014: a personalised crawler with change detection",
    "gouriten": "Gouriten, Maniu, Senellart 2014: generic, scalable, adaptive focused crawling",
    "rules": "Altingovde, Ulusoy 2004: rules between classes",
}
OURS = {
    "scent": "Scent: our own strategy against the published ones",
    "freshness": "Freshness: changes detected, and schedules under the same budget",
}
"""No papers, and not of `all`: the first compares with them, the second takes a web that changes."""

EXPERIMENTS = PAPERS | OURS

NO_CORPUS = frozenset({"freshness"})
"""Experiments with a web of their own: no corpus is opened or made for them."""


@dataclass
class Bench:
    """What an experiment is made with."""

    index: Index
    out: Path
    """Where runs and what was prepared are kept, so that a second call finishes what the first began."""
    quick: bool = False
    """Smaller budgets, fewer topics and repetitions: a minute or two."""
    random_seed: int = 0
    workers: int = 0
    """Processes; 0: as many as there are cores."""
    tell: Tell = silent
    large: bool = False
    """Generated graphs as large as the paper's, 2.2 million nodes: hours."""
    develop: bool = False
    """Scent: topics and keywords of the half that it is developed on, not of the half that is reported; freshness: webs
    that the schedules were developed on."""


def findings(paper: str, bench: Bench) -> Findings:
    """Make the tables, figures and claims of a paper on a corpus."""
    made: Findings = import_module(f"lycosa.lab.papers.{paper}").findings(bench)
    return made
