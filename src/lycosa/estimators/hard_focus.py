"""Hard focus: pages off the topic lead nowhere.

Paper items:
    rules-hard-focus: `--strategy hard-focus`. Test:
        estimators/test_hard_focus.py::test_the_best_class_has_to_be_wanted. Departs: seeds are followed whatever they
        score unless `trust_seeds=no`.
    rules-hard-threshold: `--strategy hard-focus,least=.5`. Test: estimators/test_hard_focus.py::test_the_limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.core.columns import learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step, Visit
from lycosa.estimators.parents import Parents, SaidByParents

LEAST = 0.5
"""The paper's limit for a classifier's score."""


@dataclass
class HardFocus(SaidByParents):
    """Follow the links of pages on the topic only; the crawl is pruned at all others.

    A page is off the topic if its best class is not a wanted one, or if its beta is below a limit. Its links are not
    fetched, unless a page on the topic links to them, too; they are then worth that page's beta, the largest if there
    are several. What no page links to at all is worth 0.

    Parameters:
        least        the limit. Unless given it is .5 for a page that was put into a class, and the topic's own
                     threshold for one that was not (a topic of words has no classes, and its scores their own scale)
        trust_seeds  follow the links of the seeds, whatever they score

    As published, `trust_seeds=no`, the crawl has nothing left to fetch when all seeds are off the topic. The papers
    take their seeds out of a directory's listing of the topic. A person may begin at a portal or a search page, which
    is about nothing, and has then said which links to follow: so seeds are trusted unless told otherwise. A list of
    addresses (a sitemap, a feed) is no page and on no topic: its links are followed always.

    Paper: Altingovde, Ulusoy 2004 (baseline crawler); Chakrabarti, van den Berg, Dom 1999.

    >>> from lycosa.core.types import Links
    >>> table, focus = Table(), HardFocus(trust_seeds=False)
    >>> for node, beta in (("on", .7), ("off", .3)):
    ...     _ = table.add_seed(node)
    ...     links = Links.to(f"only {node}", "both")
    ...     rows = focus.learn(table.absorb(Visit(node, "page", "ok", 1, beta=beta, links=links)), table)
    >>> dict(zip([table.nodes[row] for row in rows], (focus.score(rows, table) > PRUNED).tolist()))
    {'only off': False, 'both': True}
    """

    least: float | None = None
    trust_seeds: bool = True
    threshold: float | None = None
    priority_: Parents = learned(Parents)

    def learn(self, step: Step, table: Table) -> Rows:
        """Let the page speak for its links, or against them."""
        trusted = step.visit.kind == "sitemap" or (self.trust_seeds and bool(table.is_seed[step.row]))
        follow = trusted or self.on_topic(step.visit)
        return self.priority_.tell(step, table, max(0.0, step.visit.beta) if follow else PRUNED)

    def on_topic(self, visit: Visit) -> bool:
        """Whether the links of a page may be followed."""
        wanted = visit.data.get("target")
        least = self.least
        if least is None:
            least = LEAST if wanted is not None or self.threshold is None else self.threshold
        return wanted is not False and visit.beta >= least
