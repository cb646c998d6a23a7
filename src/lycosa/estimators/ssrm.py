"""Anchors near the topic by a cosine that also counts words of similar meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.anchors import glossary_of, language_of, of_children
from lycosa.estimators.parents import Merge, Parents
from lycosa.text import nearness
from lycosa.text.glossary import Glossary
from lycosa.text.ontology import Ontology
from lycosa.text.rarity import Idf, Rarity
from lycosa.text.vocabulary import Vocabulary


@dataclass
class Ssrm:
    """priority = sum over j and k of sim(j, k) w_j w_k / (sqrt(sum of w_j^2) sqrt(sum of w_k^2)), j in the anchor, k in
    the topic.

    sim is `li`, exp(-a L) tanh(b H) with L the IS-A links between two terms and H the depth of what is above both
    (equation 4); or `path`, `depth`, `ehrig` with `df` (see lycosa.text.similarity). w = tf idf: tf is how often a term
    is there, idf `learned` from the pages so far, of the `background` that comes with the package, or `none`, as for
    the judge `vector`. A URL found on several pages takes the `max` over them, or what `merge` says.

    Likenesses below `floor` are left out; the paper leaves none out. Nearly all nouns of WordNet are alike by .2 or so,
    which drowns the few that matter: 300 pages of embedded webs hold 36 on the topic, with `floor=.8`, which leaves
    words that are one link away, 54 (benchmarks/hunts.py; by equal words alone 53).

    It goes by words of its own, whoever judges the pages. The topic has to be in words.

    Paper: Batsakis 2007, section 3.3.2, equations 4 and 9 (the norms are those of the two vectors); after Varelas et
    al. 2005.

    >>> from lycosa.core.types import Links, Visit
    >>> reefs = Ontology.build(
    ...     {"land": [], "reef": ["reef"], "atoll": ["atoll"]}, broader=[("reef", "land"), ("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Atolls", "Home"]))
    >>> best = Ssrm(words="reef", ontology=reefs)
    >>> best.score(best.learn(table.absorb(visit), table), table).round(3).tolist()     # exp(-.2 * 1) * tanh(.6 * 1)
    [0.44, 0.0]
    """

    proportional: ClassVar[bool] = True

    measure: Literal["li", "path", "depth", "ehrig"] = "li"
    a: float = 0.2
    b: float = 0.6
    df: float = 0.5
    idf: Idf = "learned"
    floor: float = 0.0
    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: Parents = field(init=False, repr=False, compare=False)
    glossary_: Glossary = field(init=False, repr=False, compare=False)
    rarity_: Rarity = field(init=False, repr=False, compare=False)
    vocabulary_: Vocabulary = field(default_factory=Vocabulary, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        settings = nearness.settings(self.measure, self.a, self.b, self.df)
        self.glossary_ = glossary_of("ssrm", self.words, self.ontology, self.measure, floor=self.floor, **settings)
        self.priority_, self.rarity_ = Parents(self.merge), Rarity(self.idf)

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.glossary_.notes

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what the anchors of this page say into what others said, by the idf of now."""
        self.vocabulary_.follow(table.stems)  # probes, which it does not see, number words too
        self.vocabulary_.learn(step.visit)
        words = self.glossary_.words(language_of(step))
        bags = words.bags(step.visit.links.anchors)
        weights, query, _ = nearness.tf_idf(bags, words, self.rarity_, self.vocabulary_, "raw")
        likeness = nearness.ssrm(bags, words, weights, query)
        return self.priority_.tell(step, table, of_children(step, likeness))

    def score(self, rows: Rows, table: Table) -> Scores:
        """The merged priority; 0 for a row nobody has linked to."""
        return self.priority_.score(rows, table)
