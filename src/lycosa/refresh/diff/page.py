"""Two versions on one page of HTML, which loads nothing and runs nothing.

The words on it were written by strangers: what can't be seen is gone (blocks.py), the template escapes the rest, only
web addresses become links, and the page's own policy forbids everything but its style.
"""

from __future__ import annotations

from lycosa.drawing.pages import environment, source
from lycosa.refresh.diff.comparison import Comparison, folded, pieces
from lycosa.refresh.diff.rows import cut
from lycosa.version import __version__

MOST_ROWS = 20_000
"""Lines of the page: with more, a browser would hardly open it."""

MOST_RUNS = 4_000
"""Stretches of words in one row."""

MOST_LINKS = 500
"""Links of each kind that are listed."""


def render(comparison: Comparison) -> str:
    """The page.

    >>> from lycosa.refresh.diff.comparison import Version, compare
    >>> page = render(compare("http://a.test/", Version(1, 0.0, text="<b>"), Version(2, 9.0, text="<i>")))
    >>> "&lt;b&gt;" in page, "<script" in page
    (True, False)
    """
    templates = environment("lycosa.refresh.diff", pieces)
    rows = [cut(row, MOST_RUNS) for row in comparison.diff.rows[:MOST_ROWS]]
    left_out = len(comparison.diff.rows) - len(rows)
    stretches = folded(rows)
    return templates.get_template("diff.html").render(
        told=comparison,
        diff=comparison.diff,
        stretches=stretches,
        left_out=left_out,
        style=source(templates, "style.css"),
        version=__version__,
        most=MOST_LINKS,
    )
