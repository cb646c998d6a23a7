"""Judges that use an ontology such as WordNet to match words of similar meaning."""

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
from lycosa.text.meanings import load_ontology
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import PageWords


class OntologyJudge(StatelessJudge):
    """Base class of judges that compare the page as a whole and the anchor of each link; contexts and URLs on request.

    Subclasses define the similarity of texts (`_similarities`) and may override its use for pages (`_judge_page`).
    WordNet is English: on pages in other languages only identical words match.
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
        self.ontology = ontology if isinstance(ontology, Ontology) else load_ontology(ontology)
        self.glossary = Glossary(self.ontology, words, measure, floor, **parameters)

    @property
    def notes(self) -> list[str]:
        return self.glossary.notes

    @property
    def weights(self) -> dict[str, float]:
        return dict(zip(self.glossary.topic, self.glossary.weights.tolist(), strict=True))

    @property
    def fingerprint(self) -> object:
        similarity = self.glossary.similarity
        return self.weights, similarity.measure, similarity.parameters, self.floor, self.ontology.digest

    def judge(self, page: Page, reading: Any) -> Judgement:
        assert isinstance(reading, PageWords), "the judge needs a reader; pass reader=Vocabulary() to the engine"
        judgement = Judgement(*self._judge_page(page, reading))
        for name in self.facets:
            judgement.facets[name] = self._similarities(facet_texts(page.links, name), reading).astype(np.float32)
        return judgement

    def _judge_page(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        """Return beta and the alphas, computed in one call, which takes little longer than the page alone."""
        similarities = self._similarities(texts_of(page), reading)
        return float(similarities[0]), similarities[1:].astype(np.float32)

    def _similarities(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        raise NotImplementedError


def texts_of(page: Page) -> list[str]:
    return [f"{page.title}\n{page.text}", *page.links.anchors]


_NO_IDF = Rarity("none")


class EhrigJudge(OntologyJudge):
    """Ehrig's similarity: alpha = sum over anchor terms j and topic terms k of sim(j, k) tf_j tf_k, not normalised.

    sim is df to the power of the number of IS-A links between two terms (`ehrig`, equation 3), or 1 if any relation
    connects them directly (`any-1`), or 1 if at most two IS-A links do (`is-a-2`). tf is the term frequency. Terms are
    base forms of words, and phrases of the ontology.

    For a whole page the sum grows with its length, because nearly every word is slightly similar to the topic. So beta
    uses 1 + log tf for tf, ignores similarities below `floor`, and is divided by the lengths of both vectors. (Mean
    average precision for ten classes of an encyclopaedia: .53; .18 for the plain sum, .37 for the sum by the number of
    words.) `floor` applies to anchors as well. `literal=yes` uses the plain sum of all similarities for pages, too.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> page = Page("ok", marked="atoll, atoll, sea")
    >>> judge = EhrigJudge("reef", ontology=reefs, literal=True)
    >>> judge.judge(page, Vocabulary().read(page)).relevance                                 # .5^1 * 2 * 1
    1.0

    Paper: Batsakis 2007, sections 2.4 and 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003, who judge pages by an
    ontology of their topic. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        # best F1: precision 97 % and recall 100 % in five test webs, 40 % and 57 % in an encyclopaedia
        threshold: float = 0.25,
        *,
        measure: Literal["ehrig", "any-1", "is-a-2"] = "ehrig",
        df: float = 0.5,
        floor: float = 0.5,
        literal: bool = False,
        ontology: str | Ontology = "",
    ) -> None:
        parameters = {"df": df} if measure == "ehrig" else {}
        super().__init__(words, threshold, ontology, measure, 0.0 if literal else floor, **parameters)
        self.literal = literal

    @property
    def fingerprint(self) -> object:
        return super().fingerprint, self.literal

    def _judge_page(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        if self.literal:
            return super()._judge_page(page, reading)
        words = self.glossary.words(reading.language)
        bags = words.bags(texts_of(page))
        weights, query, _ = nearness.tf_idf(bags, words, _NO_IDF, reading.vocabulary)
        relevance = nearness.ssrm(bags, words, weights, query)[0]
        return float(relevance), nearness.ehrig(bags, words)[1:].astype(np.float32)

    def _similarities(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        return nearness.ehrig(words.bags(texts), words)


class SsrmJudge(OntologyJudge):
    """Soft cosine: alpha = sum over j and k of sim(j, k) w_j w_k / (sqrt(sum of w_j^2) sqrt(sum of w_k^2)).

    j are the terms of the anchor, k those of the topic, w = tf idf. sim is `li`, exp(-a L) tanh(b H), with L the number
    of IS-A links between two terms and H the depth of their common ancestor (equation 4); or `path`, `depth`, `ehrig`
    (see lycosa.text.similarity). If only equal terms are similar it is the cosine; otherwise it may exceed 1. beta is
    the same for the page.

    Similarities below `floor` are ignored, in pages and anchors; 0 keeps all, as in the paper. Nearly all nouns of
    WordNet have a similarity of about .2, and a page has hundreds, so without a floor pages are ranked by length (mean
    average precision for ten classes of an encyclopaedia: .14; .48 at .8, which keeps words one link away; .49 at .9,
    synonyms; .52 with equal terms alone). The authors of SSRM, too, expand a query only by terms of similarity .9 or
    more. Near the root of an ontology `li` is below .8 even for synonyms: use `measure=ehrig,floor=.5` with a small
    ontology of your own.

    tf: `log` is 1 + log f with f the term frequency; `raw` is f, as in the thesis (whose f / max f cancels).
    idf: `learned`, `background` or `none`, as for `vector`, with the same default for the same reason.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build(
    ...     {"land": [], "reef": ["reef"], "atoll": ["atoll"]}, broader=[("reef", "land"), ("atoll", "reef")])
    >>> from lycosa.core.types import Page
    >>> page = Page("ok", marked="atoll")
    >>> judge = SsrmJudge("reef", ontology=reefs, floor=0, idf="none")
    >>> round(judge.judge(page, Vocabulary().read(page)).relevance, 3)                     # exp(-.2 * 1) * tanh(.6 * 1)
    0.44

    Paper: Batsakis 2007, sections 2.4 and 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after
    Varelas et al. 2005. The thesis judges anchors only.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 0.1,  # best F1 is at .22 in five test webs, at .08 in an encyclopaedia
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

    def _similarities(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary, self.tf)
        return nearness.ssrm(bags, words, weights, query)


class SynsetExpansionJudge(OntologyJudge):
    """Synonym expansion: beta = cosine of page and expanded topic; alpha = cosine of the expanded anchor and topic.

    A synonym, in any sense of the word or phrase that it belongs to, gets the weight of that word. The page is not
    expanded. Weights are (1 + log tf) idf of stems. See lycosa.text.expansion for phrases, and `vector` for idf.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> cars = Ontology.build({"car": ["car", "automobile"]}, broader=[])
    >>> page = Page("ok", marked="an automobile")
    >>> judge = SynsetExpansionJudge("car", ontology=cars)
    >>> round(judge.judge(page, Vocabulary().read(page)).relevance, 3)       # (0, 1) and (1, 1): 1 / sqrt(2)
    0.707

    Paper: Batsakis 2007, 3.3 (numbered 3.2.3), the two similarities of equation 10; the strategy of the same name ranks
    links by their mean.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        # best F1; below the threshold of `vector`, as synonyms lengthen the vector of the topic
        threshold: float = 0.06,
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

    def _judge_page(self, page: Page, reading: PageWords) -> tuple[float, NDArray[np.float32]]:
        relevance = self.expansion.page(reading.terms, reading.vocabulary, reading.language)
        return relevance, self._similarities(page.links.anchors, reading).astype(np.float32)

    def _similarities(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        return self.expansion.anchors(texts, reading.vocabulary, reading.language)


class CorleyMihalceaJudge(OntologyJudge):
    """Mean similarity: 1/2 (sum_w maxSim(w, Q) idf(w) / sum_w idf(w) + sum_q maxSim(q, T) idf(q) / sum_q idf(q)).

    w are the distinct terms of the text T (the page, or an anchor), q those of the topic Q; maxSim is the similarity to
    the most similar term of the other side. The first half measures the part of the text that is on topic, the second
    the part of the topic that is in the text, which dominates for long pages. The weight of a topic word multiplies its
    idf.

    measure: `li`, `ehrig`, `path` or `depth` (see lycosa.text.similarity).
    idf: `learned`, `background` or `none`, as for `vector`.
    floor: Ignore similarities below this value, in pages and anchors; 0 keeps all, as in the paper. It matters less
    than for the other judges: of 300 pages of embedded webs, 64 are on the topic with .5, and 50 if anchors have no
    floor.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> from lycosa.core.types import Page
    >>> page = Page("ok", marked="atoll sea")
    >>> judge = CorleyMihalceaJudge("reef", ontology=reefs, measure="ehrig", idf="none")
    >>> judge.judge(page, Vocabulary().read(page)).relevance                         # ((.5 + 0) / 2 + .5 / 1) / 2
    0.375

    Paper: Corley, Mihalcea 2005, equation 1; named in Batsakis 2007, 2.4. They compare nouns with nouns and verbs with
    verbs, and other words by their letters, by one of six measures. Departure: terms have no part of speech, and the
    measures are those of the thesis.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        # best F1: precision 93 % and recall 100 % in five test webs, 40 % and 65 % in an encyclopaedia
        threshold: float = 0.48,
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

    def _similarities(self, texts: Sequence[str], reading: PageWords) -> NDArray[np.float64]:
        words = self.glossary.words(reading.language)
        bags = words.bags(texts)
        _, query, idf = nearness.tf_idf(bags, words, self.rarity, reading.vocabulary)
        return nearness.corley_mihalcea(bags, words, idf, query)
