"""`lycosa report`: a crawl told on one page of HTML, which needs nothing but itself.

`gather` reads the figures out of a crawl's log, `render` makes the page of them.
"""

from lycosa.collection.report.figures import Report
from lycosa.collection.report.gathering import gather
from lycosa.collection.report.page import render

__all__ = ["Report", "gather", "render"]
