"""Judges that go by meaning: by distance in an ontology, a cosine with likenesses, synonyms, or the nearest words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Judgement, Page
from lycosa.judges.base import StatelessJudge, facet_texts
from lycosa.text import nearness
from lycosa.text.background import Background, Idf, Rarity
from lycosa.text.expansion import Expansion
from lycosa.text.glossary import Glossary
from lycosa.text.meanings import ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import PageWords


class OntologyJudge(StatelessJudge):
    """Judges the page as a whole, and each link by its anchor; contexts and addresses where a strategy wants them.

    Subclasses say how near texts are (`_near`), and what that means for a page (`_said`). On pages in other languages
    than English, WordNet knows no word, and only words that are the same count.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float,
        ontology: str | Ontology,
        measure: Measure,
        floor: float = 0.0,
        **parameters: float,
    ) -> None:
        self.floor = floor
        self.words, self.threshold = words, threshold
        self.ontology = ontology if isinstance(ontology, Ontology) else ontology_at(ontology)
        self.glossary = Glossary(self.ontology, words, measure, floor, **parameters)

    @property
    def notes(self) -> list[str]:
        return self.glossary.notes

    @property
    def weights(self) -> dict[str, float]:
        return dict(zip(self.glossary.topic, self.glossary.weights.tolist(), strict=True))

    @property
    def fingerprint(self) -> object:
        like = self.glossary.likeness
        return self.weights, like.measure, like.parameters, self.floor, self.ontology.digest

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Score the page, its anchors, and what else is wanted of links."""
        assert isinstance(reading, PageWords), (
            "a judge of meanings needs a reader; pass reader=Vocabulary() to the engine"
        )
        judgement = Judgement(*self._said(page, reading))
        for name in self.facets:
            judgement.facets[name] = self._near(facet_texts(page.links, name), reading).astype(np.float32)
        return judgement

    def _said(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        """beta and alphas; page and anchors are read at once, which takes little longer than one of them."""
        near = self._near(texts_of(page), reading)
        return float(near[0]), near[1:].astype(np.float32)

    def _near(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        raise NotImplementedError


def texts_of(page: Page) -> list[str]:
    """All words of a page, and then its anchors."""
    return [f"{page.title}\n{page.text}", *page.links.anchors]


_ALL_ALIKE = Rarity("none")


class EhrigJudge(OntologyJudge):
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
    >>> said = EhrigJudge("reef", ontology=reefs, literal=True).judge(page, Vocabulary().read(page))
    >>> said.relevance                                                                       # .5^1 * 2 * 1
    1.0

    Paper: Batsakis 2007, sections 2.4 and 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003, who judge pages by an
    ontology of their topic. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.25,  # by F1: precision 97 % in five test webs, 40 % in an encyclopaedia; recall 100, 57 %
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
        return super().fingerprint, self.literal

    def _said(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        if self.literal:
            return super()._said(page, reading)
        words = self.glossary.words(reading.language)
        bags = words.bags(texts_of(page))
        weights, query, _ = nearness.tf_idf(bags, words, _ALL_ALIKE, reading.vocabulary)
        relevance = nearness.ssrm(bags, words, weights, query)[0]
        return float(relevance), nearness.ehrig(bags, words)[1:].astype(np.float32)

    def _near(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        return nearness.ehrig(words.bags(texts), words)


class SsrmJudge(OntologyJudge):
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
    >>> said = SsrmJudge("reef", ontology=reefs, floor=0, idf="none").judge(page, Vocabulary().read(page))
    >>> round(said.relevance, 3)                                                             # exp(-.2 * 1) * tanh(.6 * 1)
    0.44

    Paper: Batsakis 2007, sections 2.4 and 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after
    Varelas et al. 2005. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.1,  # F1 is best at .22 in five test webs, at .08 in an encyclopaedia
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
        return super().fingerprint, self.tf, self.rarity.fingerprint

    def _near(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary, self.tf)
        return nearness.ssrm(bags, words, weights, query)


class SynsetExpansionJudge(OntologyJudge):
    """beta = cosine of the page and the topic widened by its synonyms; alpha = the same of the widened anchor.

    A synonym, in any sense of the word or phrase that it came from, takes the weight of that one. The page is not
    widened. Weights are (1 + log tf) idf, of stems. See lycosa.text.expansion for phrases, and `vector` for idf.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> cars = Ontology.build({"car": ["car", "automobile"]}, broader=[])
    >>> page = Page("ok", marked="an automobile")
    >>> judge = SynsetExpansionJudge("car", ontology=cars)
    >>> round(judge.judge(page, Vocabulary().read(page)).relevance, 3)       # (0, 1) and (1, 1): 1 / sqrt(2)
    0.707

    Paper: Batsakis 2007, 3.3 (numbered 3.2.3), the two similarities of equation 10; their mean is what the strategy of
    this name ranks links by.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.06,  # by F1; below that of `vector`: synonyms lengthen the topic's vector
        *,
        idf: Idf = "learned",
        background: Background | None = None,
        ontology: str | Ontology = "",
    ) -> None:
        super().__init__(words, threshold, ontology, "path")
        self.expansion = Expansion(self.glossary, Rarity(idf, background))

    @property
    def fingerprint(self) -> object:
        return super().fingerprint, self.expansion.rarity.fingerprint

    def _said(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        relevance = self.expansion.page(reading.terms, reading.vocabulary, reading.language)
        return relevance, self._near(page.links.anchors, reading).astype(np.float32)

    def _near(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        return self.expansion.anchors(texts, reading.vocabulary, reading.language)


class CorleyMihalceaJudge(OntologyJudge):
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
    >>> judge = CorleyMihalceaJudge("reef", ontology=reefs, measure="ehrig", idf="none")
    >>> judge.judge(page, Vocabulary().read(page)).relevance                                 # ((.5 + 0) / 2 + .5 / 1) / 2
    0.375

    Paper: Corley, Mihalcea 2005, equation 1; named in Batsakis 2007, 2.4. They compare nouns with nouns and verbs with
    verbs, and other words by their letters, by one of six measures; here terms are of no part of speech, and the
    measures are those of the thesis.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.48,  # by F1: precision 93 % in five test webs, 40 % in an encyclopaedia; recall 100, 65 %
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
        return super().fingerprint, self.rarity.fingerprint

    def _near(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        _, query, idf = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary)
        return nearness.corley_mihalcea(bags, words, idf, query)
