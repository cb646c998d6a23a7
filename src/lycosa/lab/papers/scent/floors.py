"""What scent has to reach: shares of the oracle's, set before it was measured on the topics that are reported."""

from __future__ import annotations

from lycosa.lab.index import Index

BUDGETS = (100, 500, 1000)

FLOORS: dict[str, dict[str, tuple[float, float, float]]] = {
    "Wikispeedia": {
        "keyword": (0.65, 0.77, 0.83),
        "query-on": (0.60, 0.93, 0.97),
        "query-off": (0.55, 0.92, 0.97),
        "examples-on": (0.68, 0.95, 0.98),
        "examples-off": (0.66, 0.95, 0.98),
    },
    "WebKB": {
        "keyword": (0.65, 0.70, 0.80),
        "query-on": (0.57, 0.68, 0.80),
        "query-off": (0.42, 0.66, 0.78),
        "examples-on": (0.62, 0.62, 0.70),
        "examples-off": (0.50, 0.62, 0.68),
    },
}
"""By corpus and cell, at 100, 500 and 1,000 pages. For keywords they are geometric means."""


def corpus_name(index: Index) -> str:
    """The name of a corpus that there are floors for, known by its source; empty for any other."""
    source = str(index.facts.get("source", "")).casefold()
    return next((name for name in FLOORS if name.casefold() in source), "")


def floor(corpus: str, cell: str, budget: int) -> float | None:
    """What is to be reached; None where nothing was set.

    >>> floor("WebKB", "query-off", 500), floor("WebKB", "query-off", 50), floor("mine", "keyword", 100)
    (0.66, None, None)
    """
    if corpus not in FLOORS or budget not in BUDGETS:
        return None
    return FLOORS[corpus][cell][BUDGETS.index(budget)]
