"""Tests of the discounted bandit: discounted sums, sampled values, and changes of the best arm."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lycosa
from lycosa.checks.trials import START, graph
from lycosa.core.protocols import Strategy
from lycosa.judges.space_judge import SpaceJudge
from lycosa.strategies import STRATEGIES, STRONG_ARMS, describe, strategy
from lycosa.strategies.bandit import Bandit, DiscountedRewards

ARMS = ("best-first", "fl_n", "link-context")


def make_bandit(**given: Any) -> Bandit:
    """Return a bandit, with three arms by default."""
    return Bandit(**{"arms": ARMS, "policy": "discounted", **given})


def test_discounted_sums_by_hand() -> None:
    """With a discount of .5, each reward counts half as much after one more pull: (0: 1), (1: .5), (0: .25)."""
    bandit = make_bandit(discount=0.5)
    for arm, reward in ((0, 1.0), (1, 0.5), (0, 0.25)):
        bandit.reward(arm, reward)
    # Arm 0: reward 1 with weight .25, and .25 with weight 1; arm 1: reward .5 with weight .5; arm 2: never pulled.
    assert [0.25 + 1, 0.5, 0] == bandit.discounted_.pulls_
    assert [0.25 * 1 + 0.25, 0.5 * 0.5, 0] == bandit.discounted_.rewards_
    assert [0.5 / 1.25, 0.25 / 0.5, 0] == [float(bandit.mean(arm)) for arm in range(3)]
    assert 1 == bandit.best()
    assert [2, 1, 0] == bandit.pulls_, "how often each was pulled is not forgotten"


def test_values_without_spread_by_hand() -> None:
    """Values are (S / m + 1) / (N + 1), where m is the discounted mean of all rewards; 1 for an arm never pulled."""
    lately = DiscountedRewards(arms=3, discount=0.5, width=0.0)
    for arm, reward in ((0, 1.0), (1, 0.5), (0, 0.25)):
        lately.reward(arm, reward)
    m = (0.5 + 0.25) / (1.25 + 0.5)
    assert [(0.5 / m + 1) / 2.25, (0.25 / m + 1) / 1.5, 1.0] == lately.values(number=4)


def test_values_spread_shrinks_with_pulls() -> None:
    """The standard deviation over 4,000 draws is width / sqrt(N + 1): 1 without pulls, .5 after three recent ones."""
    lately = DiscountedRewards(arms=2, discount=1.0, width=1.0)
    for _ in range(3):
        lately.reward(1, 0.5)
    drawn = list(zip(*(lately.values(number) for number in range(4000)), strict=True))
    for column, spread in zip(drawn, (1.0, 0.5), strict=True):
        assert abs(sum(column) / 4000 - 1.0) < 4 * spread / math.sqrt(4000)
        assert abs(math.sqrt(sum((value - 1.0) ** 2 for value in column) / 4000) / spread - 1) < 0.06


def test_values_without_rewards_alternate_arms() -> None:
    bandit = make_bandit()
    counts = [0, 0, 0]
    for number in range(300):
        arm = next(bandit.order(number))
        counts[arm] += 1
        bandit.reward(arm, 0.0)
    assert min(counts) > 60


def test_values_depend_on_seed_and_number_only() -> None:
    orders = [[next(make_bandit(seed=seed).order(number)) for number in range(60)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    bandit = make_bandit(seed=1)
    assert orders[0][::-1] == [next(bandit.order(number)) for number in reversed(range(60))]


def test_picks_in_flight_use_several_arms() -> None:
    assert {0, 1, 2} == {next(make_bandit().order(number)) for number in range(1, 17)}


@settings(max_examples=60, deadline=None)
@given(
    scale=st.sampled_from([0.001, 3.0, 1024.0]),
    stream=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8)), max_size=40),
)
def test_values_ignore_scale_of_rewards(scale: float, stream: list[tuple[int, int]]) -> None:
    one, other = DiscountedRewards(3), DiscountedRewards(3)
    for arm, reward in stream:
        one.reward(arm, reward / 8)
        other.reward(arm, reward / 8 * scale)
    assert pytest.approx(one.values(7)) == other.values(7)


@settings(max_examples=60, deadline=None)
@given(
    discount=st.sampled_from([0.5, 0.9, 0.98, 1.0]),
    stream=st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1)), max_size=60),
)
def test_discounted_sums_equal_definition(discount: float, stream: list[tuple[int, float]]) -> None:
    lately = DiscountedRewards(3, discount)
    for arm, reward in stream:
        lately.reward(arm, reward)
    last = len(stream) - 1
    for arm in range(3):
        own = [(discount ** (last - s), reward) for s, (pulled, reward) in enumerate(stream) if pulled == arm]
        assert pytest.approx(sum(weight for weight, _ in own)) == lately.pulls_[arm]
        assert pytest.approx(sum(weight * reward for weight, reward in own)) == lately.rewards_[arm]


def played(bandit: Bandit, pulls: int) -> list[int]:
    """Return the arms pulled if arm 0 pays .9 on average, and .1 from pull 200 on, and arm 1 always pays .5."""
    noise, pulls_of_arms = random.Random(3), []
    for number in range(pulls):
        arm = next(bandit.order(number))
        pulls_of_arms.append(arm)
        mean = (0.9 if number < 200 else 0.1) if arm == 0 else 0.5
        bandit.reward(arm, mean + noise.uniform(-0.1, 0.1))
    return pulls_of_arms


@pytest.mark.paper("gouriten-more-bandits")
@pytest.mark.parametrize("seed", range(2))
def test_discounted_bandit_follows_change_of_best_arm(seed: int) -> None:
    """The discounted bandit changes arms within 30 pulls; mab_epsilon keeps the old arm, whose mean remains high."""
    two = ("best-first", "fl_n")
    ours = played(Bandit(two, "discounted", seed=seed), 350)
    assert ours[100:200].count(0) > 80
    assert ours[230:].count(1) > 0.85 * 120
    theirs = played(Bandit(two, "epsilon", seed=seed), 350)
    assert theirs[230:].count(1) < 0.15 * 120  # a mean of .9 over 200 pulls stays above .5 for 200 pulls of .1


def test_discount_1_does_not_follow_change() -> None:
    assert played(Bandit(("best-first", "fl_n"), "discounted", discount=1.0), 350)[230:].count(1) < 0.3 * 120


def test_default_arms_of_discounted_bandit_are_strong_ones() -> None:
    assert ("scent", "best-first", "fl_n", "link-context") == STRONG_ARMS
    assert set(STRONG_ARMS) < set(STRATEGIES)
    assert STRONG_ARMS == describe("mab_discounted")["arms"][1]
    for bandit in (strategy("mab_discounted"), Bandit(policy="discounted")):
        assert list(STRONG_ARMS) == _names(bandit)
    assert ["fl_e", "otie"] == _names(strategy("mab_discounted,arms=fl_e+otie"))


def _names(bandit: Strategy) -> list[str]:
    assert isinstance(bandit, Bandit)
    return [arm.name for arm in bandit.greedy_]


def test_replayed_visits_give_same_picks() -> None:
    bandit = make_bandit(seed=5)
    visits = list(lycosa.crawl(SpaceJudge(), [START], space=graph(200), strategy=bandit, budget=100))
    fresh = make_bandit(seed=5)
    numbers = {name: number for number, name in enumerate(ARMS)}
    for visit in visits:
        if visit.node != START:
            fresh.reward(numbers[visit.arm], visit.relevance)
    assert bandit.discounted_.pulls_ == fresh.discounted_.pulls_
    assert bandit.discounted_.rewards_ == fresh.discounted_.rewards_
    assert [list(bandit.order(number)) for number in range(101, 140)] == [
        list(fresh.order(number)) for number in range(101, 140)
    ]
    assert set(ARMS) == {visit.arm for visit in visits}
