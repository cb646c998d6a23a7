"""Tests of the hidden Markov model: counts, equations 5 and 6, the tie rule, and priorities in a crawl."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsed_pages import STATE, STEPS, Walk, positives_only, ten_pages
from input_errors import raises_input_error
from lycosa.core.types import Visit
from lycosa.strategies import estimator
from lycosa.strategies.hmm import Chain, Hmm, bucketed
from lycosa.text.bags import Bags
from lycosa.text.browsing import distances


def chain(smoothing: float = 0.0, **changes: Any) -> Chain:
    """Return the model of the ten pages."""
    browsing = ten_pages(**changes)
    cluster = browsing.clustering("kmeans")
    return Chain.of(browsing.state, browsing.steps, cluster, browsing.states, browsing.clusters("kmeans"), smoothing)


def exact(**more: Any) -> Hmm:
    """Return a model without smoothing and buckets, so that the equations apply exactly."""
    return Hmm(ten_pages(), **{"smoothing": 0.0, "epsilon": 0.0, **more})


@pytest.mark.paper("batsakis-hidden-state")
def test_states_are_distances() -> None:
    """The last state includes larger distances: pages 7 to 9 are three or more steps away and are in state 2."""
    assert STATE == distances(np.array(STATE) == 0, np.array(STEPS), 3).tolist()


@pytest.mark.paper("batsakis-pi")
def test_pi_is_share_of_pages() -> None:
    """pi is the share of pages per state: 2, 3 and 5 of 10 pages are in states 0, 1 and 2."""
    assert [0.2, 0.3, 0.5] == chain().pi.tolist()


@pytest.mark.paper("batsakis-a")
def test_transitions_are_shares_of_steps() -> None:
    assert [
        [1 / 2, 0 / 2, 1 / 2],
        [4 / 5, 0 / 5, 1 / 5],
        [0 / 5, 2 / 5, 3 / 5],
    ] == chain().a.tolist()


@pytest.mark.paper("batsakis-b")
def test_emissions_are_shares_of_pages_by_cluster() -> None:
    assert [
        [0 / 2, 0 / 2, 2 / 2],
        [2 / 3, 1 / 3, 0 / 3],
        [1 / 5, 4 / 5, 0 / 5],
    ] == chain().b.tolist()


def test_smoothing_adds_pages_to_each_cluster() -> None:
    """With smoothing 1 each count grows by 1: state 0 has 0 + 1, 0 + 1 and 2 + 1 of 2 + 3 pages."""
    assert [1 / 5, 1 / 5, 3 / 5] == chain(1.0).b[0].tolist()


@pytest.mark.paper("batsakis-eq5")
def test_forward_equation_5() -> None:
    """By equation 5, a(L_j, 1) = b_jc * sum of pi_i a_ij, and a(L_j, 2) continues from it."""
    sums = [
        0.2 * 0.5 + 0.3 * 0.8 + 0.5 * 0.0,  # .34
        0.2 * 0.0 + 0.3 * 0.0 + 0.5 * 0.4,  # .20
        0.2 * 0.5 + 0.3 * 0.2 + 0.5 * 0.6,  # .46
    ]
    first = chain().forward(chain().pi, 0)
    assert [0 * sums[0], 2 / 3 * sums[1], 1 / 5 * sums[2]] == pytest.approx(first.tolist())
    assert [0.0, 0.4 / 3, 0.092] == pytest.approx(first.tolist())
    second = chain().forward(first, 1)
    assert [
        0 * (0.4 / 3 * 0.8),
        1 / 3 * (0.092 * 0.4),
        4 / 5 * (0.4 / 3 * 0.2 + 0.092 * 0.6),
    ] == pytest.approx(second.tolist())


@pytest.mark.paper("batsakis-eq6")
def test_predict_equation_6() -> None:
    """By equation 6, a(L_j, t + 1) = sum of a(L_i, t) a_ij, here on the raw values of a seed in cluster 0."""
    now = np.array([0.0, 0.4 / 3, 0.092])
    assert [
        0.4 / 3 * 0.8,  # .1067, the priority
        0.092 * 0.4,
        0.4 / 3 * 0.2 + 0.092 * 0.6,
    ] == pytest.approx(chain().predict(now).tolist())


def test_state_without_steps_has_row_pi() -> None:
    assert [0.2, 0.3, 0.5] == chain(steps=np.array([(2, 0), (5, 2)])).a[0].tolist()


def test_state_without_pages_has_uniform_emissions() -> None:
    """A state without pages has pi 0 and a uniform row of B, with or without smoothing."""
    four = chain(states=4)
    assert (0.0, [1 / 3] * 3) == (four.pi[3], four.b[3].tolist())
    assert [1 / 3] * 3 == chain(0.1, states=4).b[3].tolist()


def test_emissions_ignore_pages_without_cluster() -> None:
    cluster = np.array([0, 0, -1, -1, -1, 1, 1, 1, 1, 1])
    assert [0 / 3, 0 / 3, 3 / 3] == chain(clusterings={"kmeans": cluster}).b[1].tolist()
    pages = [([0], [1]) if number != 4 else ([], []) for number in range(10)]
    assert [0 / 2, 0 / 2, 2 / 2] == chain(clusterings={"kmeans": cluster}, pages=Bags.of(pages)).b[1].tolist()


@pytest.mark.paper("batsakis-epsilon")
@given(
    pairs=st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=2),
    epsilon=st.sampled_from([1e-6, 0.001, 0.01, 0.1, 0.25, 1.0]),
)
def test_bucketed_orders_by_bucket_then_second_step(pairs: list[tuple[int, int]], epsilon: float) -> None:
    (one, two), (other, further) = ((first / 1000, second / 1000) for first, second in pairs)
    keys = [(int(p / epsilon + 1e-9), q) for p, q in ((one, two), (other, further))]
    scores = [bucketed(one, two, epsilon), bucketed(other, further, epsilon)]
    assert (keys[0] < keys[1], keys[0] > keys[1]) == (scores[0] < scores[1], scores[0] > scores[1])


def test_figure_10_prefers_better_second_step() -> None:
    """Within a bucket of priorities, the page with the better second step wins.

    A hub page has a(., 1) = (0, .1333, .092) / .2253 = (0, .5917, .4083): .5917 * .8 = .4734 in one step, and .4734 *
    .5 + (.4083 * .4) * .8 = .3673 in two. A reef page has a(., 1) = (1, 0, 0): .5 in one step, .5 * .5 = .25 in two.
    """
    hub, reef = (0.473372781, 0.367337278), (0.5, 0.25)
    for epsilon, expected in (
        (0.2, [0.2 * (2 + hub[1]), 0.2 * (2 + reef[1])]),  # both are in the bucket from .4 to .6
        (0.1, [0.1 * (4 + hub[1]), 0.1 * (5 + reef[1])]),
        (0.0, [hub[0], reef[0]]),
    ):
        walk = Walk(exact(epsilon=epsilon))
        walk.page("p1", "hub", ["a"])
        walk.page("p2", "reef", ["b"])
        assert expected == pytest.approx(walk.priorities("a", "b"), abs=1e-8)


@pytest.mark.paper("batsakis-crawling")
def test_values_are_carried_along_path() -> None:
    """The page after a hub page starts from the hub's values, (0, .5917, .4083), then applies its own observation."""
    walk = Walk(exact())
    walk.page("seed", "hub", ["a"])
    walk.page("a", "news", ["b"])
    before = np.array([0.0, 0.4 / 3, 0.092]) / (0.4 / 3 + 0.092)
    now = np.array([0.0, 1 / 3 * before[2] * 0.4, 4 / 5 * (before[1] * 0.2 + before[2] * 0.6)])
    now /= now.sum()
    assert [pytest.approx(now[1] * 0.8, abs=1e-8)] == walk.priorities("b")


@pytest.mark.paper("batsakis-figure-9")
def test_literal_values_shrink() -> None:
    """With raw equation 5 the priority is .4 / 3 * .8 after a seed, and smaller after another page."""
    walk = Walk(exact(literal=True))
    walk.page("seed", "hub", ["a"])
    walk.page("a", "news", ["b"])
    assert [0.106666667, round(1 / 3 * (0.092 * 0.4) * 0.8, 9)] == walk.priorities("a", "b")


def test_values_of_long_path_stay_normalised() -> None:
    """After 1,000 pages the values still sum to 1 and separate a hub page from a news page."""
    hmm = Hmm(ten_pages(), epsilon=0.0)
    walk = Walk(hmm)
    for depth in range(1_000):
        walk.page(f"n{depth}", "news", [f"n{depth + 1}", *(["x", "y"] if depth == 999 else [])])
    assert 1.0 == pytest.approx(hmm.forward_.now_[walk.table.row_of["n999"]].sum())
    walk.page("x", "hub", ["of x"])
    walk.page("y", "news", ["of y"])
    near, far = walk.priorities("of x", "of y")
    assert 0.3 < near
    assert 0.01 < far < near / 2


def test_better_parent_becomes_predecessor() -> None:
    alone = Walk(exact())
    alone.page("good", "hub", ["a"])
    alone.page("a", "news", ["b"])
    walk = Walk(exact())
    walk.page("bad", "news", ["a"])
    poor = walk.priorities("a")
    walk.page("good", "hub", ["a"])
    walk.page("other", "news", ["a"])
    assert poor < walk.priorities("a")
    walk.page("a", "news", ["b"])
    assert alone.priorities("a", "b") == walk.priorities("a", "b")


def test_merge_last_takes_last_parent() -> None:
    walk = Walk(exact(merge="last"))
    walk.page("good", "hub", ["a"])
    walk.page("bad", "news", ["a", "b"])
    assert walk.priorities("b") == walk.priorities("a")


def test_redirect_inherits_priority_and_predecessor() -> None:
    plain, moved = Walk(exact()), Walk(exact())
    for walk in (plain, moved):
        walk.page("seed", "hub", ["a"])
    moved.redirect("a", "new")
    assert plain.priorities("a") == moved.priorities("new")
    plain.page("a", "news", ["b"])
    moved.page("new", "news", ["b"])
    assert plain.priorities("b") == moved.priorities("b")
    fresh = Walk(exact())
    fresh.redirect("start", "begin")
    fresh.page("begin", "hub", ["b"])
    assert fresh.priorities("b") == plain.priorities("a")


def test_page_without_known_words_uses_equation_6() -> None:
    """Equation 6 on pi A = (.34, .2, .46) gives the priority .34 * .5 + .2 * .8."""
    walk = Walk(exact())
    walk.page("seed", "nothing that anyone knows", ["a"])
    assert [pytest.approx(0.34 * 0.5 + 0.2 * 0.8)] == walk.priorities("a")


def test_impossible_observation_is_ignored() -> None:
    """Without smoothing, a relevant page right after a page in state 2 has probability 0, so equation 6 is used."""
    steps = np.array([(2, 0), (5, 2), (5, 6), (0, 5)])  # 0 -> 2, 1 -> 0, 2 -> 1 or 2; never 2 -> 0 or 0 -> 0
    walk = Walk(Hmm(ten_pages(steps=steps), smoothing=0.0, epsilon=0.0))
    walk.page("seed", "reef", ["a"])  # certainly in state 0
    walk.page("a", "reef", ["b"])  # then in state 2, which has no reef page
    assert [0.0, 0.0] == walk.priorities("a", "b")
    walk.page("b", "hub", ["c"])
    assert np.isfinite(walk.priorities("c")).all()


def test_failed_page_changes_no_priority() -> None:
    walk = Walk(exact())
    walk.page("seed", "hub", ["a", "b"])
    before = walk.priorities("a", "b")
    step = walk.table.absorb(Visit("a", "page", "gone", 2, status=404))
    assert step is not None
    assert 0 == len(walk.estimator.learn(step, walk.table))
    assert before == walk.priorities("a", "b")


def test_hmm_ranks_with_clusters_of_relevant_pages_only() -> None:
    """If only relevant pages have clusters, links of pages that look relevant still rank differently from others.

    b_0 = (1/2, 1/2, 0), b_1 = b_2 = (0, 0, 1). From pi A = (.34, .2, .46), a reef page is in state 0: .5 in one step.
    Any other is in state 1 or 2 with (.2, .46) / .66: .2 / .66 * .8.
    """
    walk = Walk(Hmm(positives_only(), smoothing=0.0, epsilon=0.0))
    walk.page("p", "reef", ["a"])
    walk.page("q", "hub", ["b"])
    assert [0.5, pytest.approx(0.2 / 0.66 * 0.8)] == walk.priorities("a", "b")


def test_missing_clustering_is_reported() -> None:
    with raises_input_error("missing-clusters", match="kmeans"):
        estimator("hmm-xmeans", file=ten_pages(clusterings={"kmeans": np.zeros(10, int)}))
