"""Tests of the defaults of the engine's protocols."""

import numpy as np
import pytest

from lycosa.core.options import Options
from lycosa.core.protocols import NEVER, Space, TrapFilter, VisitScheduler
from lycosa.core.table import Table
from lycosa.core.types import Page, Task, Visit


def test_space_must_define_visit() -> None:
    with pytest.raises(TypeError, match=r"Space has no method visit\(task\)"):
        Space().visit(Task("a"))


def test_space_defaults_have_no_delays() -> None:
    space = Space()
    assert ("a", "", (0.0, ""), None) == (
        space.node("a"),
        space.host_key("a"),
        space.ready(""),
        space.prerequisite("a"),
    )
    assert space.scope(Options())("anything", 99)


def test_trap_filter_default_holds_nothing_back() -> None:
    trap_filter, visit, table = TrapFilter(), Visit("a", "page", "ok", 1), Table()
    rows, levels = trap_filter.learn(visit, None, table)
    assert 0 == len(rows) == len(levels) == len(trap_filter.held_back(table))
    assert [0, 0] == trap_filter.levels(np.array([3, 4])).tolist()


def test_visit_scheduler_default_has_nothing_due() -> None:
    scheduler, visit = VisitScheduler(), Visit("a", "page", "ok", 1)
    assert (None, NEVER, True) == (scheduler.pick(1, 0.0), scheduler.next_due(0.0), scheduler.explores)
    assert not scheduler.is_same(visit, Page("ok"))
    assert not scheduler.wants_turn()
