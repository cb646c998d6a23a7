"""Tests of nearest training pages: cluster votes, cosines, idf and word ids."""

from __future__ import annotations

import numpy as np
import pytest

from browsed_pages import Walk, ten_pages
from lycosa.core.types import Page, Terms, Visit
from lycosa.strategies.hmm import Hmm
from lycosa.strategies.neighbours import Neighbours, weights
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.model_words import ModelWords


@pytest.mark.paper("batsakis-knn")
def test_cluster_is_vote_of_nearest_pages() -> None:
    """Three of the five nearest pages outvote two nearer ones; with k=1 the nearest decides."""
    pages = Bags.of([([0, 1], [1, 1]), ([0, 1], [1, 1]), ([0], [1]), ([0], [1]), ([0], [1]), ([2], [1])])
    browsing = ten_pages(
        pages=pages, urls=list("abcdef"), relevant=np.arange(6) == 5, state=np.array([1, 1, 1, 1, 1, 0]),
        steps=np.array([(0, 5)]), clusterings={"kmeans": np.array([0, 0, 1, 1, 1, 2])},
    )  # fmt: skip
    for k, expected in ((1, 0), (5, 1), (50, 1)):
        walk = Walk(Hmm(browsing, k=k))
        step = walk.step("p", "hub news")
        pages_ = walk.estimator.pages_
        pages_.words_.follow(walk.table.stems)
        assert expected == pages_.cluster(pages_.vector(step.visit))


def test_cluster_ties_go_to_larger_cosine() -> None:
    pages = Bags.of([([0, 1], [1, 1]), ([0], [1]), ([2], [1])])
    browsing = ten_pages(
        pages=pages, urls=list("abc"), relevant=np.arange(3) == 2, state=np.array([1, 1, 0]),
        steps=np.array([(0, 2)]), clusterings={"kmeans": np.array([0, 1, 2])},
    )  # fmt: skip
    walk = Walk(Hmm(browsing, k=2))
    step = walk.step("p", "hub")
    pages_ = walk.estimator.pages_
    pages_.words_.follow(walk.table.stems)
    assert 1 == pages_.cluster(pages_.vector(step.visit))


def test_nearness_is_cosine() -> None:
    """Cosine of a page with hub, news and an unknown word: idf(hub) / length with hub pages, 0 with reef pages."""
    browsing = ten_pages()
    pages = Neighbours(browsing, "xmeans")
    # 3 of 10 pages have hub, 5 news; no page has the third word
    hub, news, rare = np.log(10 / 3), np.log(10 / 5), np.log(10)
    walk = Walk(None)
    step = walk.step("p", "hub news unheard")
    pages.words_.follow(walk.table.stems)
    length = np.sqrt(hub**2 + news**2 + rare**2)
    near = pages.nearness(pages.vector(step.visit))
    assert [hub / length, news / length, 0.0] == pytest.approx([near[2], near[4], near[0]], rel=1e-6)


@pytest.mark.paper("batsakis-xmeans-idf")
def test_idf_of_kmeans_is_background_and_of_xmeans_learned() -> None:
    browsing = ten_pages(terms=["hub", "news", "qwzx"])
    own = [np.log(10 / 3), np.log(10 / 5), np.log(10 / 2)]
    known = Background.load()
    assert own == pytest.approx(weights(browsing, "xmeans").tolist())
    assert [known.idf("hub"), known.idf("news"), own[2]] == pytest.approx(weights(browsing, "kmeans").tolist())
    assert own == pytest.approx(weights(ten_pages(language="de"), "kmeans").tolist())


def test_word_ids_include_pages_not_learned() -> None:
    browsing, walk = ten_pages(), Walk(None)
    words = ModelWords(browsing.column_of)
    walk.step("a", "hub and spokes")
    words.follow(walk.table.stems)
    probe = Visit("probe", "probe", "ok", 1, terms=Terms(new=walk.words.read(Page("ok", marked="no news")).terms.new))
    assert walk.table.absorb(probe) is None
    step = walk.step("b", "reef hub news")
    words.follow(walk.table.stems)
    columns, counts, others = words.of(step.visit.terms)
    assert ([0, 1, 2], [1.0] * 3, []) == (sorted(columns.tolist()), counts.tolist(), others.tolist())
