"""Best-first with synonyms: a link is worth what its page and its anchor say of the widened topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.estimators.anchors import glossary_of, language_of, of_children
from lycosa.estimators.parents import Merge, Parents, SaidByParents
from lycosa.text.expansion import Expansion
from lycosa.text.ontology import Ontology
from lycosa.text.rarity import Idf, Rarity
from lycosa.text.vocabulary import Vocabulary


@dataclass
class SynsetExpansion(SaidByParents):
    """priority = (cosine of the page and the widened topic + cosine of the widened anchor and the widened topic) / 2.

    Topic and anchor are widened by the synonyms of their words and phrases, each with the weight of the term that it
    came from; the page is not. w = (1 + log tf) idf: idf is `learned` from the pages so far, of the `background` that
    comes with the package, or `none`, as for the judge `vector`. A URL found on several pages takes the `max` over
    them, or what `merge` says. See lycosa.text.expansion for phrases.

    It goes by words of its own, whoever judges the pages. The topic has to be in words.

    Paper: Batsakis 2007, section 3.3 (numbered 3.2.3), equation 10.

    >>> from lycosa.core.types import Links, Page, Visit
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
    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: Parents = field(init=False, repr=False, compare=False)
    expansion_: Expansion = field(init=False, repr=False, compare=False)
    vocabulary_: Vocabulary = field(default_factory=Vocabulary, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        glossary = glossary_of("synset-expansion", self.words, self.ontology, "path")
        self.expansion_, self.priority_ = Expansion(glossary, Rarity(self.idf)), Parents(self.merge)

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.expansion_.glossary.notes

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what this page and its anchors say into what others said, by the idf of now."""
        self.vocabulary_.follow(table.stems)  # probes, which it does not see, number words too
        self.vocabulary_.learn(step.visit)
        language = language_of(step)
        page = self.expansion_.page(step.visit.terms, self.vocabulary_, language)
        anchors = self.expansion_.anchors(step.visit.links.anchors, self.vocabulary_, language)
        return self.priority_.tell(step, table, (page + of_children(step, anchors)) / 2)
