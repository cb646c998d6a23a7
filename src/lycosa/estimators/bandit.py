"""Bandits: several estimators take turns, those that found good pages more often.

Paper items:
    gouriten-bandit: `--strategy mab_var`. Test: estimators/test_bandit.py::test_a_pull_takes_the_arm_s_top_row.
    gouriten-mab-epsilon: `--strategy mab_epsilon,literal=yes`. Test:
        estimators/test_bandit.py::test_epsilon_is_the_share_of_exploration. Departs: epsilon is the share of
        exploration, as in the paper that it cites; `literal=yes` is as printed.
    gouriten-reset: `--strategy mab_reset`. Test: estimators/test_bandit.py::test_reset_forgets.
    gouriten-window-reset: `--strategy mab_window`. Test:
        estimators/test_bandit.py::test_window_remembers_the_last_rewards_only.
    gouriten-mab-first: `--strategy mab_first`. Test: estimators/test_bandit.py::test_first_explores_once. Departs: N is
        the page budget.
    gouriten-last-epoch: `--strategy mab_reset`. Test: estimators/test_bandit.py::test_the_last_epoch_is_shorter.
    gouriten-mab-var: `--strategy mab_var`. Test: estimators/test_bandit.py::test_var_grows_while_the_same_arm_wins.
        Departs: p counts wins in a row.
    gouriten-arms: `--strategy mab_var,arms=fl_deg+fl_n+fl_e+fl_ne+lr_fl`. Test:
        estimators/test_bandit.py::test_defaults.
    gouriten-right-system: `--strategy mab_var`. Test: crawl/test_every_strategy.py::test_it_finds_its_topic.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from lycosa.core.columns import learned
from lycosa.core.errors import InputError
from lycosa.core.frontier import Frontier, Ready
from lycosa.core.frontiers import Frontiers
from lycosa.core.protocols import Estimator
from lycosa.core.strategies import Greedy
from lycosa.core.types import Pick, Step, Visit
from lycosa.estimators import PAPERS_ARMS, STRONG_ARMS, estimator
from lycosa.estimators.discounted import Discounted

if TYPE_CHECKING:
    from lycosa.core.table import Table

Policy = Literal["epsilon", "first", "reset", "var", "window", "discounted"]

HORIZON = 10_000
"""The budget that `first` reckons with when a crawl has none."""

WINDOW = 1000
RESET = {"reset": 1000, "var": 200}
EPSILON = {"var": 0.2}
MEANS_TO = {
    "epsilon": ("epsilon", "first", "reset", "var", "window"),
    "reset": ("reset", "var"),
    "window": ("window",),
    "literal": ("epsilon", "window"),
    "discount": ("discounted",),
    "width": ("discounted",),
}
"""The policies that each parameter says something to."""


def settings(policy: Policy) -> dict[str, Any]:
    """The parameters that say something to a policy, with what they are unless given.

    >>> settings("var")
    {'arms': ('fl_deg', 'fl_n', 'fl_e', 'fl_ne', 'lr_fl'), 'epsilon': 0.2, 'reset': 200}
    """
    every = {
        "arms": STRONG_ARMS if policy == "discounted" else PAPERS_ARMS,
        "epsilon": EPSILON.get(policy, 0.1),
        "reset": RESET.get(policy),
        "window": WINDOW,
        "literal": False,
        "discount": Discounted.discount,
        "width": Discounted.width,
    }
    return {name: value for name, value in every.items() if policy in MEANS_TO.get(name, (policy,))}


@dataclass
class Bandit:
    """Each arm is an estimator that ranks the whole frontier; to pull one is to fetch the row it ranks first.

    A pull's reward is beta of the page. With N pulls to come and the arms' mean rewards, the `policy` is one of

        epsilon     with probability epsilon any arm, otherwise the one with the best mean
        first       any arm for the first floor(epsilon N) pulls, then the best; N is the budget (10,000 without one)
        reset       `first` again and again, each time with N = reset and all means forgotten; the last one is shorter
        var         `reset` with epochs of reset * (p + 1) pulls: p is how many times in a row the best arm at the end
                    of an epoch's exploration was that of the epoch before
        window      `epsilon` with means over the last `window` rewards
        discounted  the best of values drawn around means in which older rewards count less: see `Discounted`

    Defaults: epsilon .1 (.2 for var), reset 1000 (200 for var: the paper's mab_var-0.2-200), window 1000, discount .95,
    width .5. The arms are names as `estimator` takes them, or estimators, without any the paper's (fl_deg, fl_n, fl_e,
    fl_ne, lr_fl); for discounted, which is ours, scent, best-first, fl_n and link-context. `threshold`, `targets` and
    the like are handed to those that ask.

    Steps are pulls that were recorded for good: what is in flight does not count yet. A failed page is a reward of 0,
    and so is a copy of a page we have. A redirect is no pull, nor is a visit that will be repeated: the arm is paid
    once the page is there, or known not to be. Seeds are no arm's merit. An arm without rewards has a mean of 0; of
    equal means the arm named first is the best. If an arm has no row to give (it prunes), the next best is pulled.

    Paper: Gouriten et al. 2014, section 7.4, estimators 6 to 8. Of mab_epsilon the paper says that the *best* arm is
    used with probability epsilon, which with its epsilon of .1 would be nine random pulls out of ten; epsilon is the
    exploration rate in the work it builds on, and so it is here. `literal` keeps the paper's wording (epsilon, window).
    Discounted is ours, after Garivier & Moulines 2011.

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
    rewards_: list[Fraction] = learned()  # exact: nothing stays of what leaves
    means_: list[Fraction] = learned()
    recent_: deque[tuple[int, float]] = learned(deque)
    lately_: Discounted = learned()
    step_: int = learned(int)  # of the epoch
    begun_: int = learned(int)  # the pulls before it
    repeats_: int = learned(int)  # p
    champion_: int = learned(lambda: -1)  # of this epoch's exploration
    winner_: int = learned(lambda: -1)  # of the epoch before

    def __post_init__(self) -> None:
        self._check()
        self.proportional = False  # the scores of several arms can't be compared
        facts = ("seed", "budget", "threshold", "targets", "words", "stems", "ontology")
        arms = settings(self.policy)["arms"] if self.arms is None else self.arms
        self.greedy_ = _arms(arms, **{name: getattr(self, name) for name in facts})
        self.wants = tuple(dict.fromkeys(facet for arm in self.greedy_ for facet in arm.wants))
        self._number = {arm.name: number for number, arm in enumerate(self.greedy_)}
        discount = Discounted.discount if self.discount is None else self.discount
        width = Discounted.width if self.width is None else self.width
        self.lately_ = Discounted(len(self.greedy_), discount, width, self.seed)
        self._forget()

    def frontier(
        self, table: Table, ready: Ready, lane_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """A ranking for each arm."""
        return Frontiers([arm.frontier(table, ready, lane_budget, patience, choosy) for arm in self.greedy_])

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """All arms see the visit; the one that was pulled for it is paid."""
        assert isinstance(frontier, Frontiers)
        for arm, ranking in zip(self.greedy_, frontier.arms, strict=True):
            arm.learn(step, table, ranking)
        visit = step.visit
        arm_number = self._number.get(visit.arm)
        if arm_number is not None and _is_settled(visit) and not table.is_seed[step.row]:
            self.reward(arm_number, visit.beta if visit.is_page and not visit.same_as else 0.0)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins every arm's ranking."""
        assert isinstance(frontier, Frontiers)
        for arm, ranking in zip(self.greedy_, frontier.arms, strict=True):
            arm.admit(row, table, ranking)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """The top row of the arm that the policy chooses."""
        assert isinstance(frontier, Frontiers)
        arm, row = frontier.first(self.order(number), now)
        return Pick(row, self.greedy_[arm].name, float(frontier.score[row]) if row >= 0 else 0.0)

    def order(self, number: int) -> Iterator[int]:
        """The arm that the policy pulls at this number, and the others in case it has nothing to give: the best first.

        Chance is drawn from the seed and the number.
        """
        arms = range(len(self.greedy_))
        if self.policy == "discounted":
            values = self.lately_.values(number)
            yield from sorted(arms, key=lambda arm: -values[arm])
            return
        first = self.best()
        if self.explores(number):
            first = random.Random(f"arm {self.seed} {number}").randrange(len(self.greedy_))
        yield first
        yield from sorted((arm for arm in arms if arm != first), key=lambda arm: -self.means_[arm])

    def explores(self, number: int) -> bool:
        """Whether the pick of this number is of any arm; if discounted, of another one than has the best mean."""
        if self.policy == "discounted":
            return next(self.order(number)) != self.best()
        if self.policy in ("epsilon", "window"):
            chance = random.Random(f"explore {self.seed} {number}").random() < self._epsilon
            return chance != self.literal
        return self.step_ < self._exploration()

    def mean(self, arm: int) -> Fraction:
        """The mean reward that the arm is credited with at present."""
        return self.means_[arm]

    def best(self) -> int:
        """The arm with the best mean, the first of several."""
        return self.means_.index(max(self.means_))

    def reward(self, arm: int, reward: float) -> None:
        """A pull was recorded: count it, and begin a new epoch if this one is over."""
        self._credit(arm, 1, Fraction(reward))
        if self.policy == "discounted":
            self.lately_.reward(arm, reward)
            self.means_[arm] = Fraction(
                self.lately_.mean(arm)
            )  # those of the others stay: both their sums shrink alike
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
        """Pulls of the present epoch: N of this epsilon-first."""
        if self.policy not in ("reset", "var"):
            return self.budget or HORIZON
        reset = RESET[self.policy] if self.reset is None else self.reset
        length = reset * (self.repeats_ + 1) if self.policy == "var" else reset
        left = self.budget - self.begun_
        return min(length, left) if left > 0 else length  # no budget; or failures, which are pulls and no pages

    def _next_epoch(self) -> None:
        champion = max(self.champion_, 0)  # without exploration: all means are 0, and the first arm is the best
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
        """The pulls of the present epoch that explore."""
        return math.floor(self._epsilon * self.length() + 1e-9)  # .29 * 100 is 28.999...

    def _check(self) -> None:
        for name, policies in MEANS_TO.items():
            value = getattr(self, name)
            if value is not None and value is not False and self.policy not in policies:
                others = " and ".join(f"mab_{policy}" for policy in policies)
                raise ValueError(f"{name} means nothing to mab_{self.policy}: leave it out, or take {others}")
        if not 0 <= self._epsilon <= 1:
            raise ValueError(f"epsilon is {self.epsilon}: it is a share of the pulls, between 0 and 1")
        for name, value in (("reset", self.reset), ("window", self.window)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}: it counts pulls, make it 1 or more")


def _is_settled(visit: Visit) -> bool:
    """Whether it is known what the pull has brought: a page, or that there is none."""
    return visit.kind == "page" and not visit.retry_at


def _arms(arms: Sequence[str | Estimator], **known: object) -> list[Greedy]:
    """The arms, each greedy over its estimator, under names that differ."""
    if not arms:
        raise ValueError(f"a bandit needs arms: write arms={'+'.join(PAPERS_ARMS)}, or others")
    if isinstance(arms, str):
        raise ValueError(f"arms is the text {arms!r}: give a tuple of names")
    by_name: dict[str, Greedy] = {}
    notes = []
    for arm in arms:
        try:
            guide = estimator(arm, **known) if isinstance(arm, str) else arm
        except InputError as error:
            raise InputError(f"arm {arm!r} of a bandit: {error}") from error
        if hasattr(guide, "pick"):
            raise ValueError(f"arm {arm!r} is itself a strategy that picks: arms are estimators, as fl_n or best-first")
        if not isinstance(guide, Estimator):
            raise ValueError(f"arm {arm!r} has no learn() and score(): arms are names of estimators, or estimators")
        if repr(guide) in notes:
            raise ValueError(f"arm {arm!r} is there twice: name each once, it would share its rewards with itself")
        notes.append(repr(guide))
        name = arm if isinstance(arm, str) else type(arm).__name__
        name = name if name not in by_name else f"{name}-{len(by_name) + 1}"
        by_name[name] = Greedy(guide, name)
    return list(by_name.values())
