"""Out-link count: links of the pages with the most links come first.

Paper items:
    batsakis-out-links: `--strategy out-links`. Test:
        estimators/test_out_links.py::test_the_page_with_the_most_links_counts. Departs: of the page that links to it:
        its own are not known before it is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.estimators.parents import Parents, SaidByParents
from lycosa.estimators.present import linked


@dataclass
class OutLinks(SaidByParents):
    """The score is the number of links on the page where the node was found; the largest, if it was found on several.

    The thesis names "the number of outgoing links of that page" as a measure of importance. A page's own links are not
    known before it is fetched, so we read "that page" as the one that links to it. Links are counted once for each
    node within the scope of the crawl.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998.

    >>> from lycosa.core.types import Links, Visit
    >>> table, out_links = Table(), OutLinks()
    >>> _ = table.add_seed("a")
    >>> visit = Visit("a", "page", "ok", pick=1, links=Links.to("b", "c", "c"))
    >>> out_links.score(out_links.learn(table.absorb(visit), table), table).tolist()
    [2.0, 2.0]
    """

    proportional: ClassVar[bool] = False

    priority_: Parents = learned(Parents)

    def learn(self, step: Step, table: Table) -> Rows:
        """Each link may have been found on a page with more links than those before."""
        return self.priority_.tell(step, table, float(len(linked(step, table))))
