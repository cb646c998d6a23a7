"""Best-first with synonyms: a link is worth what its page and its anchor say of the widened topic.

Paper items:
    batsakis-eq10: `--strategy synset-expansion,literal=yes,idf=background`. Test:
        estimators/test_synset_expansion_crawler.py::test_equation_10_with_the_weights_of_the_thesis. Departs: without
        `literal`, tf is 1 + log f.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.estimators.anchors import ByMeaning, language_of
from lycosa.text.expansion import Expansion
from lycosa.text.rarity import Idf, Rarity


@dataclass
class SynsetExpansion(ByMeaning):
    """priority = (cosine of the page and the widened topic + cosine of the widened anchor and the widened topic) / 2.

    Topic and anchor are widened by the synonyms of their words and phrases, each with the weight of the term that it
    came from; the page is not. w = (1 + log f) idf of a term that is there f times: idf is `learned` from the pages so
    far, of the `background` that comes with the package, or `none`, as for the judge `vector`. See
    lycosa.text.expansion for phrases. The topic has to be in words: see ByMeaning.

    Paper: Batsakis 2007, section 3.3 (numbered 3.2.3), equation 10. Departure: the thesis weighs by f / max f (its
    eq. 1) and idf from elsewhere, which is `literal=yes,idf=background`; plain frequencies let a word that a page
    repeats drown the others (see the judge `vector` for what that costs).

    >>> from lycosa.core.types import Links, Page, Visit
    >>> from lycosa.text.ontology import Ontology
    >>> from lycosa.text.vocabulary import Vocabulary
    >>> cars = Ontology.build({"car": ["car", "automobile"]}, broader=[])
    >>> links, words = Links.to("b", "c", anchors=["Cars", "Home"]), Vocabulary()
    >>> terms = words.read(Page("ok", marked="an automobile")).terms
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=links, terms=terms)
    >>> best = SynsetExpansion(words="car", ontology=cars)
    >>> best.score(best.learn(table.absorb(visit), table), table).round(3).tolist()     # (1 / sqrt(2) + 1 or 0) / 2
    [0.854, 0.354]
    """

    idf: Idf = "learned"
    literal: bool = False
    expansion_: Expansion = learned()

    def __post_init__(self) -> None:
        self.set_up("synset-expansion", "path")
        self.expansion_ = Expansion(self.glossary_, Rarity(self.idf), self.literal)

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what this page and its anchors say into what others said, by the idf of now."""
        self.learn_words(step, table)
        language = language_of(step)
        page = self.expansion_.page(step.visit.terms, self.vocabulary_, language)
        anchors = self.expansion_.anchors(step.visit.links.anchors, self.vocabulary_, language)
        return self.tell(step, table, anchors, page)
