"""Tests of the sleeping bandit: path vectors, groups, upper bounds, rewards and the URL classifier."""

import math
from collections import Counter

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.sleeping_bandit import BATCH, TARGET, AddressClassifier, Groups, SleepingBandit, bigrams, hashed
from teaching import redirect, score, see, seeded

MENU, TEXT = "html body nav ul li a", "html body div#text p a"


def page(node: str, relevance: float, **paths: str) -> Visit:
    """Return a page visit with links and their tag paths."""
    made = Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*paths))
    made.links.paths = list(paths.values())
    return made


def taught(**parameters: float) -> tuple[Table, SleepingBandit]:
    """Return a bandit that has seen a seed with three links in a menu and two in its text."""
    table, bandit = seeded("s"), SleepingBandit(threshold=0.5, **parameters)
    see(bandit, table, page("s", 0.0, m1=MENU, m2=MENU, m3=MENU, t1=TEXT, t2=TEXT))
    return table, bandit


def test_vector_of_path_by_hand() -> None:
    """Each of the n pairs of a path has 1 / n, at the dimension to which its number is hashed.

    `html a` has the pairs [SOS] html, html a, a [EOS] with numbers 0, 1 and 2, at 0, 3896 and 3697: 766245317 mod 2^15
    = 31173, and 31173 / 8 = 3896.6; 2 * 31173 mod 2^15 = 29578, and 29578 / 8 = 3697.25.
    """
    where, values = Groups(0.75).vector("html a")
    assert dict.fromkeys((0, 3896, 3697), pytest.approx(1 / 3)) == dict(
        zip(where.tolist(), values.tolist(), strict=True)
    )


def test_vector_averages_pairs_in_same_dimension() -> None:
    groups = Groups(0.75)
    groups.vector("html a")
    groups._shared[3896] += 1  # simulate a later pair with the same dimension
    where, values = groups.vector("html a")
    assert pytest.approx(1 / 6) == values[where.tolist().index(3896)]
    assert hashed(0) == hashed(1 << 15) == 0  # numbers that differ by 2^15 share a dimension


def test_join_adds_to_nearest_group_or_new_one() -> None:
    """Paths join the nearest group if the cosine is at least theta (.5); the centre is the mean of its members.

    `html body a` and `html body b` share two of four pairs, a cosine of 2/4. In the centre shared pairs have 1/4 and
    others 1/8, so the cosine of `html body a` with it is (2/16 + 2/32) / (1/2 * sqrt(2/16 + 4/64)) = .1875 / (.5 *
    .4330) = .866.
    """
    apart, together = Groups(0.51), Groups(0.5)
    assert [0, 1, 0] == [apart.join(path) for path in ("html body a", "html body b", "html body a")]
    assert [0, 0] == [together.join(path) for path in ("html body a", "html body b")]
    where, values = together.vector("html body a")
    centre = together.centres[0]
    assert pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 4]) == sorted(centre[where].tolist())
    assert pytest.approx(math.sqrt(2 / 16 + 4 / 64)) == together.lengths[0]
    assert pytest.approx(math.sqrt(3) / 2) == float(centre[where] @ values) / (together.lengths[0] * 0.5)


def test_join_several_equals_one_after_the_other() -> None:
    one, other = Groups(0.1), Groups(0.1)
    for path in ("html body a", "html body b", "html body b"):
        one.join(path)
    other.join("html body a")
    other.join("html body b", 2)
    assert np.allclose(one.centres[0], other.centres[0], atol=1e-7)
    assert one.members[0] == other.members[0] == 3


def test_join_beyond_max_groups_takes_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.strategies.sleeping_bandit.MAX_GROUPS", 2)
    groups = Groups(1.0)
    assert [0, 1, 1] == [groups.join(path) for path in ("html a", "body div b", "body div c")]


def test_priority_before_first_request_is_0() -> None:
    table = Table()
    assert [0.0] == SleepingBandit().priority(np.array([table.add("a", 0)]), table).tolist()


def test_upper_bounds_by_hand() -> None:
    """The upper bound is mean reward + 2.83 sqrt(log t / n), where t = 4 after the seed and three pages.

    Menu: two pulls without reward, 2.83 sqrt(log 4 / 2) = 2.3548. Text: one pull with a relevant page, 1 + 2.83
    sqrt(log 4 / 1) = 4.3302.
    """
    table, bandit = taught()
    for node, relevance in (("m1", 0.0), ("m2", 0.0), ("t1", 1.0)):
        see(bandit, table, page(node, relevance))
    menu, text = score(bandit, table, "m3", "t2")
    assert pytest.approx(2 * math.sqrt(2) * math.sqrt(math.log(4) / 2), rel=1e-5) == menu
    assert pytest.approx(1 + 2 * math.sqrt(2) * math.sqrt(math.log(4)), rel=1e-5) == text
    terms = bandit.explain(table.row_of["t2"], table)
    assert {f"links at {TEXT}": 1.0, "tried seldom": pytest.approx(text - 1)} == terms
    rows = table.rows()
    assert table.row_of["t2"] == bandit.choose(rows, 1, table)
    # without t2 the text group is asleep
    assert table.row_of["m3"] == bandit.choose(rows[rows != table.row_of["t2"]], 1, table)


def test_choose_draws_any_link_of_best_group() -> None:
    table, bandit = taught()
    drawn = Counter(table.nodes[bandit.choose(table.rows(), number, table)] for number in range(900))
    assert {"m1", "m2", "m3"} == set(drawn)
    assert all(count == pytest.approx(300, abs=60) for count in drawn.values())


def test_reward_of_predicted_page_goes_to_parents_group() -> None:
    """A page that is classified as relevant is fetched first; its reward counts for the group of its parent.

    `x` is linked from t1, so its reward counts for the text group, not for its own, menu, which still counts the pull.
    """
    for relevance, rewards in ((1.0, [0.0, 1.0]), (0.0, [0.0, 0.0])):
        table, bandit = taught()
        bandit.addresses_.steps, bandit.addresses_.intercept = 10, 1.0  # make it classify everything as relevant
        see(bandit, table, page("t1", 0.0, x=MENU))
        assert table.row_of["x"] == bandit.choose(table.rows(), 1, table)
        assert score(bandit, table, "x")[0] > TARGET
        see(bandit, table, page("x", relevance))
        assert ([1.0, 1.0], rewards) == (bandit.groups_.pulls[:2].tolist(), bandit.groups_.rewards[:2].tolist())


def test_rewards_ignore_failures_copies_and_revisits() -> None:
    table, bandit = taught()
    see(bandit, table, Visit("m1", "page", "gone", 1))
    assert (2, 0.0) == (bandit.requests_, bandit.groups_.pulls[0])
    copy = page("m2", 1.0)
    copy.same_as = "s"
    see(bandit, table, copy)
    assert (3, 1.0, 0.0) == (bandit.requests_, bandit.groups_.pulls[0], bandit.groups_.rewards[0])
    again = page("m2", 1.0, new=TEXT)
    again.data["follows"] = 1.0
    see(bandit, table, again)
    assert (3, 1.0) == (bandit.requests_, bandit.groups_.pulls[0])
    assert bandit.group_[table.row_of["new"]] == bandit.group_[table.row_of["t1"]]
    redirect(bandit, table, "m3", "moved")
    assert bandit.group_[table.row_of["moved"]] == bandit.group_[table.row_of["m1"]]


def test_bigrams_ignore_case() -> None:
    aa = 65 * 95 + 65  # 'a' is 97 - 32
    assert [aa, aa] == bigrams("Aaa").tolist()
    assert [65 * 95 + 31] == bigrams("aé").tolist()  # '?' is 63 - 32


def test_classifier_batch_by_hand() -> None:
    """The classifier takes steps of logistic regression with a decaying rate, here ten times the relevant URL `ab`.

    First step: p = 0, rate 1 / (1e-4 * 1000) = 10, slope 1/2, so 5. Second step: the weight shrinks by 10 / 1.001 *
    1e-4, p = 4.995 + .05, and the slope is 1 / (exp(p) + 1).
    """
    model = AddressClassifier()
    for _ in range(BATCH - 1):
        model.add("ab", True)
    assert model.decision("ab") == -math.inf
    model._step("ab", True)
    assert (pytest.approx(5.0), pytest.approx(0.05)) == (model.weights[bigrams("ab")[0]], model.intercept)
    model._step("ab", True)
    rate = 10 / 1.001
    expected = 5 * (1 - rate * 1e-4) + rate / (math.exp(5.05) + 1)
    assert pytest.approx(expected) == model.weights[bigrams("ab")[0]]
    model.add("ab", True)
    assert model.decision("ab") > 0
    assert (12, []) == (model.steps, model.batch)


def test_classifier_separates_urls() -> None:
    model = AddressClassifier()
    for number in range(2 * BATCH):
        model.add(f"http://a.example/{('reef', 'news')[number % 2]}/{number}", number % 2 == 0)
    assert model.decision("http://a.example/reef/99") > 0 > model.decision("http://a.example/news/98")


def test_links_without_paths_are_one_group() -> None:
    table, bandit = seeded("s"), SleepingBandit()
    see(bandit, table, Visit("s", "page", "ok", 1, links=Links.to("a", "b")))
    assert [1, 1] == bandit.group_[[1, 2]].tolist()
    assert {"links at anywhere", "tried seldom"} == set(bandit.explain(1, table))
