"""Two versions of a page side by side: blocks aligned, words added and removed; and as a page of HTML.

blocks      a text as blocks of words
rows        which block became which, and which words of it changed, as a person would mark it
comparison  two versions: their words, titles and links, and what the revisit recorded

The page of HTML loads nothing and runs nothing. The words on it were written by strangers: what can't be seen is gone
(blocks.py), the template escapes the rest, only web addresses become links, and the page's own policy forbids
everything but its style.
"""

from __future__ import annotations

from lycosa.drawing.pages import environment, source
from lycosa.refresh.diff.comparison import Comparison, Version, compare, folded, pieces
from lycosa.refresh.diff.rows import Diff, Row, Run, cut, diff
from lycosa.version import __version__

__all__ = ["Comparison", "Diff", "Row", "Run", "Version", "compare", "diff", "render"]

MOST_ROWS = 20_000
"""Lines of the page: with more, a browser would hardly open it."""

MOST_RUNS = 4_000
"""Stretches of words in one row."""

MOST_LINKS = 500
"""Links of each kind that are listed."""


def render(comparison: Comparison) -> str:
    """The page.

    >>> page = render(compare("http://a.test/", Version(1, 0.0, text="<b>"), Version(2, 9.0, text="<i>")))
    >>> "&lt;b&gt;" in page, "<script" in page
    (True, False)
    """
    templates = environment("lycosa.refresh.diff", pieces)
    rows = [cut(row, MOST_RUNS) for row in comparison.diff.rows[:MOST_ROWS]]
    left_out = len(comparison.diff.rows) - len(rows)
    return templates.get_template("diff.html").render(
        told=comparison,
        diff=comparison.diff,
        stretches=folded(rows),
        left_out=left_out,
        style=source(templates, "style.css"),
        version=__version__,
        most=MOST_LINKS,
    )
