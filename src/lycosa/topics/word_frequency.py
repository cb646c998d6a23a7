"""How often the search string is on a page.

Paper items:
    personalized-word-frequency: `--judge word-frequency`. Test:
        topics/test_word_frequency.py::test_occurrences_in_title_and_text. Departs: in the text that is shown, not in
        the source.
    personalized-lines: `--judge word-frequency,literal=yes`. Test:
        topics/test_word_frequency.py::test_lines_of_the_source. Departs: whatever its case; unless literal, occurrences
        in the text that is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from lycosa.core.types import Judgement, Page
from lycosa.topics.base import Judge
from lycosa.topics.phrases import Match, Phrases, folded


class WordFrequency(Judge):
    """beta = the number of times the search string is repeated in the page; alpha = in the anchor.

    The string is one phrase, looked for in title and text whatever its case. With several strings (a file of terms) it
    is the sum of weight times number. The numbers are not scaled: 1 is one occurrence, so that the threshold of 1
    means a page that has the string at all, and long pages score higher.

    count: `occurrences`, or `lines` that contain the string, however often each does. A line is what the page shows as
    one, before it is wrapped: a paragraph, a heading, a list item, a row of a table; the title is one more.
    match: `words` takes the string as whole words only; `anywhere` also inside longer ones, "art" in "party".
    literal: as the paper's pseudo-code has it, the lines of the page's source that contain the string, anywhere: in
    markup, scripts and comments, too. A page of a space that has no source is counted by the lines that it shows.

    >>> page = Page("ok", title="Corals", marked="A coral is not a rock. Coral grows.\\nNo coral, no reef.")
    >>> WordFrequency("coral").judge(page, None).beta, WordFrequency("coral", count="lines").judge(page, None).beta
    (3.0, 2.0)

    Paper: Trivedi et al. 2014, III, Relevance Calculation. Its text counts occurrences, its pseudo-code lines of the
    page's source that contain the string. We read the text that is shown, not the source: a string in markup or
    scripts is no use to a reader. `contains` in the pseudo-code is `match=anywhere`; not the default, since short
    words are inside of many others. `literal` is both as printed.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 1.0,
        *,
        count: Literal["occurrences", "lines"] = "occurrences",
        match: Match = "words",
        literal: bool = False,
    ) -> None:
        self.threshold, self.literal = threshold, literal
        count, match = ("lines", "anywhere") if literal else (count, match)
        self.count, self.match = count, match
        self.phrases = Phrases({words: 1.0} if isinstance(words, str) else words, match)
        self.weights = self.phrases.weights

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Count in the page, and in each anchor."""
        phrases, links = self.phrases, page.links
        source = page.source() if self.literal else ""
        title, text = ("", folded(source)) if source else (folded(page.title), folded(page.marked))
        if self.count == "lines":
            beta = sum(phrases.contained(line) for line in [title, *text.split("\n")])
        else:
            beta = phrases.count_folded(title) + phrases.count_folded(text)
        alphas = np.array([phrases.count(anchor) for anchor in links.anchors], np.float32)
        facets = phrases.links(links, self.facets)
        return Judgement(beta, alphas, facets={name: counts.astype(np.float32) for name, counts in facets.items()})
