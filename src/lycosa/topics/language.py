"""Only pages in the right language count."""

from __future__ import annotations

from typing import Any

from lycosa.core.types import Judgement, Page
from lycosa.topics.around import Around


class InLanguage(Around):
    """Another topic's judgement, but beta is 0 for a page that the space has flagged as being in a wrong language.

    >>> from lycosa.topics.pattern import Pattern
    >>> InLanguage(Pattern("coral")).judge(Page("ok", marked="coral", flags=["language"]), None).beta
    0.0
    """

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge, then look at the flag; links keep their alpha, since they may lead to the right language."""
        judgement = self.topic.judge(page, reading)
        if "language" in page.flags:
            judgement.beta = 0.0
        return judgement
