"""Link-context prediction: equation 4 of OTIE, by hand."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.otie import LinkContext


def teach(guide: LinkContext, table: Table, node: str, beta: float, links: Links) -> list[float]:
    """Feed a page and return the priorities of its links."""
    table.add_seed(node)
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=beta, links=links))
    assert step is not None
    return list(guide.priority(guide.learn(step, table), table).tolist())


def around(urls: str, contexts: list[float], link_relevances: list[float] | None = None) -> Links:
    """Return links with these context and link relevances."""
    links = Links.to(*urls)
    links.link_relevances = np.array(link_relevances or [0.0] * len(urls), np.float32)
    links.facets = {"context": np.array(contexts, np.float32)}
    return links


@pytest.mark.paper("otie-link-context", "otie-eq4")
@pytest.mark.parametrize(
    ("page", "expected"), [(0.25, 0.25 * 0.8 + 0.75 * 0.4), (0.5, 0.5 * 0.8 + 0.5 * 0.4), (0.0, 0.4), (1.0, 0.8)]
)
def test_link_context_equation_4(page: float, expected: float) -> None:
    """page * .8 + (1 - page) * .4, for beta .8 and a context of .4; the link relevance of 1 is ignored."""
    guide = LinkContext(page)
    assert [pytest.approx(expected)] == teach(guide, Table(), "p", 0.8, around("c", [0.4], [1.0]))


@pytest.mark.paper("otie-beta")
def test_link_context_default_weight_is_a_quarter() -> None:
    assert (0.25, ("context", "context_score")) == (LinkContext().page, LinkContext().wants)


def test_link_context_takes_best_of_several_links() -> None:
    """A page with two links to a URL: .25 * .8 + .75 * max(.2, .6) = .65."""
    guide = LinkContext()
    assert [pytest.approx(0.65), pytest.approx(0.2)] == teach(guide, Table(), "p", 0.8, around("cdc", [0.2, 0.0, 0.6]))


def test_link_context_falls_back_to_link_relevance() -> None:
    """.25 * .8 + .75 * .4."""
    links = Links.to("c")
    links.link_relevances = np.array([0.4], np.float32)
    assert [pytest.approx(0.5)] == teach(LinkContext(), Table(), "p", 0.8, links)


def test_link_context_merges_parents() -> None:
    """Three parents: .25 * .8 + .75 * .4 = .5, .25 * .8 + 0 = .2 and .25 * .4 + .75 * .4 = .4."""
    for merge, expected in (("max", 0.5), ("mean", 1.1 / 3)):
        guide, table = LinkContext(merge=merge), Table()  # type: ignore[arg-type]
        teach(guide, table, "p", 0.8, around("c", [0.4]))
        teach(guide, table, "q", 0.8, around("c", [0.0]))
        assert [pytest.approx(expected)] == teach(guide, table, "r", 0.4, around("c", [0.4]))
