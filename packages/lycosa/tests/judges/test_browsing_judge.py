"""BrowsingJudge: similarity to the relevant training pages, and crawls without another topic."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path

import pytest

import lycosa
from browsed_pages import ten_pages
from input_errors import raises_input_error
from lycosa.core.options import Options
from lycosa.core.types import Links, Page
from lycosa.judges.browsing_judge import BrowsingJudge
from lycosa.judges.factory import make_judge
from lycosa.spaces.graph import GraphSpace
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary


def test_judge_by_hand() -> None:
    """Relevance is the cosine with the centroid of the relevant training pages, c_r = (0, 0, 1); idf is log(10 / N_j).

    Of ten pages 3 have hub, 5 news, 2 reef; the relevant ones have only reef. Page 'hub reef hub': 1.6094 /
    sqrt(1.6094^2 + (1.6931 * 1.2040)^2) = .6197. Anchor 'reef cove': a word on no training page counts as if on one,
    log 10: 1.6094 / sqrt(1.6094^2 + 2.3026^2).
    """
    topic = BrowsingJudge(ten_pages())
    page = Page("ok", marked="hub reef hub", links=Links.to("a", "b", anchors=["the reef", "reef cove"]))
    judgement = topic.judge(page, Vocabulary().read(page))
    hub, reef = (1 + log(2)) * log(10 / 3), log(10 / 2)
    assert pytest.approx(reef / sqrt(reef**2 + hub**2)) == judgement.relevance == pytest.approx(0.6197, abs=1e-4)
    assert [
        1.0,
        pytest.approx(log(5) / sqrt(log(5) ** 2 + log(10) ** 2), abs=1e-6),
    ] == judgement.link_relevances.tolist()


def test_threshold_separates_training_pages() -> None:
    """The threshold is midway between relevant pages (.7071) and the best irrelevant pages (.3827).

    Relevant pages: reef; reef and hub. c_r = (0, 1) + (1, 1) / sqrt(2) = (.7071, 1.7071), both idf log 5. A relevant
    page has reef / hypot = .7071, a page with hub alone .7071 / 1.8478 = .3827.
    """
    pages = Bags.of([([2], [1]), ([0, 2], [1, 1])] + [([0], [1])] + [([1], [1])] * 7)
    assert round((0.70711 + 0.38268) / 2, 3) == BrowsingJudge(ten_pages(pages=pages)).threshold
    assert 0.9 == BrowsingJudge(ten_pages(pages=pages), threshold=0.9).threshold


def test_threshold_default_if_pages_are_equal() -> None:
    every = BrowsingJudge(ten_pages(pages=Bags.of([([2], [1])] * 10)))
    page = Page("ok", marked="reef")
    assert (1.0, 0.2) == (every.judge(page, Vocabulary().read(page)).relevance, every.threshold)


@pytest.mark.paper("batsakis-input")
def test_crawl_needs_browsing_record_only(tmp_path: Path) -> None:
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


def test_make_judge_prefers_words_to_browsing(tmp_path: Path) -> None:
    ten_pages().save(tmp_path / "b")
    strategy = f"hybrid,file={tmp_path / 'b'}"
    assert isinstance(make_judge(Options(strategy=strategy)), BrowsingJudge)
    assert not isinstance(make_judge(Options(topic="reef", strategy=strategy)), BrowsingJudge)
    for options in (Options(judge="browsing"), Options(judge="browsing", strategy="scent")):
        with raises_input_error("missing-topic"):
            make_judge(options)
