"""Tests of bandits: choice of arms, rewards and epochs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lycosa
from lycosa.checks.failing import run_check
from lycosa.checks.strategy_checks import strategy_can_be_resumed
from lycosa.checks.trials import START, graph
from lycosa.core.composite import Frontiers
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Priorities, Rows, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.strategies import PAPERS_ARMS
from lycosa.strategies.bandit import Bandit, Policy
from lycosa.strategies.best_first import BestFirst

TWO = ("fl_deg", "fl_n")
FOUR = ("fl_deg", "fl_n", "fl_e", "fl_ne")
POLICIES: list[Policy] = ["epsilon", "first", "reset", "var", "window"]


def make_bandit(policy: Policy, **given: Any) -> Bandit:
    """Return a bandit, with two arms by default."""
    return Bandit(**{"arms": TWO, "policy": policy, **given})


def play(bandit: Bandit, *stream: tuple[int, float]) -> list[tuple[bool, int]]:
    """Feed a sequence of rewards; return for each whether the pull explored, and the best arm after it."""
    results = []
    for number, (arm, reward) in enumerate(stream, 1):
        explored = bandit.explores(number)
        bandit.reward(arm, reward)
        results.append((explored, bandit.best()))
    return results


@pytest.mark.paper("gouriten-mab-first")
def test_first_explores_once() -> None:
    """The first floor(.29 * 100) = 29 pulls explore; after that the arm with the best mean is pulled."""
    bandit = make_bandit("first", epsilon=0.29, budget=100)
    results = play(bandit, *[(n % 2, n % 2 / 2) for n in range(29)], (1, 0.0), *[(1, 0.0)] * 3, (0, 1.0))
    assert 29 == sum(explored for explored, _ in results)
    assert [True, False] == [explored for explored, _ in results[28:30]]
    # Arm 0 has fifteen pulls of 0 and a last one of 1, mean 1/16; arm 1 has fourteen of .5 and four of 0, mean 7/18.
    assert [Fraction(1, 16), Fraction(7, 18)] == [bandit.mean(0), bandit.mean(1)]


def test_first_without_budget_assumes_10000_pulls() -> None:
    bandit = make_bandit("first")
    bandit.step_ = 999
    assert bandit.explores(1)
    bandit.step_ = 1000
    assert not bandit.explores(1)
    assert 10_000 == bandit.length()


@pytest.mark.paper("gouriten-reset")
def test_reset_clears_means_after_each_epoch() -> None:
    """Half of each epoch of 4 pulls explores."""
    bandit = make_bandit("reset", epsilon=0.5, reset=4)
    results = play(bandit, (0, 0.1), (1, 0.9), (1, 0.9), (1, 0.9), (0, 0.2), (1, 0.1), (0, 0.2), (0, 0.2))
    assert [True, True, False, False] * 2 == [explored for explored, _ in results]
    # After the fourth pull all means are reset to 0, so the first arm is the best.
    assert [0, 1, 1, 0, 0, 0, 0, 0] == [best for _, best in results]
    assert 0 == bandit.mean(0) == bandit.mean(1)


@pytest.mark.paper("gouriten-last-epoch")
def test_last_epoch_is_cut_to_budget() -> None:
    """A budget of 10 is divided into epochs of 4, 4 and 2 pulls, of which 2, 2 and 1 explore."""
    bandit = make_bandit("reset", epsilon=0.5, reset=4, budget=10)
    results = play(bandit, *[(0, 0.5)] * 10)
    assert [2, 2, 1] == [sum(explored for explored, _ in results[a:b]) for a, b in ((0, 4), (4, 8), (8, 10))]
    assert [True, False] == [explored for explored, _ in results[8:]]


@pytest.mark.paper("gouriten-mab-var")
def test_var_grows_while_same_arm_wins() -> None:
    """Epochs have r (p + 1) pulls with r = 2 if the winner was repeated p times: 2, 2, 4, 6, then 2 again."""
    bandit = make_bandit("var", epsilon=0.5, reset=2)
    lengths = []
    for winner in (1, 1, 1, 0, 0, 0):
        lengths.append(bandit.length())
        play(bandit, *[(winner, 0.5)] * bandit.length())
    # p before each epoch: 0, 0 (first winner), 1, 2, 0 (arm 0 is a new winner), 1
    assert [2, 2, 4, 6, 2, 4] == lengths


def test_var_winner_is_best_after_exploration() -> None:
    bandit = make_bandit("var", epsilon=0.5, reset=4)
    # means 0 and .5 after two pulls, .5 and .25 at the end
    results = play(bandit, (1, 0.5), (0, 0.0), (1, 0.0), (0, 1.0))
    assert 1 == results[1][1]
    assert (1, 0) == (bandit.winner_, bandit.repeats_)


@pytest.mark.paper("gouriten-window-reset")
def test_window_uses_last_rewards_only() -> None:
    """Means use the last three rewards (0: .6), (1: .5), (1: .3), so they are .6 and .4; earlier ones are dropped."""
    bandit = make_bandit("window", window=3)
    play(bandit, (1, 1.0), (1, 1.0), (0, 0.6), (1, 0.5), (1, 0.3))
    assert [Fraction(0.6), (Fraction(0.5) + Fraction(0.3)) / 2] == [bandit.mean(0), bandit.mean(1)]
    play(bandit, (1, 0.1), (1, 0.1))
    assert 0 == bandit.mean(0), "an arm whose rewards have all left the window has none"
    assert [0, 3] == bandit.pulls_


@pytest.mark.paper("gouriten-mab-epsilon")
@pytest.mark.parametrize(("literal", "share"), [(False, 0.1), (True, 0.9)])
@pytest.mark.parametrize("policy", ["epsilon", "window"])
def test_epsilon_is_share_of_exploration(policy: Policy, literal: bool, share: float) -> None:
    """One pick in ten explores, nine in ten if epsilon is taken literally; the tolerance for 10,000 is 3 sigma."""
    bandit = make_bandit(policy, literal=literal)
    assert abs(share - sum(bandit.explores(n) for n in range(10_000)) / 10_000) < 0.01


def test_explores_depends_on_seed_and_number() -> None:
    drawn = [[make_bandit("epsilon", epsilon=0.5, seed=seed).explores(n) for n in range(100)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def expected_pulls(policy: str, epsilon: Fraction, reset: int, budget: int, stream: list[tuple[int, int]]) -> list[Any]:
    """Return the arm that each pull must choose by definition, or "any" if it explores."""
    results: list[Any] = []
    winners: list[int] = []
    position = 0
    while position < len(stream):
        repeats = 0
        while len(winners) > repeats + 1 and winners[-1 - repeats] == winners[-2 - repeats]:
            repeats += 1
        length = reset * (repeats + 1) if policy == "var" else reset
        if policy == "first":
            length = budget or 10_000
        elif 0 < budget - position < length:
            length = budget - position
        explore = int(epsilon * length)
        end = position + length if policy != "first" else len(stream)

        def best(upto: int, since: int = position) -> int:
            means = []
            for arm in range(3):
                rewards = [reward for pulled, reward in stream[since:upto] if pulled == arm]
                means.append(Fraction(sum(rewards), len(rewards)) if rewards else Fraction(0))
            return means.index(max(means))

        for pull in range(position, min(end, len(stream))):
            results.append("any" if pull < position + explore else best(pull))
        winners.append(best(position + explore))
        position = end
    return results


@settings(max_examples=60, deadline=None)
@given(
    policy=st.sampled_from(["first", "reset", "var"]),
    percent=st.integers(0, 100),
    reset=st.integers(1, 12),
    budget=st.integers(0, 60),
    stream=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=80),
)
def test_epochs_and_phases_equal_definition(
    policy: Policy, percent: int, reset: int, budget: int, stream: list[tuple[int, int]]
) -> None:
    extra: dict[str, Any] = {} if policy == "first" else {"reset": reset}
    bandit = Bandit(("fl_deg", "fl_n", "fl_e"), policy, epsilon=percent / 100, budget=budget, **extra)
    results: list[Any] = []
    for number, (arm, reward) in enumerate(stream, 1):
        results.append("any" if bandit.explores(number) else bandit.best())
        bandit.reward(arm, reward)
    assert expected_pulls(policy, Fraction(percent, 100), reset, budget, stream) == results


@settings(max_examples=50, deadline=None)
@given(window=st.integers(1, 8), stream=st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), max_size=40))
def test_window_means_equal_definition(window: int, stream: list[tuple[int, float]]) -> None:
    bandit = make_bandit("window", window=window)
    play(bandit, *stream)
    for arm in range(2):
        rewards = [Fraction(reward) for pulled, reward in stream[-window:] if pulled == arm]
        assert (sum(rewards) / len(rewards) if rewards else 0) == bandit.mean(arm)


def start(bandit: Bandit) -> tuple[Table, Frontiers]:
    """Return a table with a seed that links to a and b."""
    table = Table()
    frontier = bandit.frontier(table, lambda host_key: (0.0, ""))
    assert isinstance(frontier, Frontiers)
    bandit.admit(table.add_seed("seed"), table, frontier)
    learn(bandit, table, frontier, Visit("seed", "page", "ok", 1, arm="fl_n", relevance=1.0, links=Links.to("a", "b")))
    return table, frontier


def learn(bandit: Bandit, table: Table, frontier: Frontiers, visit: Visit) -> None:
    """Feed a visit to the bandit."""
    step = table.absorb(visit)
    assert step is not None
    bandit.learn(step, table, frontier)


@pytest.mark.parametrize(
    ("visit", "pulls", "mean"),
    [
        (Visit("a", "page", "ok", 2, arm="fl_n", relevance=0.75), 1, 0.75),
        (Visit("a", "page", "ok", 2, arm="fl_n", relevance=0.75, same_as="c"), 1, 0),
        (Visit("a", "page", "gone", 2, arm="fl_n", status=404), 1, 0),
        (Visit("a", "page", "unreachable", 2, arm="fl_n", retry_at=9.0), 0, 0),
        (Visit("a", "redirect", "redirect", 2, arm="fl_n", links=Links.to("c")), 0, 0),
        (Visit("a", "page", "ok", 2, arm="another strategy's", relevance=0.75), 0, 0),
    ],
)
def test_reward_depends_on_outcome_of_visit(visit: Visit, pulls: int, mean: float) -> None:
    """Pages are rewarded with beta, copies and failures with 0; other visits are not pulls."""
    bandit = make_bandit("epsilon")
    table, frontier = start(bandit)
    assert [0, 0] == bandit.pulls_, "the seed is not an arm's merit"
    learn(bandit, table, frontier, visit)
    assert ([0, pulls], mean) == (bandit.pulls_, float(bandit.mean(1)))


@pytest.mark.paper("gouriten-bandit")
def test_pick_returns_top_row_of_arm() -> None:
    bandit = make_bandit("epsilon", epsilon=0.0)
    table, frontier = start(bandit)
    for number, node in enumerate("pq", 2):
        table.add_seed(node)
        learn(bandit, table, frontier, Visit(node, "page", "ok", number, links=Links.to("many")))
    # fl_deg ranks 'many' (2 parents) first; fl_n ranks a first, as a and b have one parent with beta 1.
    pick = bandit.pick(4, frontier, 0.0)
    assert ("many", "fl_deg") == (table.nodes[pick.row], pick.arm)
    frontier.untake(pick.row)
    bandit.reward(1, 0.5)
    pick = bandit.pick(4, frontier, 0.0)
    assert ("a", "fl_n") == (table.nodes[pick.row], pick.arm)


class Prunes(BestFirst):
    """Estimator that prunes every row."""

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.full(len(rows), PRUNED)


class Wants(BestFirst):
    """Estimator that requests additional facets."""

    wants = ("context", "url")


def test_pick_skips_arm_without_rows() -> None:
    bandit = Bandit((Prunes(), "fl_n"), "epsilon", epsilon=0.0)
    _, frontier = start(bandit)
    assert ["fl_n", "fl_n"] == [bandit.pick(number, frontier, 0.0).arm for number in (2, 3)]
    assert -1 == bandit.pick(4, frontier, 0.0).row


def test_arms_can_be_objects() -> None:
    bandit = Bandit((BestFirst(), Wants(), BestFirst(merge="sum"), "fl_n,smooth=no"))
    assert ["BestFirst", "Wants", "BestFirst-3", "fl_n,smooth=no"] == [arm.name for arm in bandit.greedy_]
    assert ("context", "url") == bandit.wants
    assert not bandit.proportional


@pytest.mark.parametrize("arms", [("fl_n", BestFirst(), BestFirst()), ("fl_n", "fl_n,smooth=yes"), "fl_n", (3,)])
def test_bandit_rejects_invalid_arms(arms: Any) -> None:
    with pytest.raises(ValueError, match=r"arm"):
        Bandit(arms)


@pytest.mark.paper("gouriten-bandit-parameters", "gouriten-arms")
def test_defaults_of_policies_are_those_of_paper() -> None:
    """Bandits have the paper's arms, epsilon .1 (.2 for var), and resets after 1,000 pulls (200 for var)."""
    assert list(PAPERS_ARMS) == [arm.name for arm in Bandit().greedy_]
    assert [0.1, 0.1, 0.1, 0.2, 0.1] == [make_bandit(policy)._epsilon for policy in POLICIES]
    assert [1000, 200] == [make_bandit("reset").length(), make_bandit("var").length()]


@pytest.mark.parametrize(
    ("policy", "extra"), [("reset", {"reset": 11}), ("var", {"reset": 5}), ("window", {"window": 9})]
)
def test_bandit_can_be_resumed_in_any_epoch(policy: Policy, extra: dict[str, Any]) -> None:
    assert run_check(strategy_can_be_resumed, lambda: Bandit(FOUR, policy, seed=3, budget=300, **extra))


def test_visits_contain_their_arm() -> None:
    space, bandit = graph(200), Bandit(FOUR, "epsilon", epsilon=0.5)
    visits = list(lycosa.crawl(SpaceJudge(), [START], space=space, strategy=bandit, budget=100))
    assert set(FOUR) == {visit.arm for visit in visits}
    for number, name in enumerate(FOUR):
        paid = [visit for visit in visits if visit.arm == name and visit.node != START]
        assert (len(paid), sum(Fraction(visit.relevance) for visit in paid)) == (
            bandit.pulls_[number],
            bandit.rewards_[number],
        )
