"""Anchors that mean something near the topic, each word by its distance in an ontology."""

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


@dataclass
class Ehrig:
    """priority = sum over the anchor's terms j and the topic's terms k of sim(j, k) tf_j tf_k.

    sim is df to the power of the IS-A links between two terms, 1 for synonyms (`ehrig`, equation 3); 1 if any relation
    connects them directly (`any-1`); or 1 if two IS-A links or fewer do (`is-a-2`). tf alone, not normalised: long
    anchors score higher. A URL found on several pages takes the `max` over them, or what `merge` says.

    Likenesses below `floor` are left out; the paper leaves none out. All nouns of WordNet are a little alike, and long
    anchors of such words come before a short one on the topic: 300 pages of embedded webs hold 43 on the topic, with
    `floor=.5`, which leaves words that are one link away, 53 (benchmarks/hunts.py; by equal words alone 53, too).

    It goes by words of its own, whoever judges the pages. The topic has to be in words.

    Paper: Batsakis 2007, section 3.3.1, equations 3 and 8; after Ehrig, Maedche 2003.

    >>> from lycosa.core.types import Links, Visit
    >>> reefs = Ontology.build({"reef": ["reef"], "atoll": ["atoll"]}, broader=[("atoll", "reef")])
    >>> table = Table(); _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", anchors=["Reefs and atolls", "Home"]))
    >>> best = Ehrig(words="reef", ontology=reefs)
    >>> best.score(best.learn(table.absorb(visit), table), table).tolist()              # .5^0 + .5^1
    [1.5, 0.0]
    """

    proportional: ClassVar[bool] = True

    measure: Literal["ehrig", "any-1", "is-a-2"] = "ehrig"
    df: float = 0.5
    floor: float = 0.0
    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: Parents = field(init=False, repr=False, compare=False)
    glossary_: Glossary = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        settings = nearness.settings(self.measure, 0, 0, self.df)
        self.glossary_ = glossary_of("ehrig", self.words, self.ontology, self.measure, floor=self.floor, **settings)
        self.priority_ = Parents(self.merge)

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.glossary_.notes

    def learn(self, step: Step, table: Table) -> Rows:
        """Merge what the anchors of this page say into what others said."""
        words = self.glossary_.words(language_of(step))
        likeness = nearness.ehrig(words.bags(step.visit.links.anchors), words)
        return self.priority_.tell(step, table, of_children(step, likeness))

    def score(self, rows: Rows, table: Table) -> Scores:
        """The merged priority; 0 for a row nobody has linked to."""
        return self.priority_.score(rows, table)
