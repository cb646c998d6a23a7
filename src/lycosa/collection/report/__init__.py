"""`lycosa report`: a crawl told on one page of HTML, which needs nothing but itself.

`gather` reads the figures out of a crawl's log, `render` makes the page of them, which loads nothing from anywhere.

Titles, anchors and addresses were written by strangers. Everything that the template prints is escaped, and cleaned of
characters that could rearrange or hide the text around it; only web addresses become links; and the page's own policy
lets no script run but the one that belongs to it.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment

from lycosa.collection.estimate import at_least
from lycosa.collection.report.figures import Report
from lycosa.collection.report.gathering import gather
from lycosa.drawing.formats import score
from lycosa.drawing.pages import digest, environment, source

__all__ = ["Report", "gather", "render"]


@cache
def _templates() -> Environment:
    """Made once, as compiling them takes half a second."""
    return environment("lycosa.collection.report", asked)


def render(report: Report) -> str:
    """The whole page."""
    templates = _templates()
    script = source(templates, "page.js")
    return templates.get_template("report.html").render(
        report=report, script=script, digest=digest(script), style=source(templates, "style.css")
    )


def asked(threshold: float) -> str:
    """What a find has to score.

    >>> asked(0.1), asked(1e-9)
    ('0.10 or more', 'above 0')
    """
    spoken = at_least(threshold)
    return f"{score(threshold)} or more" if spoken.endswith("more") else spoken
