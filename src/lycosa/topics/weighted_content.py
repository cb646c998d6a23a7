"""Word counts, those of the title counted more.

Paper items:
    personalized-weights: `--judge weighted-content`. Test: topics/test_weighted_content.py::test_title_and_body.
        Departs: a word in both has the sum.
    personalized-ct-cb: `--judge weighted-content,title=2,body=1`. Test:
        topics/test_weighted_content.py::test_other_coefficients.
    personalized-cosine: `--judge weighted-content`. Test: topics/test_weighted_content.py::test_title_and_body.
        Departs: all words of the page are in its vector: the paper does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Page
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Reading
from lycosa.topics.query import Query


class WeightedContent(Query):
    """beta = cosine of the topic's words and the page's, W_k = title * f_k in the title, body * f_k in the text.

    f_k is the frequency of word k there; a word in both has the sum. All words of the page are part of its vector, so
    that a long page about many things is less relevant than one about the topic alone. alpha is the cosine of the
    anchor's plain counts. Words are stems, without stop words.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> page = Page("ok", title="Coral", marked="a coral in the sea")     # coral: 2 * 1 + 1 * 1, sea: 1
    >>> round(WeightedContent("coral").judge(page, Vocabulary().read(page)).beta, 3)        # 3 / sqrt(3^2 + 1^2)
    0.949

    Paper: Trivedi et al. 2014, II, Content Analysis, with its coefficients. It does not say which words make up the
    page's vector, nor whether a title repeats in the text: we take all, and the title as it stands.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.1,
        *,
        title: float = 2.0,
        body: float = 1.0,
    ) -> None:
        if title < 0 or body < 0 or not title + body > 0:
            raise ValueError(f"title is {title:g} and body {body:g}: none below 0, and not both 0")
        super().__init__(words, threshold, tf="raw", idf="none")
        self.title, self.body = title, body

    def _counts(self, page: Page, reading: Reading) -> NDArray[Any]:
        """body * (all - those of the title) + title * those of the title."""
        counts = self.body * reading.terms.counts.astype(np.float64)
        id_of, ids = reading.vocabulary.id_of, reading.terms.ids
        for stem in stems(page.title, reading.language):
            at = np.searchsorted(ids, id_of.get(stem, 0))
            if at < len(ids) and reading.vocabulary.terms[ids[at]] == stem:
                counts[at] += self.title - self.body
        return counts.clip(0.0)
