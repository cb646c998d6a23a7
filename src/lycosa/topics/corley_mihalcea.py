"""For each word the most similar one of the other text, both ways.

Paper items:
    batsakis-mihalcea: `--judge corley-mihalcea`. Test: topics/test_corley_mihalcea_judge.py::test_both_ways. Departs:
        named as an alternative, not among the thesis's crawlers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.text import nearness
from lycosa.text.background import Background
from lycosa.text.ontology import Ontology
from lycosa.text.rarity import Idf, Rarity
from lycosa.text.vocabulary import Reading
from lycosa.topics.meaning import Meaning

THRESHOLD = 0.48
"""By F1, in five embedded webs and in nine small classes of an encyclopaedia: of the pages with it or more, 93 % and
40 % are on the topic; of the pages on the topic, all and 65 % have it."""


class CorleyMihalcea(Meaning):
    """sim(T, Q) = 1/2 (sum_w maxSim(w, Q) idf(w) / sum_w idf(w) + sum_q maxSim(q, T) idf(q) / sum_q idf(q)).

    w are the terms of the text T (the page, or an anchor), each once, q those of the topic Q; maxSim is the likeness to
    the most similar term of the other side. The first half asks what part of the text is on the topic, the second what
    part of the topic is in the text: of long pages the second decides. A weight of a word of the topic multiplies its
    idf.

    measure: `li`, `ehrig`, `path` or `depth` (see lycosa.text.similarity). idf: `learned`, `background`, `none`, as for
    `vector`. Likenesses below `floor` are left out, in pages and anchors; 0 leaves all in, as the paper has it. It
    matters less than for the sums of other judges (300 pages of embedded webs hold 64 on the topic with .5, 50 when
    anchors have no floor).

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> from lycosa.core.types import Page
    >>> page = Page("ok", marked="atoll sea")
    >>> judge = CorleyMihalcea("reef", ontology=reefs, measure="ehrig", idf="none")
    >>> judge.judge(page, Vocabulary().read(page)).beta                                 # ((.5 + 0) / 2 + .5 / 1) / 2
    0.375

    Paper: Corley, Mihalcea 2005, equation 1; named in Batsakis 2007, 2.4. They compare nouns with nouns and verbs with
    verbs, and other words by their letters, by one of six measures; here terms are of no part of speech, and the
    measures are those of the thesis.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = THRESHOLD,
        *,
        measure: Literal["li", "ehrig", "path", "depth"] = "li",
        a: float = 0.2,
        b: float = 0.6,
        df: float = 0.5,
        idf: Idf = "learned",
        floor: float = 0.5,
        background: Background | None = None,
        ontology: str | Ontology = "",
    ) -> None:
        super().__init__(words, threshold, ontology, measure, floor, **nearness.settings(measure, a, b, df))
        self.rarity = Rarity(idf, background)

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        return super().fingerprint, self.rarity.fingerprint

    def _near(self, texts: Sequence[str], reading: Reading) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        _, query, idf = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary)
        return nearness.corley_mihalcea(bags, words, idf, query)
