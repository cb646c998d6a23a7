"""Multi-armed bandits: choose between several estimators by the rewards of their picks."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from lycosa.core.columns import learned
from lycosa.core.composite import Frontiers, Greedy
from lycosa.core.errors import InputError
from lycosa.core.frontier import Frontier, Ready
from lycosa.core.protocols import Estimator
from lycosa.core.types import Pick, Step, Visit
from lycosa.strategies import PAPERS_ARMS, STRONG_ARMS, estimator

if TYPE_CHECKING:
    from lycosa.core.table import Table

Policy = Literal["epsilon", "first", "reset", "var", "window", "discounted"]
WINDOW = 1000
RESET = {"reset": 1000, "var": 200}
EPSILON = {"var": 0.2}
# Policies that use each parameter.
USED_BY = {
    "epsilon": ("epsilon", "first", "reset", "var", "window"),
    "reset": ("reset", "var"),
    "window": ("window",),
    "literal": ("epsilon", "window"),
    "discount": ("discounted",),
    "width": ("discounted",),
}


@dataclass
class DiscountedRewards:
    """Discounted rewards of bandit arms, for arms whose quality changes during a crawl.

    With gamma = `discount`, and t the pulls of all arms so far, over the pulls s of arm i and their rewards X(s)

        N(i) = sum gamma^(t - s)          S(i) = sum gamma^(t - s) X(s)          m = sum over i of S / sum over i of N

    Before each pick a value is drawn for each arm, and the arm with the largest value is pulled:

        value(i) = (S(i) / m + 1) / (N(i) + 1) + width * z(i) / sqrt(N(i) + 1),     z(i) normal, of (seed, pick number)

    The first term is the arm's discounted mean in units of m, the recent mean reward (0 while m is 0), so `width` does
    not depend on the judge's scale. The added 1 is a prior pull with an average reward: an arm that has not been pulled
    recently returns to the mean with a wider distribution, so every arm is tried again eventually.

    Paper: Garivier & Moulines 2011 ("On upper-confidence bound policies for switching bandit problems") for the
    discounted sums. They add a bound to the mean where this class draws (Thompson sampling): with a bound, all picks
    made before the next reward arrives use the same arm, and a crawl has many requests in flight. With one request at a
    time both perform alike. The discount was tuned on an embedded web, where .9 to .98 performed about the same.

    >>> lately = DiscountedRewards(arms=2, discount=.5, width=0)
    >>> for arm, reward in ((0, 1.0), (1, .5), (1, .5)): lately.reward(arm, reward)
    >>> lately.pulls_, lately.rewards_, lately.mean(0)                # arm 0: a pull that is two pulls old
    ([0.25, 1.5], [0.25, 0.75], 1.0)
    >>> [round(value, 3) for value in lately.values(number=4)]        # m is 1 / 1.75
    [1.15, 0.925]
    """

    arms: int
    discount: float = 0.95
    width: float = 0.5
    seed: int = 0
    pulls_: list[float] = learned()
    rewards_: list[float] = learned()

    def __post_init__(self) -> None:
        if not 0 < self.discount <= 1:
            raise ValueError(f"'discount' is {self.discount}: it must be above 0 and at most 1, for example .95")
        if not 0 <= self.width < math.inf:
            raise ValueError(f"'width' is {self.width}: it must be 0 or more")
        self.pulls_ = [0.0] * self.arms
        self.rewards_ = [0.0] * self.arms

    def reward(self, arm: int, reward: float) -> None:
        self.pulls_ = [self.discount * pulls for pulls in self.pulls_]
        self.rewards_ = [self.discount * rewards for rewards in self.rewards_]
        self.pulls_[arm] += 1
        self.rewards_[arm] += reward

    def mean(self, arm: int) -> float:
        return self.rewards_[arm] / self.pulls_[arm] if self.pulls_[arm] else 0.0

    def values(self, number: int) -> list[float]:
        pulls = sum(self.pulls_)
        m = sum(self.rewards_) / pulls if pulls else 0.0
        chance = random.Random(f"arm {self.seed} {number}")
        return [
            (s / m + 1 if m > 0 else 0.0) / (n + 1) + self.width * chance.gauss() / math.sqrt(n + 1)
            for n, s in zip(self.pulls_, self.rewards_, strict=True)
        ]


def settings(policy: Policy) -> dict[str, Any]:
    every = {
        "arms": STRONG_ARMS if policy == "discounted" else PAPERS_ARMS,
        "epsilon": EPSILON.get(policy, 0.1),
        "reset": RESET.get(policy),
        "window": WINDOW,
        "literal": False,
        "discount": DiscountedRewards.discount,
        "width": DiscountedRewards.width,
    }
    return {name: value for name, value in every.items() if policy in USED_BY.get(name, (policy,))}


@dataclass
class Bandit:
    """A bandit over estimators: pulling an arm fetches the row that its estimator ranks first.

    The reward of a pull is the relevance beta of the page. With N pulls to come, `policy` is one of

        epsilon     with probability epsilon a random arm, otherwise the one with the best mean
        first       a random arm for the first floor(epsilon N) pulls, then the best; N is the budget (or 10,000)
        reset       `first` repeated with N = reset, forgetting all means each time; the last epoch is cut to the budget
        var         `reset` with epochs of reset * (p + 1) pulls, where p counts how often in a row the best arm after
                    an epoch's exploration equalled that of the epoch before
        window      `epsilon` with means over the last `window` rewards
        discounted  the largest of values drawn around discounted means: see `DiscountedRewards`

    Arms are estimators or their names; `settings` has the defaults. A pull counts once its visit is recorded. Failed
    pages and copies of known pages have a reward of 0. Redirects and visits that will be retried do not count as pulls.
    Seeds are credited to no arm. Arms without rewards have a mean of 0; ties go to the arm listed first. If an arm has
    no rows left, the next best arm is pulled.

    Paper: Gouriten et al. 2014, section 7.4, estimators 6 to 8. For mab_epsilon the paper uses the *best* arm with
    probability epsilon, which with its epsilon of .1 means nine random pulls out of ten; in the work it builds on,
    epsilon is the exploration rate, as it is here. `literal` restores the paper's wording (epsilon, window).

    >>> bandit = Bandit(arms=("fl_deg", "fl_n"), policy="first", epsilon=.5, budget=4)
    >>> for arm, reward in ((1, .5), (0, .25)): bandit.reward(arm, reward)      # two of four pulls explore
    >>> bandit.explores(number=3), bandit.best()
    (False, 1)
    """

    arms: tuple[str | Estimator, ...] | None = None
    policy: Policy = "var"
    epsilon: float | None = None
    reset: int | None = None
    window: int | None = None
    literal: bool = False
    discount: float | None = None
    width: float | None = None
    seed: int = 0
    budget: int = 0
    threshold: float = 0.1
    targets: tuple[str, ...] = ()
    words: str | Mapping[str, float] = ""
    stems: Mapping[str, float] | None = None
    ontology: str = ""
    greedy_: list[Greedy] = learned()
    pulls_: list[int] = learned()
    rewards_: list[Fraction] = learned()  # fractions, so that a reward leaving the window leaves no rounding error
    means_: list[Fraction] = learned()
    recent_: deque[tuple[int, float]] = learned(deque)
    discounted_: DiscountedRewards = learned()
    step_: int = learned(int)  # pulls of this epoch so far
    begun_: int = learned(int)  # pulls before this epoch
    repeats_: int = learned(int)  # p: times in a row that the same arm won
    champion_: int = learned(lambda: -1)  # best arm after this epoch's exploration
    winner_: int = learned(lambda: -1)  # best arm after the previous epoch's exploration

    def __post_init__(self) -> None:
        self._check()
        self.proportional = False  # priorities of different arms can't be compared
        facts = ("seed", "budget", "threshold", "targets", "words", "stems", "ontology")
        arms = settings(self.policy)["arms"] if self.arms is None else self.arms
        self.greedy_ = _arms(arms, **{name: getattr(self, name) for name in facts})
        self.wants = tuple(dict.fromkeys(facet for arm in self.greedy_ for facet in arm.wants))
        self._number = {arm.name: number for number, arm in enumerate(self.greedy_)}
        discount = DiscountedRewards.discount if self.discount is None else self.discount
        width = DiscountedRewards.width if self.width is None else self.width
        self.discounted_ = DiscountedRewards(len(self.greedy_), discount, width, self.seed)
        self._forget()

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        return Frontiers([arm.frontier(table, ready, host_budget, patience, choosy) for arm in self.greedy_])

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        assert isinstance(frontier, Frontiers)
        for arm, ranking in zip(self.greedy_, frontier.arms, strict=True):
            arm.learn(step, table, ranking)
        visit = step.visit
        arm_number = self._number.get(visit.arm)
        if arm_number is not None and _is_settled(visit) and not table.is_seed[step.row]:
            self.reward(arm_number, visit.relevance if visit.is_page and not visit.same_as else 0.0)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        assert isinstance(frontier, Frontiers)
        for arm, ranking in zip(self.greedy_, frontier.arms, strict=True):
            arm.admit(row, table, ranking)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        assert isinstance(frontier, Frontiers)
        arm, row = frontier.first(self.order(number), now)
        return Pick(row, self.greedy_[arm].name, float(frontier.priority[row]) if row >= 0 else 0.0)

    def explain(self, row: int, arm: str, table: Table) -> dict[str, float]:
        return self.greedy_[self._number[arm]].explain(row, arm, table) if arm in self._number else {}

    def order(self, number: int) -> Iterator[int]:
        """Yield arms in order of preference for a pick; deterministic in (seed, number)."""
        arms = range(len(self.greedy_))
        if self.policy == "discounted":
            values = self.discounted_.values(number)
            yield from sorted(arms, key=lambda arm: -values[arm])
            return
        first = self.best()
        if self.explores(number):
            first = random.Random(f"arm {self.seed} {number}").randrange(len(self.greedy_))
        yield first
        yield from sorted((arm for arm in arms if arm != first), key=lambda arm: -self.means_[arm])

    def explores(self, number: int) -> bool:
        """Return True if a pick uses a random arm or, if discounted, an arm other than the one with the best mean."""
        if self.policy == "discounted":
            return next(self.order(number)) != self.best()
        if self.policy in ("epsilon", "window"):
            chance = random.Random(f"explore {self.seed} {number}").random() < self._epsilon
            return chance != self.literal
        return self.step_ < self._exploration()

    def mean(self, arm: int) -> Fraction:
        return self.means_[arm]

    def best(self) -> int:
        return self.means_.index(max(self.means_))

    def reward(self, arm: int, reward: float) -> None:
        """Record the reward of a pull, and start a new epoch if this one is complete."""
        self._credit(arm, 1, Fraction(reward))
        if self.policy == "discounted":
            self.discounted_.reward(arm, reward)
            # The means of the other arms do not change, as their pulls and rewards shrink by the same factor.
            self.means_[arm] = Fraction(self.discounted_.mean(arm))
            return
        if self.policy == "window":
            self.recent_.append((arm, reward))
            if len(self.recent_) > (WINDOW if self.window is None else self.window):
                left, gone = self.recent_.popleft()
                self._credit(left, -1, -Fraction(gone))
        self.step_ += 1
        if self.step_ == self._exploration():
            self.champion_ = self.best()
        if self.policy in ("reset", "var") and self.step_ == self.length():
            self._next_epoch()

    def length(self) -> int:
        """Return the number of pulls in the current epoch: the N of this run of epsilon-first."""
        if self.policy not in ("reset", "var"):
            return self.budget or 10_000
        reset = RESET[self.policy] if self.reset is None else self.reset
        length = reset * (self.repeats_ + 1) if self.policy == "var" else reset
        left = self.budget - self.begun_
        return min(length, left) if left > 0 else length  # failures count as pulls, so pulls can exceed the budget

    def _next_epoch(self) -> None:
        champion = max(self.champion_, 0)  # without exploration all means are 0, and the first arm wins
        self.repeats_ = self.repeats_ + 1 if champion == self.winner_ else 0
        self.winner_, self.champion_ = champion, -1
        self.begun_ += self.step_
        self.step_ = 0
        self._forget()

    def _forget(self) -> None:
        self.pulls_ = [0] * len(self.greedy_)
        self.rewards_ = [Fraction(0)] * len(self.greedy_)
        self.means_ = [Fraction(0)] * len(self.greedy_)

    def _credit(self, arm: int, pulls: int, reward: Fraction) -> None:
        self.pulls_[arm] += pulls
        self.rewards_[arm] += reward
        self.means_[arm] = self.rewards_[arm] / self.pulls_[arm] if self.pulls_[arm] else Fraction(0)

    @property
    def _epsilon(self) -> float:
        return EPSILON.get(self.policy, 0.1) if self.epsilon is None else self.epsilon

    def _exploration(self) -> int:
        return math.floor(self._epsilon * self.length() + 1e-9)  # + 1e-9, since .29 * 100 is 28.999...

    def _check(self) -> None:
        for name, policies in USED_BY.items():
            value = getattr(self, name)
            if value is not None and value is not False and self.policy not in policies:
                others = " and ".join(f"mab_{policy}" for policy in policies)
                raise ValueError(f"mab_{self.policy} does not use {name}: leave it out, or use {others}")
        if not 0 <= self._epsilon <= 1:
            raise ValueError(f"'epsilon' is {self.epsilon}: it must be a share of the pulls from 0 to 1")
        for name, value in (("reset", self.reset), ("window", self.window)):
            if value is not None and value < 1:
                raise ValueError(f"'{name}' is {value}: it must be at least 1 pull")


def _is_settled(visit: Visit) -> bool:
    return visit.kind == "page" and not visit.retry_at


def _arms(arms: Sequence[str | Estimator], **known: object) -> list[Greedy]:
    if not arms:
        raise ValueError(f"a bandit needs arms, for example arms={'+'.join(PAPERS_ARMS)}")
    if isinstance(arms, str):
        raise ValueError(f"'arms' is the string {arms!r}: pass a tuple of names")
    by_name: dict[str, Greedy] = {}
    notes = []
    for arm in arms:
        try:
            guide = estimator(arm, **known) if isinstance(arm, str) else arm
        except InputError as error:
            raise InputError(error.code, f"arm {arm!r} of a bandit: {error}") from error
        if hasattr(guide, "pick"):
            raise ValueError(f"arm {arm!r} is a strategy: arms must be estimators, such as fl_n or best-first")
        if not isinstance(guide, Estimator):
            raise ValueError(f"arm {arm!r} has no learn() and priority(): arms must be estimators or their names")
        if repr(guide) in notes:
            raise ValueError(f"arm {arm!r} is listed twice: list each arm once")
        notes.append(repr(guide))
        name = arm if isinstance(arm, str) else type(arm).__name__
        name = name if name not in by_name else f"{name}-{len(by_name) + 1}"
        by_name[name] = Greedy(guide, name)
    return list(by_name.values())
