"""Tests of TRES: splits of the tree, features of a link, the network and its target, and sampled links."""

from collections import Counter

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.tres import GAMMA, QNetwork, Tres, best_split
from teaching import redirect, score, see, seeded


def page(node: str, relevance: float, *links: str, **more: list[float]) -> Visit:
    """Return a page visit with links, their relevances, and facets for URLs and contexts."""
    made = Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*links))
    made.links.link_relevances[:] = more.get("link_relevances", [0.0] * len(links))
    for name in ("url", "context"):
        made.links.facets[name] = np.array(more.get(name, [0.0] * len(links)), np.float32)
    return made


def x_of(tres: Tres, table: Table, node: str) -> list[float]:
    """Return the features of a link."""
    return [pytest.approx(value) for value in tres.x_[table.row_of[node]].tolist()]


def test_best_split_reduces_variance_most() -> None:
    """The split with the smallest remaining variance is chosen, here feature 0 at .2, for the rewards 0 0 0 1 1.

    The variance is .24. Feature 0 leaves 0 on both sides; feature 1 splits 0 0 0 1 | 1 and leaves 4/5 * 3/16 = .15.
    """
    x = np.array([[0.1, 1], [0.2, 1], [0.1, 1], [0.5, 1], [0.6, 2]])
    rewards = np.array([0, 0, 0, 1, 1.0])
    assert (0, 0.2) == best_split(x, rewards)
    assert (0, 1.0) == best_split(x[:, 1:], rewards)
    assert best_split(x[:, :1] * 0, rewards) is None
    assert best_split(x, np.ones(5)) is None


def test_features_of_link() -> None:
    """Features: parent relevance, closeness 1 / n to a relevant page, path, share of relevant pages of the host.

    From a seed, which counts as relevant: 1, 1 / 1, 1 / 1; two irrelevant pages later 0, 1 / 3 = .3 in tenths, 1 / 3.
    One of the two pages of the host is relevant: .5.
    """
    table, tres = seeded("s"), Tres(threshold=0.5)
    see(tres, table, page("s", 0.0, "a", "b", link_relevances=[0.25, 0.0], url=[0.0, 0.5]))
    assert [1, 1, 1, 0, 1, 0, 0.5, 1, 0.25] == x_of(tres, table, "a")
    assert [1, 1, 1, 1, 0, 0, 0.5, 1, 0] == x_of(tres, table, "b")
    see(tres, table, page("b", 0.9))
    see(tres, table, page("a", 0.1, "c", context=[0.5]))
    assert [0, 0.5, 0.5, 0, 0, 1, 0.5, 0, 0] == x_of(tres, table, "c")  # one link since a relevant page: 1 / 2
    see(tres, table, page("c", 0.1, "d"))
    assert [0, 0.3, 0.3, 0, 0, 0, 0.3, 0, 0] == x_of(tres, table, "d")


def test_features_are_of_most_relevant_link() -> None:
    table, tres = seeded("s"), Tres(threshold=0.5)
    see(tres, table, page("s", 0.0, "a", "b", "x", link_relevances=[0.0, 0.0, 0.25]))
    see(tres, table, page("a", 0.0, "x", link_relevances=[0.125]))
    assert tres.x_[table.row_of["x"], 0] == 1
    see(tres, table, page("b", 0.0, "x", link_relevances=[0.5]))
    assert [0, 0.5, 0.5, 0, 1, 0, 0, 0, 0.5] == x_of(tres, table, "x")


def test_leaf_of_five_pages_is_split() -> None:
    """A leaf with five pages is split, and its links move to their side, whose mean reward is their value.

    The split is by the anchor: pages a1 a2 (link relevance .5) are relevant, b1 b2 (0) are not. The seed (reward 1,
    without features) is on the side of the b's: 1/3; the a's have 2/2.
    """
    table, tres = seeded("s"), Tres(threshold=0.5)
    see(tres, table, page("s", 0.0, "a1", "a2", "b1", "b2", "a3", "b3", link_relevances=[0.5, 0.5, 0, 0, 0.5, 0]))
    for node, relevance in (("a1", 1.0), ("b1", 0.0), ("a2", 1.0)):
        see(tres, table, page(node, relevance))
    assert [pytest.approx(3 / 4)] * 2 == score(tres, table, "a3", "b3")
    changed = see(tres, table, page("b2", 0.0))
    assert {"a3", "b3"} <= set(changed)
    assert (4, 0.0) == (tres.feature_[0], tres.value_[0])  # feature 4 is the anchor
    assert [1.0, pytest.approx(1 / 3)] == score(tres, table, "a3", "b3")
    assert {"pages with anchor > 0": 1.0} == tres.explain(table.row_of["a3"], table)


def test_choose_is_uniform_over_leaves_before_start() -> None:
    table, tres = seeded("s"), Tres(start=10)
    see(tres, table, page("s", 0.0, *"abcdefghij"))
    tres.feature_ += [-1, -1]
    rows = np.arange(1, 11)
    tres.leaf_[rows] = 2
    tres.leaf_[1] = 1
    drawn = Counter(table.nodes[tres.choose(rows, number, table)] for number in range(1800))
    assert drawn["a"] == pytest.approx(900, abs=90)
    assert all(drawn[node] == pytest.approx(100, abs=45) for node in "bcdefghij")


def test_choose_takes_largest_q_after_start() -> None:
    table, tres = seeded("s"), Tres(start=0)
    see(tres, table, page("s", 0.0, "a", "b", link_relevances=[0.25, 0.75]))
    tres.feature_ += [-1, -1]
    tres.leaf_[[1, 2]] = 1, 2
    tres.network_.weights = [np.zeros_like(weight) for weight in tres.network_.weights]
    tres.network_.weights[0][8, 0] = tres.network_.weights[2][0, 0] = tres.network_.weights[4][0, 0] = 1.0
    assert pytest.approx([0.25, 0.75]) == tres.network_.value(tres.x_[[1, 2]]).tolist()
    assert all(2 == tres.choose(np.array([1, 2]), number, table) for number in range(5))


def test_network_forward_by_hand() -> None:
    """Leaky ReLU units: 2 * 1 + 1 = 3, then 3 * -3 = -9 becomes -.9, and the output is -.9 * 1 + 5 = 4.1."""
    net = QNetwork(0)
    net.weights = [np.zeros_like(weight) for weight in net.weights]
    net.weights[0][0, 0], net.weights[1][0] = 1.0, 1.0
    net.weights[2][0, 0], net.weights[4][0, 0], net.weights[5][0] = -3.0, 1.0, 5.0
    x = np.zeros((1, 9))
    x[0, 0] = 2.0
    assert pytest.approx([4.1]) == net.value(x).tolist()


def test_network_first_adam_step_follows_slope() -> None:
    """The first step moves each weight by the rate, .001, against the sign of its slope, and the output moves to y."""
    net, x = QNetwork(1), np.random.default_rng(1).random((4, 9))
    before, y = [weight.copy() for weight in net.weights], np.full(4, 3.0)
    net.train(x, y)
    assert pytest.approx(before[5][0] + 0.001, abs=1e-6) == net.weights[5][0]
    # numerical slope of the mean squared error for a weight of the first layer
    slopes = []
    for step in (1e-6, -1e-6):
        moved = [weight.copy() for weight in before]
        moved[0][2, 3] += step
        slopes.append(((net.value(x, moved) - y) ** 2).mean())
    slope = (slopes[0] - slopes[1]) / 2e-6
    assert pytest.approx(before[0][2, 3] - 0.001 * np.sign(slope), abs=1e-6) == net.weights[0][2, 3]
    for _ in range(300):
        net.train(x, y)
    assert net.value(x).mean() == pytest.approx(3.0, abs=0.2)


def test_replay_target_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is y = r + .99 Q'(best link by Q), with features as seen from the page; r = 1, as it is relevant."""
    table, tres = seeded("s"), Tres(start=0, threshold=0.5)
    see(tres, table, page("s", 0.0, "a", "b", "c"))
    see(tres, table, page("b", 0.0))
    see(tres, table, page("c", 0.0))
    net, targets = tres.network_, []
    monkeypatch.setattr(net, "value", lambda x, weights=None: x[:, 8] if weights is None else 0.5 + x[:, 0] / 4)
    monkeypatch.setattr(net, "train", lambda x, y: targets.append(dict(zip(x[:, 8].tolist(), y.tolist(), strict=True))))
    tres.x_[table.row_of["a"], 8] = 0.75
    see(tres, table, page("a", 1.0, "d", "e", link_relevances=[0.5, 0.25]))  # the third page
    # For `a` (.75) the best link is d, and the feature 'parent relevant' is 1: 1 + .99 (.5 + .25). For the seed the
    # best link is a, fetched since, as seen from a seed, which counts as relevant.
    assert [{0.75: pytest.approx(1 + GAMMA * 0.75), 0.0: pytest.approx(1 + GAMMA * 0.75)}] == targets


def test_learn_ignores_copies_failures_and_revisits() -> None:
    table, tres = seeded("s"), Tres(threshold=0.5)
    see(tres, table, page("s", 0.0, "a", "b", "c"))
    see(tres, table, Visit("a", "page", "gone", 1))
    copy = page("b", 0.9)
    copy.same_as = "s"
    see(tres, table, copy)
    assert (1, [2.0, 1.0]) == (tres.steps_, tres.pages_[0].tolist())  # the seed and b
    again = page("b", 0.9, "d")
    again.data["follows"] = 1.0
    see(tres, table, again)
    assert (1, [2.0, 1.0]) == (tres.steps_, tres.pages_[0].tolist())


def test_redirect_passes_on_features() -> None:
    table, tres = seeded("s"), Tres()
    see(tres, table, page("s", 0.0, "a", link_relevances=[0.5]))
    redirect(tres, table, "a", "b")
    assert tres.x_[table.row_of["a"]].tolist() == tres.x_[table.row_of["b"]].tolist()
