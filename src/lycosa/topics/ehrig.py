"""Words count by their distance from the topic's words in an ontology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Page
from lycosa.text import nearness
from lycosa.text.ontology import Ontology
from lycosa.text.rarity import Rarity
from lycosa.text.vocabulary import Reading
from lycosa.topics.meaning import Meaning, texts_of

THRESHOLD = 0.25
"""By F1: of the pages with it or more, 97 % are on the topic in five embedded webs, and 40 % in nine small classes of
an encyclopaedia; of the pages on the topic, all and 57 % have it."""

_ALL_ALIKE = Rarity("none")


class Ehrig(Meaning):
    """alpha = sum over the anchor's terms j and the topic's terms k of sim(j, k) tf_j tf_k: not normalised, no idf.

    sim is df to the power of the IS-A links between two terms (`ehrig`, equation 3), 1 if any relation connects them
    directly (`any-1`), or 1 if two IS-A links or fewer do (`is-a-2`). tf is how often a term is there. Terms are words
    in their base forms, and phrases that the ontology knows.

    For a whole page the sum grows with its length, and nearly every word is a little like the topic's: ranked by it,
    long pages come first. So beta is the same sum of 1 + log tf in place of tf, without likenesses below `floor`,
    divided by the lengths of both vectors. (Mean average precision for ten classes of an encyclopaedia: .53; .18 for
    the plain sum, .37 for the sum by the number of words.) In anchors they are left out as well, and nothing else is
    changed. `literal=yes` is the plain sum of all likenesses, for pages, too.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> page = Page("ok", marked="atoll, atoll, sea")
    >>> said = Ehrig("reef", ontology=reefs, literal=True).judge(page, Vocabulary().read(page))
    >>> said.beta                                                                       # .5^1 * 2 * 1
    1.0

    Paper: Batsakis 2007, sections 2.4 and 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003, who judge pages by an
    ontology of their topic. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = THRESHOLD,
        *,
        measure: Literal["ehrig", "any-1", "is-a-2"] = "ehrig",
        df: float = 0.5,
        floor: float = 0.5,
        literal: bool = False,
        ontology: str | Ontology = "",
    ) -> None:
        own = {"df": df} if measure == "ehrig" else {}
        super().__init__(words, threshold, ontology, measure, 0.0 if literal else floor, **own)
        self.literal = literal

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        return super().fingerprint, self.literal

    def _said(self, page: Page, reading: Reading) -> tuple[float, NDArray[np.float32]]:
        if self.literal:
            return super()._said(page, reading)
        words = self.glossary.words(reading.language)
        bags = words.bags(texts_of(page))
        weights, query, _ = nearness.tf_idf(bags, words, _ALL_ALIKE, reading.vocabulary)
        beta = nearness.ssrm(bags, words, weights, query)[0]
        return float(beta), nearness.ehrig(bags, words)[1:].astype(np.float32)

    def _near(self, texts: Sequence[str], reading: Reading) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        return nearness.ehrig(words.bags(texts), words)
