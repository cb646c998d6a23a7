"""Bandits: several estimators take turns, those that found good pages more often."""

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
from lycosa.core.protocols import Estimator
from lycosa.core.strategies import Frontiers, Greedy
from lycosa.core.types import Pick, Step, Visit
from lycosa.strategies import PAPERS_ARMS, STRONG_ARMS, estimator

if TYPE_CHECKING:
    from lycosa.core.table import Table

Policy = Literal["epsilon", "first", "reset", "var", "window", "discounted"]
HORIZON = 10_000  # pulls, where a crawl has no budget
WINDOW = 1000
RESET = {"reset": 1000, "var": 200}
EPSILON = {"var": 0.2}
# The policies that use each parameter.
MEANS_TO = {
    "epsilon": ("epsilon", "first", "reset", "var", "window"),
    "reset": ("reset", "var"),
    "window": ("window",),
    "literal": ("epsilon", "window"),
    "discount": ("discounted",),
    "width": ("discounted",),
}


@dataclass
class Discounted:
    """What arms were worth of late, for a bandit whose best arm may be another one later.

    With every new reward all older ones count a little less, and arms that were not pulled of late are uncertain.

    With gamma = `discount`, and t the pulls of all arms so far, over the pulls s of arm i and their rewards X(s)

        N(i) = sum gamma^(t - s)          S(i) = sum gamma^(t - s) X(s)          m = sum over i of S / sum over i of N

    Before each pick a value is drawn for each arm, and the largest is pulled:

        value(i) = (S(i) / m + 1) / (N(i) + 1) + width * z(i) / sqrt(N(i) + 1),     z(i) normal, of (seed, pick number)

    The first part is the arm's discounted mean in units of m, the mean reward of late, so that `width` means the same
    whatever a judge's numbers look like. The 1 that is added on either side is one pull that was worth as much as any:
    an arm of which little is known goes back to the mean, and its value is drawn from further apart. So every arm is
    tried again sooner or later, the worse ones less often. While m is 0 the first part is 0 for all, and chance takes
    the arms in turn. `discount=1` forgets nothing, `width=0` always pulls the best.

    Paper: Garivier & Moulines 2011 ("On upper-confidence bound policies for switching bandit problems"), whose
    discounted sums these are. They add a bound to the mean, 2 B sqrt(xi log(sum N) / N(i)), where we draw (Thompson
    sampling): a bound gives the same arm to all picks that are made before the next reward is in, and a crawl has many
    in flight; draws differ from pick to pick. One page at a time, both find as much. B is the largest reward, which
    nobody knows beforehand: m takes its place. Their discount comes from the length of the game and how often it
    changes, ours from trials on an embedded web, where .9 to .98 did nearly alike.

    >>> lately = Discounted(arms=2, discount=.5, width=0)
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
            raise ValueError(
                f"discount is {self.discount}: it is what a reward still counts after one more pull, above 0 and at "
                "most 1, as .95"
            )
        if not 0 <= self.width < math.inf:
            raise ValueError(f"width is {self.width}: it says how far apart values are drawn, make it 0 or more")
        self.pulls_ = [0.0] * self.arms
        self.rewards_ = [0.0] * self.arms

    def reward(self, arm: int, reward: float) -> None:
        """A pull was recorded."""
        self.pulls_ = [self.discount * pulls for pulls in self.pulls_]
        self.rewards_ = [self.discount * rewards for rewards in self.rewards_]
        self.pulls_[arm] += 1
        self.rewards_[arm] += reward

    def mean(self, arm: int) -> float:
        """The discounted mean of an arm's rewards; 0 without any."""
        return self.rewards_[arm] / self.pulls_[arm] if self.pulls_[arm] else 0.0

    def values(self, number: int) -> list[float]:
        """What each arm is taken to be worth for the pick of this number."""
        pulls = sum(self.pulls_)
        m = sum(self.rewards_) / pulls if pulls else 0.0
        chance = random.Random(f"arm {self.seed} {number}")
        return [
            (s / m + 1 if m > 0 else 0.0) / (n + 1) + self.width * chance.gauss() / math.sqrt(n + 1)
            for n, s in zip(self.pulls_, self.rewards_, strict=True)
        ]


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
