"""When to look at each page again. `SCHEDULES` names what `--schedule` accepts; `make_schedule` makes one.

>>> make_schedule("fixed,every=1d", per_second=0.1).every
86400.0
"""

from __future__ import annotations

from typing import Any

from lycosa.core.registry import Entry, Registry
from lycosa.core.spec import check_parts, parse
from lycosa.refresh.schedules.schedule import Schedule

__all__ = ["SCHEDULES", "Schedule", "make_schedule"]


ENTRIES = {
    "automatic": Entry(
        "automatic", "Automatic", "learns how often each page changes, and looks where a look keeps most fresh",
        "Cho, Garcia-Molina 2003",
    ),
    "adaptive": Entry("baselines", "Adaptive", "sooner by a factor after a change, later after none, as Nutch does"),
    "fixed": Entry("baselines", "Fixed", "all pages alike: every so often, or as often as the budget allows"),
    "proportional": Entry("baselines", "Proportional", "in proportion to how often a page changes: the naive way"),
    "known": Entry(
        "automatic", "Known", "told how often each page changes: the optimum, for experiments",
        "Cho, Garcia-Molina 2003",
    ),
}  # fmt: skip
SCHEDULES = Registry("schedule", __name__, ENTRIES)


def make_schedule(text: str, per_second: float, **known: Any) -> Schedule:
    """The schedule of a name with parameters, or of a class of the user's own, `module:Class`.

    `known` is what a schedule is given and no one can type: the true rates, for `known`.
    """
    name, given = parse(text)
    schedule: Schedule = SCHEDULES.make(name, given, per_second=per_second, **known)
    if name not in SCHEDULES:
        check_parts(schedule, ("due", "claim", "per_second"), name)
    return schedule
