"""Tests of the hybrids: equations 11 and 12, and differences from the model alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsed_pages import Walk, ten_pages
from lycosa.strategies.hmm import Hmm, Hybrid
from lycosa.text.background import Background
from lycosa.text.bags import Bags

HUB, REEF, NEWS = np.log(10 / 3), np.log(10 / 2), np.log(10 / 5)
"""Idf of the words: 3 of the ten pages have hub, 2 reef, 5 news. All relevant pages have only reef, so c_r = (0, 0, 1).
"""

HMM_HUB = 0.4 / 3 / (0.4 / 3 + 0.092) * 0.8
"""Value a(L0, 2) of a seed that is a hub page, .4734; see test_hmm.py."""


def hybrid(**more: Any) -> Hybrid:
    """Return a hybrid with idf from the ten pages, and without smoothing."""
    return Hybrid(ten_pages(), **{"clusters": "xmeans", "smoothing": 0.0, **more})


def test_hybrid_equation_11() -> None:
    hub, reef = (1 + np.log(2)) * HUB, REEF
    similarity = reef / np.sqrt(hub**2 + reef**2)
    walk = Walk(hybrid())
    walk.page("p", "hub reef hub", ["a"])
    assert [pytest.approx((similarity + HMM_HUB) / 2, abs=1e-7)] == walk.priorities("a")


def test_hybrid_equation_12() -> None:
    hub, reef = (1 + np.log(2)) * HUB, REEF
    page = reef / np.sqrt(hub**2 + reef**2)
    anchor = REEF / np.sqrt(REEF**2 + NEWS**2)
    walk = Walk(hybrid(anchors=True))
    walk.page("p", "hub reef hub", ["a", "b", "c", "d"], ["the reef", "reef news", "hub", ""])
    assert [
        HMM_HUB / 2 + page / 4 + 1 / 4,
        HMM_HUB / 2 + page / 4 + anchor / 4,
        HMM_HUB / 2 + page / 4,
        HMM_HUB / 2 + page / 4,
    ] == pytest.approx(walk.priorities("a", "b", "c", "d"), abs=1e-7)


def test_centroid_is_mean_of_relevant_pages() -> None:
    """The centroid is the mean of scaled vectors: here of a page with reef only, and of a page with reef and hub."""
    pages = Bags.of([([2], [5]), ([0, 2], [1, 1])] + [([0], [1])] + [([1], [1])] * 7)
    made = Hybrid(ten_pages(pages=pages), clusters="xmeans")
    hub, reef = np.log(10 / 2), np.log(10 / 2)  # each word is on two pages
    mean = np.array([hub / np.hypot(hub, reef), 0, 1 + reef / np.hypot(hub, reef)]) / 2
    assert (mean / np.linalg.norm(mean)).tolist() == pytest.approx(made.pages_.centroid.tolist(), abs=1e-7)


@pytest.mark.paper("batsakis-eq11", "batsakis-eq12")
def test_hybrid_equations_with_literal_weights_by_hand() -> None:
    """Literal weights are w = f / max f idf, and a(L0, 2) is not normalised: .4 / 3 * .8 = .1067.

    Page 'hub reef hub': hub 2/2 log(10/3) = 1.2040, reef 1/2 log 5 = .8047; c_r = (0, 0, 1): .8047 / 1.4482 = .5557.
    Anchor 'reef news reef': reef 2/2 log 5 = 1.6094, news 1/2 log 2 = .3466: 1.6094 / 1.6463 = .9776.
    """
    hmm = 0.4 / 3 * 0.8
    page, anchor = 0.804719 / np.hypot(1.203973, 0.804719), 1.609438 / np.hypot(1.609438, 0.346574)
    for anchors, expected in ((False, (page + hmm) / 2), (True, (hmm + (page + anchor) / 2) / 2)):
        walk = Walk(hybrid(anchors=anchors, literal=True))
        walk.page("p", "hub reef hub", ["a"], ["reef news reef"])
        assert [pytest.approx(expected, abs=1e-6)] == walk.priorities("a")
    assert [0.3312, 0.4367] == [round((page + hmm) / 2, 4), round((hmm + (page + anchor) / 2) / 2, 4)]


@pytest.mark.paper("batsakis-centroid")
def test_centroid_with_literal_weights_is_unscaled_mean() -> None:
    """With literal weights vectors are not scaled: the mean of (0, reef 5/5) and (hub 2/2, reef 1/2) is 1 : 1.5."""
    pages = Bags.of([([2], [5]), ([0, 2], [2, 1])] + [([0], [1])] + [([1], [1])] * 7)
    made = Hybrid(ten_pages(pages=pages), clusters="xmeans", literal=True)
    assert [1 / np.hypot(1, 1.5), 0, 1.5 / np.hypot(1, 1.5)] == pytest.approx(made.pages_.centroid.tolist(), abs=1e-7)


def test_precomputed_idf_covers_unseen_words() -> None:
    """With the idf of English, both page and anchor 'reef ocean' have the similarity reef / sqrt(reef^2 + ocean^2)."""
    reef, ocean = map(Background.load().idf, ("reef", "ocean"))
    walk = Walk(hybrid(anchors=True, literal=True, clusters="kmeans"))
    walk.page("p", "reef ocean", ["a", "b"], ["reef ocean", ""])
    one, other = walk.priorities("a", "b")
    assert pytest.approx(reef / np.hypot(reef, ocean) / 4, abs=1e-7) == one - other
    assert pytest.approx(0.34 * 1 * 0.5 / 2 + reef / np.hypot(reef, ocean) / 4, abs=1e-7) == other


@pytest.mark.paper("batsakis-figure-10")
def test_figure_10_prefers_similar_page() -> None:
    """The model takes p1, which is better in two steps; the hybrid takes p2, which is similar to relevant pages.

    Hybrid priorities are (0 + .4734) / 2 for p1 and (1 + .5) / 2 for p2; test_hmm.py computes .4734 and .5.
    """
    priorities = []
    for made in (Hmm(ten_pages(), smoothing=0.0, epsilon=0.2), hybrid()):
        walk = Walk(made)
        walk.page("p1", "hub", ["of p1"])
        walk.page("p2", "reef", ["of p2"])
        priorities.append(walk.priorities("of p1", "of p2"))
    assert priorities[0][0] > priorities[0][1]
    assert [HMM_HUB / 2, 0.75] == pytest.approx(priorities[1], abs=1e-7)


def test_pages_of_one_cluster_differ() -> None:
    walk, model = Walk(hybrid()), Walk(Hmm(ten_pages()))
    for each in (walk, model):
        each.page("p", "hub hub hub", ["a"])
        each.page("q", "hub hub reef", ["b"])
    assert model.priorities("a") == model.priorities("b")
    assert walk.priorities("a") < walk.priorities("b")


def test_unknown_words_reduce_similarity() -> None:
    walk = Walk(hybrid())
    walk.page("p", "reef", ["a"])
    walk.page("q", "reef quibble quorum quiver quartz", ["b"])
    rare = np.log(10)
    similarity = REEF / np.sqrt(REEF**2 + 4 * rare**2)
    assert [0.75, (similarity + 0.5) / 2] == pytest.approx(walk.priorities("a", "b"), abs=1e-7)


def test_page_without_words_has_similarity_0() -> None:
    """A page without words counts only by its links' anchors and by equation 6."""
    walk = Walk(hybrid(anchors=True))
    walk.page("p", "", ["a", "b"], ["reef", ""])
    hmm = 0.34 * 0.5 + 0.2 * 0.8
    assert [hmm / 2 + 1 / 4, hmm / 2] == pytest.approx(walk.priorities("a", "b"))


def test_best_anchor_of_several_links_counts() -> None:
    walk = Walk(hybrid(anchors=True))
    walk.page("p", "hub", ["a", "p", "a", "b"], ["hub", "reef", "reef", ""])
    assert [HMM_HUB / 2 + 1 / 4, HMM_HUB / 2] == pytest.approx(walk.priorities("a", "b"), abs=1e-7)


def test_anchors_use_language_of_page() -> None:
    browsing = ten_pages(terms=["hub", "news", "haus"], language="de")
    walk = Walk(Hybrid(browsing, anchors=True, smoothing=0.0))
    walk.page("p", "hub", ["a"], ["Die Häuser"], language="de-AT")
    walk.page("q", "hub", ["b"], ["the Häuser"], language="en")
    german, english = walk.priorities("a", "b")
    assert pytest.approx(1 / 4, abs=1e-7) == german - english


def test_hybrid_predecessor_has_best_priority() -> None:
    alone = Walk(hybrid(anchors=True))
    alone.page("p", "news", ["a"], ["reef"])
    alone.page("a", "news", ["b"])
    walk = Walk(hybrid(anchors=True))
    walk.page("q", "hub", ["a"], [""])
    walk.page("p", "news", ["a"], ["reef"])
    walk.page("a", "news", ["b"])
    assert alone.priorities("a", "b") == walk.priorities("a", "b")
