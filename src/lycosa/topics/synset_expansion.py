"""The vector space, with synonyms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Page
from lycosa.text.background import Background
from lycosa.text.expansion import Expansion
from lycosa.text.ontology import Ontology
from lycosa.text.rarity import Idf, Rarity
from lycosa.text.vocabulary import Reading
from lycosa.topics.meaning import Meaning

THRESHOLD = 0.06
"""A compromise, by F1: of the pages with it or more, 95 % are on the topic in five embedded webs, and 59 % in nine
small classes of an encyclopaedia; of the pages on the topic, all and 39 % have it. Synonyms make the topic's vector
longer, so cosines are smaller than those of `vector`."""


class SynsetExpansion(Meaning):
    """beta = cosine of the page and the topic widened by its synonyms; alpha = the same of the widened anchor.

    A synonym, in any sense of the word or phrase that it came from, takes the weight of that one. The page is not
    widened. Weights are (1 + log tf) idf, of stems. See lycosa.text.expansion for phrases, and `vector` for idf.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> cars = Ontology.build({"car": ["car", "automobile"]}, broader=[])
    >>> page = Page("ok", marked="an automobile")
    >>> judge = SynsetExpansion("car", ontology=cars)
    >>> round(judge.judge(page, Vocabulary().read(page)).beta, 3)       # (0, 1) and (1, 1): 1 / sqrt(2)
    0.707

    Paper: Batsakis 2007, 3.3 (numbered 3.2.3), the two similarities of equation 10; their mean is what the strategy of
    this name ranks links by.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = THRESHOLD,
        *,
        idf: Idf = "learned",
        background: Background | None = None,
        ontology: str | Ontology = "",
    ) -> None:
        super().__init__(words, threshold, ontology, "path")
        self.expansion = Expansion(self.glossary, Rarity(idf, background))

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        return super().fingerprint, self.expansion.rarity.fingerprint

    def _said(self, page: Page, reading: Reading) -> tuple[float, NDArray[np.float32]]:
        beta = self.expansion.page(reading.terms, reading.vocabulary, reading.language)
        return beta, self._near(page.links.anchors, reading).astype(np.float32)

    def _near(self, texts: Sequence[str], reading: Reading) -> NDArray[np.float64]:
        return self.expansion.anchors(texts, reading.vocabulary, reading.language)
