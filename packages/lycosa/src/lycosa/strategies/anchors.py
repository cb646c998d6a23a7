"""Strategies that score anchors by meaning: distance in an ontology, a cosine with likenesses, synonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.strategies.parents import Merge, Parents, SaidByParents
from lycosa.text import nearness
from lycosa.text.background import Idf, Rarity
from lycosa.text.expansion import Expansion
from lycosa.text.glossary import Glossary
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.meanings import ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import Vocabulary


@dataclass(kw_only=True)
class ByMeaning(SaidByParents):
    """Base of strategies that go by what words mean: by words of their own, whoever judges the pages.

    The topic has to be in words. A URL found on several pages takes the `max` over them, or what `merge` says.
    """

    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: Parents = learned()
    glossary_: Glossary = learned()
    vocabulary_: Vocabulary = learned(Vocabulary)  # of the pages so far, for learned idf

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.glossary_.notes

    def set_up(self, name: str, measure: Measure, floor: float = 0.0, **parameters: float) -> None:
        """Read the topic; an InputError that names the strategy if it has no words."""
        if not self.words:
            raise InputError(
                f"the strategy {name} uses word meanings, and this topic has no words: say what to look for in a few "
                "words, or with --terms FILE"
            )
        source = self.ontology if isinstance(self.ontology, Ontology) else ontology_at(self.ontology)
        self.glossary_ = Glossary(source, self.words, measure, floor, **parameters)
        self.priority_ = Parents(self.merge)

    def learn_words(self, step: Step, table: Table) -> None:
        """Count the page's words, for idf."""
        self.vocabulary_.follow(table.stems)  # probes, which it does not see, number words too
        self.vocabulary_.learn(step.visit)

    def tell(self, step: Step, table: Table, anchors: Scores, page: float | None = None) -> Rows:
        """Merge what the anchors of this page say, or its mean with what the page says, into what others said.

        For each child the most that an anchor of a link to it says counts; 0 where there are no anchors, as in a
        redirect.
        """
        of_children = step.strongest(anchors) if len(step.of_link) else np.zeros(len(step.children))
        return self.priority_.tell(step, table, of_children if page is None else (page + of_children) / 2)


def language_of(step: Step) -> str:
    """The language of the page that was visited; English unless it says otherwise."""
    return code_of(step.visit.language, ENGLISH)


@dataclass
class Ehrig(ByMeaning):
    """priority = sum over the anchor's terms j and the topic's terms k of sim(j, k) tf_j tf_k.

    sim is df to the power of the IS-A links between two terms, 1 for synonyms (`ehrig`, equation 3); 1 if any relation
    connects them directly (`any-1`); or 1 if two IS-A links or fewer do (`is-a-2`). tf alone, not normalised: long
    anchors score higher. The topic has to be in words: see ByMeaning.

    Likenesses below `floor` are left out; the paper leaves none out. All nouns of WordNet are a little alike, and long
    anchors of such words come before a short one on the topic: 300 pages of embedded webs hold 43 on the topic, with
    `floor=.5`, which leaves words that are one link away, 53 (benchmarks/hunts.py; by equal words alone 53, too).

    Paper: Batsakis 2007, section 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003.

    >>> from lycosa.core.types import Links, Visit
    >>> from lycosa.text.ontology import Ontology
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Reefs and atolls", "Home"]))
    >>> best = Ehrig(words="reef", ontology=reefs)
    >>> best.score(best.learn(table.absorb(visit), table), table).tolist()              # .5^0 + .5^1
    [1.5, 0.0]
    """

    measure: Literal["ehrig", "any-1", "is-a-2"] = "ehrig"
    df: float = 0.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        self.set_up("ehrig", self.measure, self.floor, **nearness.settings(self.measure, 0, 0, self.df))

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what the anchors of this page say into what others said."""
        words = self.glossary_.words(language_of(step))
        return self.tell(step, table, nearness.ehrig(words.bags(step.visit.links.anchors), words))


@dataclass
class Ssrm(ByMeaning):
    """priority = sum over j and k of sim(j, k) w_j w_k / (sqrt(sum of w_j^2) sqrt(sum of w_k^2)), j in the anchor, k in
    the topic.

    sim is `li`, exp(-a L) tanh(b H) with L the IS-A links between two terms and H the depth of what is above both
    (equation 4); or `path`, `depth`, `ehrig` with `df` (see lycosa.text.similarity). w = tf idf: tf is how often a term
    is there, idf `learned` from the pages so far, of the `background` that comes with the package, or `none`, as for
    the judge `vector`. The topic has to be in words: see ByMeaning.

    Likenesses below `floor` are left out; the paper leaves none out. Nearly all nouns of WordNet are alike by .2 or so,
    which drowns the few that matter: 300 pages of embedded webs hold 36 on the topic, with `floor=.8`, which leaves
    words that are one link away, 54 (benchmarks/hunts.py; by equal words alone 53).

    Paper: Batsakis 2007, section 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after Varelas et
    al. 2005.

    >>> from lycosa.core.types import Links, Visit
    >>> from lycosa.text.ontology import Ontology
    >>> reefs = Ontology.build(
    ...     {"land": [], "reef": ["reef"], "atoll": ["atoll"]}, broader=[("reef", "land"), ("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Atolls", "Home"]))
    >>> best = Ssrm(words="reef", ontology=reefs)
    >>> best.score(best.learn(table.absorb(visit), table), table).round(3).tolist()     # exp(-.2 * 1) * tanh(.6 * 1)
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
        """Merge what the anchors of this page say into what others said, by the idf of now."""
        self.learn_words(step, table)
        words = self.glossary_.words(language_of(step))
        bags = words.bags(step.visit.links.anchors)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity_, self.vocabulary_, "raw")
        return self.tell(step, table, nearness.ssrm(bags, words, weights, query))


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
