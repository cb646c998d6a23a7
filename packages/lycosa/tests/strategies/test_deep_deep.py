"""Tests of Q-learning over links: features, gradient steps, next values, and sampled links, compared with values
computed by hand.
"""

import math
from collections import Counter

import numpy as np
import pytest

from lycosa.core.composite import Drawn
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import strategy
from lycosa.strategies.deep_deep import ADDRESS_GRAMS, ANCHOR_GRAMS, INITIAL, SAME_HOST, SLOTS, DeepDeep, _grams
from teaching import redirect, score, see, seeded, teach


def page(node: str, relevance: float, **anchors: str) -> Visit:
    """Return a page visit with links and their anchors."""
    return Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*anchors, anchors=list(anchors.values())))


def test_grams_are_distinct_per_text() -> None:
    whose, slots = _grams(["reef", "ab", "aaaa", "reefs"], ANCHOR_GRAMS)
    assert Counter({0: 3, 2: 2, 3: 6}) == Counter(whose.tolist())
    assert set(slots[whose == 0]) < set(slots[whose == 3])
    assert all(0 <= slot < SLOTS for slot in slots.tolist())
    assert not len(_grams(["abc", ""], ADDRESS_GRAMS)[0])


def test_features_of_link() -> None:
    """Values are 1 / sqrt(n) for the n grams of a text: 3 in anchor `reef`, 3 in URL `coral`; same host: 1."""
    table, q = seeded("s"), DeepDeep()
    see(q, table, page("s", 0.0, coral="reef"))
    row = table.row_of["coral"]
    assert [3, 3, 1] == q.count_[row].tolist()
    weights = np.zeros(SAME_HOST + 1)
    weights[q.slots_[:3]], weights[q.slots_[3:6]], weights[SAME_HOST] = 1.0, 2.0, 0.25
    expected = [3 / math.sqrt(3), 2 * 3 / math.sqrt(3), 0.25, 0.5]
    assert pytest.approx(expected) == q.value(np.array([row]), weights, 0.5)[0].tolist()


def test_gradient_step_by_hand() -> None:
    """A gradient step adds rate * (y - Q) * x, then the penalty: here y = 1 and Q = 0, so .1 * x, less .1 * 1e-4.

    x is 1 / sqrt(3) for the grams of anchor and URL, and 1 for the host: .1 / 1.7321 - 1e-5 = .057725, .1 - 1e-5; the
    intercept moves by .01 * .1.
    """
    table, q = seeded("s"), DeepDeep(threshold=0.5)
    see(q, table, page("s", 0.0, coral="reef"))
    see(q, table, page("coral", 0.5))
    moved = q.online_[q.slots_[:7]]
    assert pytest.approx([0.1 / math.sqrt(3) - 1e-5] * 6 + [0.1 - 1e-5]) == moved.tolist()
    assert [pytest.approx(0.001), INITIAL] == q.intercept_.tolist()


def test_next_link_is_chosen_by_online_and_valued_by_target() -> None:
    """The target is y = r + gamma Q'(best link by Q).

    Q prefers `reef` to `rail`, and Q' gives it .3: .2 / .4 + .5 * .3 = .65.
    """
    table, q = seeded("s"), DeepDeep(gamma=0.5, threshold=0.4)
    see(q, table, page("s", 0.0, hub="list"))
    see(q, table, page("hub", 0.0, b="rail", c="reef"))
    rows = [table.row_of[node] for node in "bc"]
    slots = [q.slots_[q.start_[row] : q.start_[row] + q.count_[row, 0]] for row in rows]  # slots of the anchor grams
    q.online_[:], q.target_[:], q.intercept_[:] = 0.0, 0.0, 0.0
    q.online_[slots[0]], q.online_[slots[1]] = 0.1, 0.2
    share = 1 / math.sqrt(len(slots[1]))
    q.target_[slots[0]], q.target_[slots[1]] = 9.0, 0.3 / (len(slots[1]) * share)
    hub = np.array([table.row_of["hub"]])
    assert pytest.approx([0.3]) == q._next_values(hub, table).tolist()
    q.reward_[hub] = 0.2 / 0.4
    q._replay(table)
    # The only example is `hub`, anchor `list`. All weights were 0, so those of the anchor become .1 * y * x.
    start = int(q.start_[hub[0]])
    x = 1 / math.sqrt(q.count_[hub[0], 0])
    assert pytest.approx(0.1 * 0.65 * x - 1e-5) == q.online_[q.slots_[start]]


def test_priorities_change_at_switch() -> None:
    """Until the online Q is copied, every link has .05; after that it has the value of the copy, as do new links."""
    table, q = seeded("s"), DeepDeep(switch=2, threshold=0.5)
    see(q, table, page("s", 0.0, one="reef", two="rail", three="coral reef", four="rail"))
    see(q, table, page("one", 0.5))
    assert [INITIAL] * 3 == score(q, table, "two", "three", "four")
    assert {"two", "three", "four", "five"} >= set(see(q, table, page("two", 0.0, five="reef")))
    three, four, five = score(q, table, "three", "four", "five")
    assert three > four
    assert five > four
    assert pytest.approx(four) == sum(q.explain(table.row_of["four"], table).values())


def test_experiences_exclude_seeds_failures_and_revisits() -> None:
    """Experiences are pages, including those of an unwanted type, which have reward 0."""
    table, q = seeded("s"), DeepDeep(threshold=0.5)
    see(q, table, page("s", 1.0, a="", b="", c=""))
    see(q, table, Visit("a", "page", "gone", 2))
    assert q.steps_ == 0
    see(q, table, Visit("b", "page", "unwanted", 3, relevance=1.0))
    assert (1, 0.0) == (q.steps_, q.reward_[table.row_of["b"]])
    see(q, table, page("c", 0.25))
    assert (2, 0.5) == (q.steps_, q.reward_[table.row_of["c"]])
    again = page("c", 1.0, d="")
    again.data["follows"] = 1.0
    see(q, table, again)
    assert (2, 0.5) == (q.steps_, q.reward_[table.row_of["c"]])


def test_redirect_inherits_features() -> None:
    table, q = seeded("s"), DeepDeep()
    see(q, table, page("s", 0.0, here="coral reef"))
    redirect(q, table, "here", "there")
    assert q.count_[table.row_of["here"]].tolist() == q.count_[table.row_of["there"]].tolist()


def test_choose_draws_host_and_link() -> None:
    """A host is drawn by softmax of its best priority, then its best link; 1/6 of the picks are uniform.

    Hosts x and y have .3 and .1: at temperature .1 x is exp(2) = 7.4 times as likely, 88 % of 5/6. A uniform pick has
    1/12 per host, so 1/24 for each of x's two links. In total: 77.6 % x's best link, 4.2 % its other one, 18.3 % y's
    only one.
    """
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in ("x1", "x2", "y1")])
    q = DeepDeep(seed=3)
    q._fit(3)
    q.priority_[rows] = 0.2, 0.3, 0.1
    drawn = Counter(table.nodes[q.choose(rows, number, table)] for number in range(3000))
    share = math.exp(2) / (1 + math.exp(2)) * 5 / 6
    for node, expected in (("x2", share + 1 / 24), ("x1", 1 / 24), ("y1", 5 / 6 * (1 / (1 + math.exp(2))) + 1 / 12)):
        assert drawn[node] / 3000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 3000))


def test_choose_without_eps_is_greedy_on_one_host() -> None:
    table, q = seeded("s"), DeepDeep(eps=0.0)
    teach(q, table, "s", 0.0, "a", "b", "c")
    q.priority_[:4] = 0.0, 0.1, 0.2, 0.2
    assert all(table.row_of["b"] == q.choose(np.arange(1, 4), number, table) for number in range(20))


def test_full_memory_replaces_random_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.strategies.deep_deep.MEMORY", 3)
    table, q = seeded("s"), DeepDeep()
    teach(q, table, "s", 0.0, *"abcdefgh")
    for node in "abcdefgh":
        see(q, table, page(node, 0.0))
    rows = q.memory_[:3].tolist()
    assert q.size_ == 3
    assert table.row_of["h"] in rows
    assert sorted(rows) == np.flatnonzero(q.position_).tolist()


def test_strategy_deep_deep_draws() -> None:
    assert isinstance(strategy("deep-deep,eps=.1"), Drawn)
