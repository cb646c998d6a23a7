"""Tests of DISCO: the bandit, operators and rewards on a graph, and the ranking."""

import math

import numpy as np
import pytest

from lycosa.core.types import Links, Terms, Visit
from lycosa.strategies.disco import Disco, ExampleSimilarity, Ucb1, logistic
from teaching import redirect, score, see, seeded

LN2 = math.log(2)


def terms(**counts: int) -> Terms:
    """Return terms with letters as words: a is 0, b is 1."""
    ids = [ord(word) - ord("a") for word in counts]
    return Terms(np.array(ids, np.uint32), np.array(list(counts.values()), np.uint16))


def page(node: str, relevance: float, *links: str, **words: int) -> Visit:
    """Return a page visit with words."""
    return Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*links), terms=terms(**words))


def test_ucb1_values_by_hand() -> None:
    """UCB1 is mean + sqrt(2 ln N / n): .5 + sqrt(2 ln 16 / 4) after 4 pulls, .25 + sqrt(2 ln 16 / 12) after 12."""
    bandit = Ucb1(3)
    bandit.reward(0, 0.5, 4)
    bandit.reward(1, 0.25, 12)
    first, second = 0.5 + math.sqrt(2 * 4 * LN2 / 4), 0.25 + math.sqrt(2 * 4 * LN2 / 12)
    assert [pytest.approx(first), pytest.approx(second), math.inf] == bandit.values()
    assert [2, 0, 1] == bandit.order()  # 1.677 before .930; an arm that was never pulled comes first


def test_ucb1_reward_updates_mean() -> None:
    """The mean after three pulls of .5 and one of .1 is (3 * .5 + .1) / 4 = .4."""
    bandit = Ucb1(1)
    bandit.reward(0, 0.5, 3)
    bandit.reward(0, 0.1, 1)
    assert [4] == bandit.pulls
    assert [pytest.approx(0.4)] == bandit.means


def test_first_rounds_by_hand() -> None:
    """The reward of an operator is the mean of 1 - rank / pages over its new pages; an unused operator is tried first.

    Seed s links to a, b, c and d. Forward takes two links per page: a and b, with priorities 1 and 1 - 1/2. Then a (.2)
    and b (.9) are fetched. Ranked by relevance, as no page reaches the threshold of 1: b, s (.5), a. So the reward is
    (1 - 0/3 + 1 - 2/3) / 2 = 2/3 for 2 pulls. Backward goes from b, the best, to s, which links to it, and takes c and
    d.
    """
    strategy, table = Disco(links=2, k=1, threshold=1.0), seeded("s")
    assert ["a", "b", "c", "d"] == see(strategy, table, page("s", 0.5, *"abcd"))
    assert [1.0, 0.5, 0.0, 0.0] == score(strategy, table, *"abcd")
    assert {"forward, from s": 1.0} == strategy.explain(table.row_of["a"], table)
    assert {"no operator has taken it yet": 0.0} == strategy.explain(table.row_of["c"], table)
    see(strategy, table, page("a", 0.2))
    assert [0.0, 0.0] == score(strategy, table, *"cd")
    assert ["c", "d"] == see(strategy, table, page("b", 0.9))
    assert [1.0, 0.5] == score(strategy, table, *"cd")
    assert [pytest.approx(2 / 3), 0.0] == strategy.bandit_.means
    assert {"backward, from b": 1.0} == strategy.explain(table.row_of["c"], table)


def test_backward_reward_and_next_round_by_hand() -> None:
    """Backward is rewarded and forward is next: 2/3 + sqrt(2 ln 4 / 2) = 1.844 against .5 + the same.

    The previous crawl continues: c (.1) and d (.8) link to e and f. Ranks are b, d, s, a, c: the reward of backward is
    (1 - 1/5 + 1 - 4/5) / 2 = .5. Forward starts from b, which has no links left, then from d, the next best, and takes
    f.
    """
    strategy, table = Disco(links=2, k=1, threshold=1.0), seeded("s")
    for visit in (page("s", 0.5, *"abcd"), page("a", 0.2), page("b", 0.9), page("c", 0.1, "e"), page("d", 0.8, "f")):
        changed = see(strategy, table, visit)
    assert ["f"] == changed
    assert [pytest.approx(2 / 3), pytest.approx(0.5)] == strategy.bandit_.means[:2]
    assert [2, 2] == strategy.bandit_.pulls
    assert [0.0, 1.0] == score(strategy, table, "e", "f")
    assert {"forward, from d": 1.0} == strategy.explain(table.row_of["f"], table)


def test_rounds_start_after_all_seeds() -> None:
    """The links of the seed that ranks first (.9 against .5) are taken first."""
    strategy, table = Disco(threshold=1.0), seeded("s", "t")
    see(strategy, table, page("s", 0.5, "a"))
    assert [0.0] == score(strategy, table, "a")
    assert ["a", "b"] == see(strategy, table, page("t", 0.9, "b"))
    assert [0.5, 1.0] == score(strategy, table, "a", "b")


def test_redirects_and_failures_count_in_round() -> None:
    strategy, table = Disco(links=2, k=1, threshold=1.0), seeded("s")
    see(strategy, table, page("s", 0.5, "a", "b", "c"))
    redirect(strategy, table, "a", "new")
    assert [1.0] == score(strategy, table, "new")
    see(strategy, table, Visit("b", "page", "gone", 2))
    assert [0.0] == score(strategy, table, "c")
    see(strategy, table, page("new", 0.9))
    assert [1, 0] == strategy.bandit_.pulls
    assert 1.0 == strategy.bandit_.means[0]  # ranks: new, s; reward (1 - 0/2) / 1


def test_untaken_links_are_fetched_when_operators_run_out() -> None:
    strategy, table = Disco(links=1, k=1, threshold=1.0), seeded("s")
    see(strategy, table, page("s", 0.5, *"abc"))
    see(strategy, table, page("a", 0.9))  # forward: a has no links; backward: from a to s, takes b
    see(strategy, table, page("b", 0.8))  # backward: from b to s, takes c
    assert [1.0] == score(strategy, table, "c")
    see(strategy, table, page("c", 0.7, "d"))
    assert [1.0] == score(strategy, table, "d")


def like() -> ExampleSimilarity:
    """Return a similarity with examples a:1 b:1 and a:1 b:3, a page a:3 c:1, and a counterexample c:2 d:1."""
    made = ExampleSimilarity()
    made.add(terms(a=1, b=1), relevant=True)
    made.add(terms(a=1, b=3), relevant=True)
    made.add(terms(a=3, c=1), relevant=True)
    made.positive_.pop()  # keep it as a page only, as if the examples had been full
    made.add(terms(c=2, d=1), relevant=False)
    return made


def test_jaccard_by_hand() -> None:
    """Jaccard of {a, c} with {a, b} is 1/3 for both examples; the last page shares no word."""
    assert pytest.approx([1.0, 1.0, 1 / 3, 0.0]) == like().parts()["Jaccard"].tolist()


def test_cosine_by_hand() -> None:
    """The examples (1, 1)/sqrt 2 and (1, 3)/sqrt 10 have the cosine 4/sqrt 20 = 2/sqrt 5.

    The third page is (1, 0), as c is in no example: 1/sqrt 2 and 1/sqrt 10.
    """
    expected = [(1 + 2 / math.sqrt(5)) / 2] * 2 + [(1 / math.sqrt(2) + 1 / math.sqrt(10)) / 2, 0.0]
    assert pytest.approx(expected) == like().parts()["cosine"].tolist()


def test_bayesian_sets_by_hand() -> None:
    """The score is constant + sum of q, where q = ln a'/a - ln b'/b.

    Relative frequencies of a and b: (1/2, 1/2), (1/4, 3/4), (1, 0), (0, 0); their means are 7/16 and 5/16. a = 2 * mean
    = (7/8, 5/8), b = 2 - a = (9/8, 11/8); the examples sum to (3/4, 5/4). So a' = (13/8, 15/8) and b' = b + 2 - (3/4,
    5/4) = (19/8, 17/8). q = (ln 13/7 - ln 19/9, ln 3 - ln 17/11), the constant is 2 ln(2/4) + ln 19/9 + ln 17/11.
    """
    q_a, q_b = math.log(13 / 7) - math.log(19 / 9), math.log(3) - math.log(17 / 11)
    constant = -2 * LN2 + math.log(19 / 9) + math.log(17 / 11)
    expected = [constant + (q_a + q_b) / 2, constant + q_a / 4 + q_b * 3 / 4, constant + q_a, constant]
    assert pytest.approx(expected) == like().parts()["Bayesian Sets"].tolist()


def test_classifier_by_hand() -> None:
    """Logistic regression of an example with a and a counterexample with b: x = (1, 0), (0, 1), w_a = -w_b = w, c = 0.

    The idf is equal for both words and cancels. The loss w^2 + 2 ln(1 + e^-w) is smallest at w = 1 / (1 + e^w) = .4011.
    """
    made = ExampleSimilarity()
    made.add(terms(a=2), relevant=True)
    made.add(terms(b=2), relevant=False)
    w = 0.40105813754  # w (1 + e^w) = .40105813754 * 2.49340 = 1
    assert pytest.approx(1.0) == w * (1 + math.exp(w))
    weights, intercept = logistic(np.eye(2), np.array([True, False]))
    assert pytest.approx([w, -w, 0.0]) == [*weights.tolist(), intercept]
    assert pytest.approx([w, -w]) == made.parts()["classifier"].tolist()


def test_scores_average_parts() -> None:
    made = like()
    parts = made.parts()
    assert ["Bayesian Sets", "classifier", "cosine", "Jaccard"] == list(parts)
    assert pytest.approx(sum(parts.values()) / 4, abs=1e-9) == made.scores()
    made.negative_.clear()
    assert ["Bayesian Sets", "cosine", "Jaccard"] == list(made.parts())
    assert {} == ExampleSimilarity().parts()


def test_examples_are_first_relevant_pages() -> None:
    made = ExampleSimilarity(max_examples=2)
    for relevant in (False, True, True, True, *[False] * 5):
        made.add(terms(a=1), relevant)
    assert [1, 2] == made.positive_
    assert [0, 4, 5, 6] == made.negative_


def test_ranking_uses_similarity_once_there_is_an_example() -> None:
    strategy, table = Disco(threshold=0.6, examples=1), seeded("s")
    see(strategy, table, page("s", 0.9, "x", "y", a=3, b=1))
    see(strategy, table, page("x", 0.5, c=5))
    see(strategy, table, page("y", 0.1, a=2, b=2))
    assert [0, 2, 1] == strategy.ranking().tolist()


def test_add_keeps_most_frequent_words() -> None:
    """The 2,000 most frequent words are kept, regardless of their ids: here all 1,500 with frequency 2."""
    made = ExampleSimilarity()
    counts = np.repeat([1, 2], [1000, 1500]).astype(np.uint16)
    made.add(Terms(np.arange(2500, dtype=np.uint32), counts), relevant=True)
    assert 1500 == made.start_[1]
    assert 1000 == made.ids_[0]
