"""Anchors near the topic by a cosine that also counts words of similar meaning.

Paper items:
    batsakis-eq9: `--strategy ssrm,idf=background`. Test: estimators/test_ssrm_crawler.py::test_equation_9. Departs: idf
        is learned while crawling unless `idf=background`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.estimators.anchors import ByMeaning, language_of
from lycosa.text import nearness
from lycosa.text.rarity import Idf, Rarity


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
