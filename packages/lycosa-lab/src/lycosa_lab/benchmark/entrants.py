"""Entrants of the benchmark: published, modern and user strategies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lycosa.core.spec import parse_spec
from lycosa.strategies import STRATEGIES, TRUTH
from lycosa_lab import trial_strategies as trial_strategies
from lycosa_lab.trial_strategies import ORACLE, PROGRAM

SCENT = "scent"
PUBLISHED = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor", "link-context", "shark-search",
    "fish-search", "fl_n", "fl_e", "fl_ne", "sl_n", "lr_fl", "mab_var", "mab_first", "otie", "opic-alpha",
    "link-score", "nb-links", "soft-focus",
)  # fmt: skip

# published strategies that led most cells, except those that need WordNet or training
BEST = ("shark-search", "link-context", "best-first", "mab_var", "nb-links", "fl_n")

_MODERN = re.compile("201[6-9]|20[2-9][0-9]")  # publication years


def kind(text: str) -> str:
    name = parse_spec(text)[0]
    if name not in STRATEGIES:
        return "program" if name == PROGRAM else "own"
    if STRATEGIES[name].needs == TRUTH:
        return "oracle"
    if STRATEGIES[name].paper.startswith("ours"):
        return "ours"
    return "modern" if _MODERN.search(STRATEGIES[name].paper) else "published"


def is_rival(text: str) -> bool:
    return kind(text) not in ("ours", "oracle")


def entrants(
    only: Sequence[str] = (), also: Sequence[str] = (), *, quick: bool = False, full: bool = False
) -> list[str]:
    """Return the oracle, scent, and the given or default rivals, all validated."""
    modern = [name for name in STRATEGIES if name != ORACLE and kind(name) in ("modern", "oracle")]
    usual = ["best-first", "breadth-first"] if quick else [*(PUBLISHED if full else BEST), *modern]
    texts = list(dict.fromkeys([ORACLE, SCENT, *(only or usual), *also]))
    for text in texts:
        trial_strategies.check(text)
    return texts
