"""Relevance by matches of a regular expression."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Page
from lycosa.judges.base import StatelessJudge

MAX_CHARACTERS = 200_000  # characters of a page that are searched, which limits the run time of an expression


class RegexJudge(StatelessJudge):
    """Regular expression: beta = n / (n + 1) for n matches on the page; alpha = 1 for a match in the anchor.

    Title and text are searched. A match near a link or in its URL gives .5. The facets "context" and "url" are 1 for a
    match in the 20 words around the link, or in the URL itself.

    >>> page = Page("ok", marked="DOI 10.1000/182 and DOI 10.1000/183")
    >>> round(RegexJudge(r"10\\.\\d{4}/\\d+").judge(page, None).relevance, 3)
    0.667
    """

    exact = True  # relevance is counted, not estimated

    def __init__(self, expression: str, threshold: float = 0.5) -> None:
        self.threshold = threshold
        try:
            self.expression = re.compile(expression, re.IGNORECASE)
        except re.error as error:
            raise InputError("bad-pattern", f"{expression!r} is not a regular expression: {error}") from error
        if self.expression.search(""):
            raise InputError("bad-pattern", f"the expression {expression!r} matches the empty text, and so every page")

    def judge(self, page: Page, reading: Any) -> Judgement:
        search, links = self.expression.search, page.links
        matches = sum(1 for _ in self.expression.finditer(f"{page.title}\n{page.text}"[:MAX_CHARACTERS]))
        link_relevances = np.array(
            [
                1.0 if search(anchor) else 0.5 if search(context) or search(url) else 0.0
                for anchor, context, url in zip(links.anchors, links.contexts, links.urls, strict=True)
            ],
            np.float32,
        )
        facets = {
            name: np.array([1.0 if search(text) else 0.0 for text in texts], np.float32)
            for name, texts in (("context", links.contexts), ("url", links.urls))
            if name in self.facets
        }
        return Judgement(matches / (matches + 1), link_relevances, facets=facets)
