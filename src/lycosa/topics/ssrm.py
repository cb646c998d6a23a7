"""A cosine that also counts words of similar meaning."""

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

THRESHOLD = 0.1
"""A compromise, by F1: of the pages with it or more, 93 % are on the topic in five embedded webs, and 53 % in nine
small classes of an encyclopaedia; of the pages on the topic, all and 52 % have it. (.22 and .08 would be best.)"""


class Ssrm(Meaning):
    """alpha = sum over j and k of sim(j, k) w_j w_k / (sqrt(sum of w_j^2) sqrt(sum of w_k^2)): cosine with likenesses.

    j are the terms of the anchor, k those of the topic, w = tf idf. sim is `li`, exp(-a L) tanh(b H), with L the IS-A
    links between two terms and H the depth of what is above both (equation 4); or `path`, `depth`, `ehrig` (see
    lycosa.text.similarity). With no likeness but that of equal terms it is the cosine; with more it may be above 1.

    beta is the same of the page. Likenesses below `floor` are left out, in pages and anchors; 0 leaves all in, as the
    paper has it. Nearly all nouns of WordNet are alike by .2 or so, and a page has hundreds: with all of them pages are
    ranked by their length (mean average precision for ten classes of an encyclopaedia: .14; .48 at .8, which leaves
    words one link away; .49 at .9, synonyms; .52 with equal terms alone). The authors of SSRM widen a query only by
    terms alike by .9 or more, too. Near the top of an ontology `li` is below .8 even for synonyms: with a small one of
    your own take `measure=ehrig,floor=.5`.

    tf: `log` is 1 + log f, f how often a term is there; `raw` is f, as the thesis has it (its f / max f is a factor
    that cancels). idf: `learned`, `background`, `none`, as for `vector`, with the same default for the same reason.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build(
    ...     {"land": [], "reef": ["reef"], "atoll": ["atoll"]}, broader=[("reef", "land"), ("atoll", "reef")])
    >>> from lycosa.core.types import Page
    >>> page = Page("ok", marked="atoll")
    >>> said = Ssrm("reef", ontology=reefs, floor=0, idf="none").judge(page, Vocabulary().read(page))
    >>> round(said.beta, 3)                                                             # exp(-.2 * 1) * tanh(.6 * 1)
    0.44

    Paper: Batsakis 2007, sections 2.4 and 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after
    Varelas et al. 2005. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = THRESHOLD,
        *,
        measure: Literal["li", "path", "depth", "ehrig"] = "li",
        a: float = 0.2,
        b: float = 0.6,
        df: float = 0.5,
        tf: nearness.Tf = "log",
        idf: Idf = "learned",
        floor: float = 0.8,
        background: Background | None = None,
        ontology: str | Ontology = "",
    ) -> None:
        super().__init__(words, threshold, ontology, measure, floor, **nearness.settings(measure, a, b, df))
        self.tf, self.rarity = tf, Rarity(idf, background)

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        return super().fingerprint, self.tf, self.rarity.fingerprint

    def _near(self, texts: Sequence[str], reading: Reading) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary, self.tf)
        return nearness.ssrm(bags, words, weights, query)
