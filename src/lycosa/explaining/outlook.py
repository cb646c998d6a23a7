"""What comes next, for the report."""

from __future__ import annotations

import math
from pathlib import Path

from lycosa.collection.report.figures import Outlook, Term, Upcoming
from lycosa.core.errors import LycosaError
from lycosa.crawling.snapshots import covered
from lycosa.explaining.answers import Why
from lycosa.explaining.reasons import Reasons
from lycosa.store.log import PAGES

LINKS = 8
"""Links that are shown, and terms of each."""

TERMS = 5

MOST_EVENTS = 100_000
"""Events of a crawl beyond which the report says nothing of this: to know it takes reading all that was learned."""

MOST_PAGES = 20_000
"""Pages since the last snapshot that the report folds again for this. `lycosa why` has no such limit."""


def outlook(directory: Path) -> Outlook | None:
    """The links that come first and why; None for a large crawl, or one that can't be put together again here.

    A crawl with parts of the user's own, or with files that are gone, still has its report.
    """
    try:
        with Reasons(directory) as reasons:
            log = reasons.collection.log
            if log.end() > MOST_EVENTS:
                return None
            pages = next(log.rows("COUNT(*)", f"{PAGES} AND seq > ?", "1", (covered(directory),)))[0]
            if pages > MOST_PAGES:
                return None
            first = reasons.rankings[0]
            found = Outlook(len(first.waiting), first.name if len(reasons.rankings) > 1 else "")
            best = reasons.best(LINKS, witnessed=False)
    except LycosaError:
        return None
    largest = max((abs(value) for why in best if why.view for value in why.view.terms.values()), default=1.0)
    found.links = [_upcoming(why, largest) for why in best]
    return found


def _upcoming(why: Why, largest: float) -> Upcoming:
    assert why.view is not None
    parent = why.parents[0] if why.parents else None
    terms = [Term(name, value, abs(value) / largest) for name, value in why.view.terms.items()]
    if math.isinf(why.view.score):  # a seed: no term has a say
        terms = []
    return Upcoming(
        why.node,
        why.view.score,
        terms[:TERMS],
        max(0, len(terms) - TERMS),
        parent.node if parent else "",
        parent.title if parent else "",
        parent.anchor if parent else "",
        why.state == "held",
    )
