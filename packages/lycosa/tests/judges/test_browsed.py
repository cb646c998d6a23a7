"""The training set as the topic: likeness to its relevant pages, by hand, and a crawl that has no other."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path

import pytest

import lycosa
from browsed_pages import ten_pages
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Links, Page
from lycosa.judges.browsing_judge import BrowsingJudge
from lycosa.judges.factory import make_judge
from lycosa.spaces.graph import GraphSpace
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary


def test_page_and_anchors_by_hand() -> None:
    """Ten pages: 3 have hub, 5 news, 2 reef, and the relevant ones reef alone: c_r = (0, 0, 1), idf log(10 / N_j).

    Page 'hub reef hub': reef / |page| = 1.6094 / sqrt(1.6094^2 + (1.6931 * 1.2040)^2) = .6197. Anchor 'reef cove': a
    word that no training page has is as rare as one of a single page, log 10: 1.6094 / sqrt(1.6094^2 + 2.3026^2).
    """
    topic = BrowsingJudge(ten_pages())
    page = Page("ok", marked="hub reef hub", links=Links.to("a", "b", anchors=["the reef", "reef cove"]))
    said = topic.judge(page, Vocabulary().read(page))
    hub, reef = (1 + log(2)) * log(10 / 3), log(10 / 2)
    assert pytest.approx(reef / sqrt(reef**2 + hub**2)) == said.relevance == pytest.approx(0.6197, abs=1e-4)
    assert [1.0, pytest.approx(log(5) / sqrt(log(5) ** 2 + log(10) ** 2), abs=1e-6)] == said.link_relevances.tolist()


def test_the_threshold_tells_the_training_pages_apart() -> None:
    """Relevant: reef; reef and hub. Each is like the other by reef / hypot = .7071, pages of hub alone are by less.

    c_r = (0, 1) + (1, 1) / sqrt(2) = (.7071, 1.7071), both idf log 5: hub alone is .7071 / 1.8478 = .3827. So the
    threshold is (.7071 + .3827) / 2.
    """
    pages = Bags.of([([2], [1]), ([0, 2], [1, 1])] + [([0], [1])] + [([1], [1])] * 7)
    assert round((0.70711 + 0.38268) / 2, 3) == BrowsingJudge(ten_pages(pages=pages)).threshold
    assert 0.9 == BrowsingJudge(ten_pages(pages=pages), threshold=0.9).threshold


def test_where_nothing_can_be_told_apart() -> None:
    """One relevant page, or the same word on every page: there is a judge, with a threshold of its own."""
    every = BrowsingJudge(ten_pages(pages=Bags.of([([2], [1])] * 10)))
    page = Page("ok", marked="reef")
    assert (1.0, 0.2) == (every.judge(page, Vocabulary().read(page)).relevance, every.threshold)


@pytest.mark.paper("batsakis-input")
def test_a_crawl_without_another_topic(tmp_path: Path) -> None:
    """`--strategy hmm,file=FILE` alone: the training set judges, and still does when the crawl is resumed elsewhere."""
    ten_pages().save(tmp_path / "reefs.browsing")
    graph = GraphSpace({"a": ["b", "c"], "b": ["d"], "c": []})
    out = tmp_path / "crawl"
    strategy = f"hmm,file={tmp_path / 'reefs.browsing'}"
    crawl = lycosa.crawl(seeds=["a"], space=graph, strategy=strategy, out=out, budget=2)
    assert ["a", "b"] == [visit.node for visit in crawl]
    assert "browsing" == crawl.options.judge
    (tmp_path / "reefs.browsing").unlink()
    moved = out.rename(tmp_path / "moved")
    assert ["c", "d"] == sorted(visit.node for visit in lycosa.resume(moved, space=graph, budget=4))


def test_words_still_come_first(tmp_path: Path) -> None:
    """Whoever says what to hunt is judged by that; without a file there is nothing to go by."""
    ten_pages().save(tmp_path / "b")
    strategy = f"hybrid,file={tmp_path / 'b'}"
    assert isinstance(make_judge(Options(strategy=strategy)), BrowsingJudge)
    assert not isinstance(make_judge(Options(topic="reef", strategy=strategy)), BrowsingJudge)
    for options in (Options(judge="browsing"), Options(judge="browsing", strategy="scent")):
        with pytest.raises(InputError, match=r"the judge browsing has nothing to go by: .*--strategy hmm,file=FILE"):
            make_judge(options)
