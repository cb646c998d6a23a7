"""Anchors that mean something near the topic, each word by its distance in an ontology.

Paper items:
    batsakis-eq8: `--strategy ehrig`. Test: estimators/test_ehrig_crawler.py::test_equation_8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.estimators.anchors import ByMeaning, language_of
from lycosa.text import nearness


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
