"""What arms were worth of late, for a bandit whose best arm may be another one later.

Paper items:
    gouriten-more-bandits: `--strategy mab_discounted`. Test:
        estimators/test_discounted.py::test_it_follows_when_another_arm_is_the_best.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from lycosa.core.columns import learned


@dataclass
class Discounted:
    """With every new reward all older ones count a little less, and arms that were not pulled of late are uncertain.

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
