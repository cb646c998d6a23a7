"""When to look at each page again. `SCHEDULES` names what `--schedule` accepts; `make_schedule` makes one.

>>> make_schedule("fixed,every=1d", per_second=0.1).every
86400.0
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.spec import build, check_parts, imported, parse
from lycosa.refresh.schedules.automatic import Automatic, Known
from lycosa.refresh.schedules.baselines import Adaptive, Fixed, Proportional
from lycosa.refresh.schedules.schedule import Schedule

__all__ = ["SCHEDULES", "Schedule", "make_schedule"]


class _Named(NamedTuple):
    maker: type[Schedule]
    summary: str
    paper: str = ""


SCHEDULES: dict[str, _Named] = {
    "automatic": _Named(
        Automatic, "learns how often each page changes, and looks where a look keeps most fresh",
        "Cho, Garcia-Molina 2003",
    ),
    "adaptive": _Named(Adaptive, "sooner by a factor after a change, later after none, as Nutch does"),
    "fixed": _Named(Fixed, "all pages alike: every so often, or as often as the budget allows"),
    "proportional": _Named(Proportional, "in proportion to how often a page changes: the naive way"),
    "known": _Named(
        Known, "told how often each page changes: the optimum, for experiments", "Cho, Garcia-Molina 2003"
    ),
}  # fmt: skip


def make_schedule(text: str, per_second: float, **known: Any) -> Schedule:
    """The schedule of a name with parameters, or of a class of the user's own, `module:Class`.

    `known` is what a schedule is given and no one can type: the true rates, for `known`.
    """
    name, given = parse(text)
    if ":" in name:
        own = build(imported(name, "the schedule"), given, name, per_second=per_second, **known)
        check_parts(own, ("due", "claim", "per_second"), name)
        return own  # type: ignore[no-any-return]
    if name not in SCHEDULES:
        raise InputError(f"there is no schedule {name!r}: take one of {', '.join(SCHEDULES)}, or module:Class")
    schedule: Schedule = build(SCHEDULES[name].maker, given, name, per_second=per_second, **known)
    return schedule
