"""Tests of OTIE and link-context prediction: each equation by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.core.table import Table
from lycosa.core.types import Links, Page, Visit
from lycosa.judges.base import set_facets
from lycosa.judges.model import TrainedModel
from lycosa.judges.model_judge import ModelJudge
from lycosa.judges.vector_judge import VectorJudge
from lycosa.strategies.otie import LinkContext, Otie
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary
from teaching import score, see, seeded


def teach_otie(otie: Otie, table: Table, node: str, beta: float, **contexts: float) -> None:
    """Feed a page with links of these context relevances."""
    links = Links.to(*contexts)
    links.facets["context"] = np.array(list(contexts.values()), np.float32)
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=beta, links=links))
    assert step is not None
    otie.learn(step, table)


@pytest.mark.paper("otie-eq3", "otie-a-d")
@pytest.mark.parametrize(
    ("r", "factor"),
    [
        (1.0, 1 + 0.85 * 1),  # (2 - 1)^3 = 1
        (0.5, 1 + 0.85 * 0),
        (0.0, 1 - 0.85 * 1),  # (0 - 1)^3 = -1
        (0.75, 1 + 0.85 * 0.125),  # .5^3 = .125
        (0.25, 1 - 0.85 * 0.125),
    ],
)
def test_revise_equation_3(r: float, factor: float) -> None:
    """By equation 3 the revised cash is cash + cash * a (2r - 1)^d, with a = .85 and d = 3."""
    otie, table = Otie(scale="none"), seeded("s")
    teach_otie(otie, table, "s", r, x=1.0)
    assert [pytest.approx(factor)] == score(otie, table, "x")
    assert pytest.approx(factor - 1) == otie.revised_


def test_revise_removes_at_most_all_cash() -> None:
    """The change is at least -1 times the cash: max(-1, -2) for a = 2 and r = 0."""
    otie, table = Otie(a=2.0, scale="none"), seeded("s")
    teach_otie(otie, table, "s", 0.0, x=1.0)
    assert [0.0] == score(otie, table, "x")


@pytest.mark.paper("otie-odd-power")
def test_revise_even_power_keeps_sign() -> None:
    """An even power keeps its sign: for d = 2 and r = .25, (2r - 1)^2 is taken as -(.5^2) = -.25."""
    otie, table = Otie(a=1.0, d=2.0, scale="none"), seeded("s")
    teach_otie(otie, table, "s", 0.25, x=1.0)
    assert [pytest.approx(1 - 0.25)] == score(otie, table, "x")


@pytest.mark.paper("otie-eq1")
def test_weights_of_unfetched_pages_by_hand() -> None:
    """Cash is shared by sim' (eq. 1 and 4): x .25 * .5 + .75 * .8 = .725, y .25 * .5 + .75 * .1 = .2; beta is .5."""
    otie, table = Otie(scale="none"), seeded("s")
    teach_otie(otie, table, "s", 0.5, x=0.8, y=0.1)
    assert pytest.approx([0.725 / 0.925, 0.2 / 0.925]) == score(otie, table, "x", "y")


@pytest.mark.paper("otie-eq2")
def test_weights_of_fetched_page_use_its_relevance() -> None:
    """A fetched page counts with its beta: .6 for x; y counts with its prediction, .25 * .5 + .75 * 1 = .875."""
    otie, table = Otie(scale="none", period=0), seeded("s", "t")
    teach_otie(otie, table, "s", 0.5, x=0.1)  # gives 1 to x
    teach_otie(otie, table, "x", 0.6, z=0.1)  # gives 1 + .85 * .2^3 = 1.0068 to z
    teach_otie(otie, table, "t", 0.5, x=1.0, y=1.0)
    assert pytest.approx([0.6 / 1.475, 0.875 / 1.475, 1.0068]) == score(otie, table, "x", "y", "z")


def test_weights_are_equal_if_all_are_0() -> None:
    """With beta and all contexts 0, each of the two links gets half of the remaining .15."""
    otie, table = Otie(scale="none"), seeded("s")
    teach_otie(otie, table, "s", 0.0, x=0.0, y=0.0)
    assert pytest.approx([0.075, 0.075]) == score(otie, table, "x", "y")


def test_running_scale_divides_by_largest() -> None:
    """r is relevance divided by the largest so far: .2 / .2, .1 / .2, then .05 / .4 after a page with .4."""
    otie, table = Otie(), seeded("a", "b", "c", "d")
    teach_otie(otie, table, "a", 0.2, x=1.0)
    teach_otie(otie, table, "b", 0.1, y=1.0)
    teach_otie(otie, table, "c", 0.4, z=1.0)
    teach_otie(otie, table, "d", 0.05, w=1.0)
    assert pytest.approx([1.85, 1.0, 1.85, 1 + 0.85 * (0.25 - 1) ** 3]) == score(otie, table, "x", "y", "z", "w")


def test_revise_keeps_cash_while_all_pages_are_0() -> None:
    otie, table = Otie(), seeded("a")
    teach_otie(otie, table, "a", 0.0, x=1.0)
    assert [1.0] == score(otie, table, "x")


def test_second_giving_by_hand() -> None:
    """The richest page with links gives again at the end of a period: x at step 3, 1.85 times its cash, by sim'.

    Step 1: s gives x 1.85. Step 2: x gives 1.85^2 to z (.25 + .75 * .4 = .55) and w (.25 + .75 * .8 = .85). Step 3: t
    gives x 1.85, which x passes on at once as 1.85^2.
    """
    otie, table = Otie(scale="none", period=3), seeded("s", "t")
    teach_otie(otie, table, "s", 1.0, x=1.0)
    teach_otie(otie, table, "x", 1.0, z=0.4, w=0.8)
    teach_otie(otie, table, "t", 1.0, x=1.0)
    each = 1.85**2
    expected = [0.0, 2 * each * 0.55 / 1.4, 2 * each * 0.85 / 1.4]
    assert pytest.approx(expected) == score(otie, table, "x", "z", "w")


def test_failures_and_sitemaps_are_not_revised() -> None:
    otie, table = Otie(scale="none"), seeded("s", "t")
    see(otie, table, Visit("s", "sitemap", "ok", 1, links=Links.to("x", "y")))
    see(otie, table, Visit("t", "page", "gone", 2))
    assert [0.5, 0.5] == score(otie, table, "x", "y")
    assert 1.0 == otie.pool_
    assert 0.0 == otie.revised_


class Spoken:
    """Classifier of three words: P(wanted) is .8 for 'coral', .9 for 'reef', .3 for 'tank'."""

    kind = name = "spoken"

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        said = np.array([0.8, 0.9, 0.3])[bags.columns[bags.starts[:-1]]]
        return np.column_stack([said, 1 - said])

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        return {}


def classified(strategy: Otie | LinkContext) -> list[float]:
    """Return the priorities of x ('reef') and y ('tank') on a page of 'coral'; the prior is 2 of 5 pages, .4."""
    topic = ModelJudge(TrainedModel(["Sea", "Trains"], ["coral", "reef", "tank"], [2, 3], Spoken()), ["Sea"])
    set_facets(topic, strategy.wants)
    page = Page("ok", 200, marked="coral", links=Links.to("x", "y"))
    page.links.contexts = ["reef", "tank"]
    judgement, table = topic.judge(page, Vocabulary().read(page)), seeded("s")
    assert 0.8 == pytest.approx(judgement.relevance)
    page.links.facets = judgement.facets
    return score_of(strategy, table, Visit("s", "page", "ok", 1, relevance=judgement.relevance, links=page.links))


def score_of(strategy: Otie | LinkContext, table: Table, visit: Visit) -> list[float]:
    see(strategy, table, visit)
    return score(strategy, table, "x", "y")


@pytest.mark.paper("otie-eq4")
def test_context_of_classifier_is_its_probability() -> None:
    """Similarities are .25 * .8 + .75 * .9 = .875 for x and .25 * .8 + .75 * .3 = .425 for y.

    They share the cash 1 + .85 * (2 * .8 - 1)^3 = 1 + .85 * .216 = 1.1836.
    """
    assert pytest.approx([0.875, 0.425]) == classified(LinkContext())
    assert pytest.approx([1.1836 * 0.875 / 1.3, 1.1836 * 0.425 / 1.3]) == classified(Otie(scale="none"))


def test_lift_subtracts_prior() -> None:
    """With lift, x has (.9 - .4) / .6 = 5/6, so .25 * .8 + .75 * 5/6 = .825; y, below the prior, .25 * .8 + 0 = .2."""
    assert pytest.approx([0.825, 0.2]) == classified(LinkContext(lift=True))
    assert pytest.approx([1.1836 * 0.825 / 1.025, 1.1836 * 0.2 / 1.025]) == classified(Otie(scale="none", lift=True))


def test_lift_without_prior_changes_nothing() -> None:
    topic = VectorJudge("coral reef")
    set_facets(topic, Otie.wants)
    assert ("context",) == topic.facets


def teach_context(strategy: LinkContext, table: Table, node: str, beta: float, links: Links) -> list[float]:
    """Feed a page and return the priorities of its links."""
    table.add_seed(node)
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=beta, links=links))
    assert step is not None
    return list(strategy.priority(strategy.learn(step, table), table).tolist())


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
    """Priority is page * .8 + (1 - page) * .4, for beta .8 and a context of .4; the link relevance of 1 is ignored."""
    strategy = LinkContext(page)
    assert [pytest.approx(expected)] == teach_context(strategy, Table(), "p", 0.8, around("c", [0.4], [1.0]))


@pytest.mark.paper("otie-beta")
def test_link_context_default_weight_is_a_quarter() -> None:
    assert (0.25, ("context", "context_score")) == (LinkContext().page, LinkContext().wants)


def test_link_context_takes_best_of_several_links() -> None:
    """The best of several links to a URL counts: .25 * .8 + .75 * max(.2, .6) = .65."""
    strategy = LinkContext()
    assert [pytest.approx(0.65), pytest.approx(0.2)] == teach_context(
        strategy, Table(), "p", 0.8, around("cdc", [0.2, 0.0, 0.6])
    )


def test_link_context_falls_back_to_link_relevance() -> None:
    """Without a context, the link relevance of .4 is used: .25 * .8 + .75 * .4."""
    links = Links.to("c")
    links.link_relevances = np.array([0.4], np.float32)
    assert [pytest.approx(0.5)] == teach_context(LinkContext(), Table(), "p", 0.8, links)


def test_link_context_merges_parents() -> None:
    """Three parents give .25 * .8 + .75 * .4 = .5, .25 * .8 + 0 = .2 and .25 * .4 + .75 * .4 = .4."""
    for merge, expected in (("max", 0.5), ("mean", 1.1 / 3)):
        strategy, table = LinkContext(merge=merge), Table()  # type: ignore[arg-type]
        teach_context(strategy, table, "p", 0.8, around("c", [0.4]))
        teach_context(strategy, table, "q", 0.8, around("c", [0.0]))
        assert [pytest.approx(expected)] == teach_context(strategy, table, "r", 0.4, around("c", [0.4]))
