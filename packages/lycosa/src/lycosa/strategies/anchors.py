"""Strategies that rank links by the meaning of their anchors: ontology distance, semantic cosine, synonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.parents import Merge, MergedPriorities, PriorityFromParents
from lycosa.text import nearness
from lycosa.text.background import Idf, Rarity
from lycosa.text.expansion import Expansion
from lycosa.text.glossary import Glossary
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.meanings import load_ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import Vocabulary


@dataclass(kw_only=True)
class OntologyStrategy(PriorityFromParents):
    """Base of strategies that rank links by word meaning, independently of the judge; they need a topic in words."""

    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: MergedPriorities = learned()
    glossary_: Glossary = learned()
    vocabulary_: Vocabulary = learned(Vocabulary)  # statistics of the pages so far for `idf=learned`

    @property
    def notes(self) -> list[str]:
        return self.glossary_.notes

    def set_up(self, name: str, measure: Measure, floor: float = 0.0, **parameters: float) -> None:
        """Parse the topic; raise InputError if it has no words."""
        if not self.words:
            hint = "describe the topic in a few words, or with --terms FILE"
            message = f"the strategy {name} uses word meanings, and this topic has no words: {hint}"
            raise InputError("no-topic-words", message)
        source = self.ontology if isinstance(self.ontology, Ontology) else ontology_at(self.ontology)
        self.glossary_ = Glossary(source, self.words, measure, floor, **parameters)
        self.priority_ = MergedPriorities(self.merge)

    def learn_words(self, step: Step, table: Table) -> None:
        self.vocabulary_.follow(table.stems)  # includes words of probe pages, which strategies do not see
        self.vocabulary_.learn(step.visit)

    def update(self, step: Step, table: Table, anchors: Priorities, page: float | None = None) -> Rows:
        """Merge the best anchor score of each link of a page, averaged with the page's own score if given."""
        of_children = step.strongest(anchors) if len(step.of_link) else np.zeros(len(step.children))
        return self.priority_.update(step, table, of_children if page is None else (page + of_children) / 2)


def language_of(step: Step) -> str:
    return code_of(step.visit.language, ENGLISH)


@dataclass
class EhrigStrategy(OntologyStrategy):
    """Ehrig's similarity: priority = sum over terms j of the anchor and k of the topic of sim(j, k) tf_j tf_k.

    sim is df to the power of the number of IS-A links between two terms, 1 for synonyms (`ehrig`, equation 3); 1 for
    terms connected directly by any relation (`any-1`); or 1 for terms at most two IS-A links apart (`is-a-2`). tf is
    the plain frequency, not normalised, so long anchors score higher. Needs a topic in words.

    Similarities below `floor` count as 0; the paper has no floor. All nouns of WordNet are slightly similar, so without
    one, long anchors of unrelated words outrank a short anchor on the topic: 300 pages of embedded webs contain 43
    relevant ones, with `floor=.5` (words one link apart) 53 (benchmarks/hunts.py; equal words alone also give 53).

    Paper: Batsakis 2007, section 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003.

    >>> from lycosa.core.types import Links, Visit
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Reefs and atolls", "Home"]))
    >>> best = EhrigStrategy(words="reef", ontology=reefs)
    >>> best.priority(best.learn(table.absorb(visit), table), table).tolist()              # .5^0 + .5^1
    [1.5, 0.0]
    """

    measure: Literal["ehrig", "any-1", "is-a-2"] = "ehrig"
    df: float = 0.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        self.set_up("ehrig", self.measure, self.floor, **nearness.settings(self.measure, 0, 0, self.df))

    def learn(self, step: Step, table: Table) -> Rows:
        words = self.glossary_.words(language_of(step))
        return self.update(step, table, nearness.ehrig(words.bags(step.visit.links.anchors), words))


@dataclass
class SsrmStrategy(OntologyStrategy):
    """Soft cosine: priority = sum over j, k of sim(j, k) w_j w_k / (|w_j| |w_k|), j in the anchor, k in the topic.

    sim is `li`, exp(-a L) tanh(b H), with L the number of IS-A links between two terms and H the depth of their common
    ancestor (equation 4); or `path`, `depth`, or `ehrig` with `df` (see lycosa.text.similarity). w = tf idf with plain
    frequencies; idf is `learned` from the pages so far, taken from the bundled `background` statistics, or `none`, as
    for the judge `vector`. Needs a topic in words.

    Similarities below `floor` count as 0; the paper has no floor. Nearly all nouns of WordNet have a similarity of
    about .2, which outweighs the few relevant similarities: 300 pages of embedded webs contain 36 relevant ones, with
    `floor=.8` (words one link apart) 54 (benchmarks/hunts.py; equal words alone give 53).

    Paper: Batsakis 2007, section 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after Varelas et
    al. 2005.

    >>> from lycosa.core.types import Links, Visit
    >>> reefs = Ontology.build(
    ...     {"land": [], "reef": ["reef"], "atoll": ["atoll"]}, broader=[("reef", "land"), ("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Atolls", "Home"]))
    >>> best = SsrmStrategy(words="reef", ontology=reefs)
    >>> best.priority(best.learn(table.absorb(visit), table), table).round(3).tolist()     # exp(-.2 * 1) * tanh(.6 * 1)
    [0.44, 0.0]
    """

    measure: Literal["li", "path", "depth", "ehrig"] = "li"
    a: float = 0.2
    b: float = 0.6
    df: float = 0.5
    idf: Idf = "learned"
    floor: float = 0.0
    rarity_: Rarity = learned()

    def __post_init__(self) -> None:
        self.set_up("ssrm", self.measure, self.floor, **nearness.settings(self.measure, self.a, self.b, self.df))
        self.rarity_ = Rarity(self.idf)

    def learn(self, step: Step, table: Table) -> Rows:
        self.learn_words(step, table)
        words = self.glossary_.words(language_of(step))
        bags = words.bags(step.visit.links.anchors)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity_, self.vocabulary_, "raw")
        return self.update(step, table, nearness.ssrm(bags, words, weights, query))


@dataclass
class SynsetExpansionStrategy(OntologyStrategy):
    """Synonym expansion: priority = mean cosine of the page and the expanded anchor with the expanded topic.

    Topic and anchor are expanded with the synonyms of their words and phrases, each weighted like the term it came
    from; the page is not expanded. w = (1 + log f) idf for a term with frequency f; idf is `learned` from the pages so
    far, taken from the bundled `background` statistics, or `none`, as for the judge `vector`. See lycosa.text.expansion
    for phrases. Needs a topic in words.

    Paper: Batsakis 2007, section 3.3 (numbered 3.2.3), equation 10. Departure: the thesis weighs by f / max f (its eq.
    1) and precomputed idf; `literal=yes,idf=background` does the same. Plain frequencies let one repeated word dominate
    a page (see the judge `vector` for the cost).

    >>> from lycosa.core.types import Links, Page, Visit
    >>> cars = Ontology.build({"car": ["car", "automobile"]}, broader=[])
    >>> links, words = Links.to("b", "c", anchors=["Cars", "Home"]), Vocabulary()
    >>> terms = words.read(Page("ok", marked="an automobile")).terms
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=links, terms=terms)
    >>> best = SynsetExpansionStrategy(words="car", ontology=cars)
    >>> best.priority(best.learn(table.absorb(visit), table), table).round(3).tolist()     # (1 / sqrt(2) + 1 or 0) / 2
    [0.854, 0.354]
    """

    idf: Idf = "learned"
    literal: bool = False
    expansion_: Expansion = learned()

    def __post_init__(self) -> None:
        self.set_up("synset-expansion", "path")
        self.expansion_ = Expansion(self.glossary_, Rarity(self.idf), self.literal)

    def learn(self, step: Step, table: Table) -> Rows:
        self.learn_words(step, table)
        language = language_of(step)
        page = self.expansion_.page(step.visit.terms, self.vocabulary_, language)
        anchors = self.expansion_.anchors(step.visit.links.anchors, self.vocabulary_, language)
        return self.update(step, table, anchors, page)
