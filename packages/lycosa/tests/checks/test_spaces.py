"""Checks of spaces: shipped ones pass, broken ones fail the right check."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lycosa.checks import CHECKS, CheckFailed, check_space
from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Task
from lycosa.spaces.graph import GraphSpace
from lycosa.spaces.making import wall_clock
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import Web, serve
from lycosa.web.fetch import HttpTransport
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness


def test_check_space_passes_for_graph_space() -> None:
    assert list(CHECKS["space"]) == check_space(GraphSpace({"a": ["b", "c"], "b": ["a"]}, {"a": 1.0}), "a")


def test_check_space_passes_for_web_space() -> None:
    web, clock = Web(seed=7, pages=200, hosts=4, traps=()), wall_clock()
    with serve(web):
        politeness = Politeness(clock, delay=0.0)
        transport = HttpTransport(clock, Guard(["127.0.0.0/8"]), DnsCache(clock), politeness)
        space = WebSpace(transport, politeness, clock)
        assert list(CHECKS["space"]) == check_space(space, next(web.urls()))


class OddSpace(GraphSpace):
    """Base of spaces with one error each."""

    def __init__(self) -> None:
        super().__init__({"a": ["b", "c"]})
        self.visits = 0


class Raising(OddSpace):
    async def visit(self, task: Task) -> Page:
        return Page("ok", links=Links.to(*self.links[task.node]))


class RaggedLinks(OddSpace):
    async def visit(self, task: Task) -> Page:
        return Page("ok", links=Links(["b", "c"]))


class NoPage(OddSpace):
    async def visit(self, task: Task) -> Page:
        return None  # type: ignore[return-value]


class UnknownOutcome(OddSpace):
    async def visit(self, task: Task) -> Page:
        return Page("fine")  # type: ignore[arg-type]


class Changing(OddSpace):
    async def visit(self, task: Task) -> Page:
        self.visits += 1
        return Page("ok", links=Links.to(f"link {self.visits}"))


class DeclaredChanging(Changing):
    changes = True


class UnstableHostKey(OddSpace):
    def host_key(self, node: str) -> str:
        self.visits += 1
        return f"host {self.visits}"


class Unready(OddSpace):
    def ready(self, host_key: str) -> Any:
        return True


class SharedState(OddSpace):
    node = ""

    async def visit(self, task: Task) -> Page:
        self.node = task.node
        await asyncio.sleep(0)
        return Page("ok", links=Links.to(*self.links.get(self.node, ())))


class OddPrerequisite(OddSpace):
    def prerequisite(self, node: str) -> Any:
        return "not now"


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (UnstableHostKey, "host_keys_are_stable"),
        (Unready, "ready_returns_time_and_reason"),
        (OddPrerequisite, "prerequisite_is_valid"),
        (NoPage, "visit_returns_page"),
        (UnknownOutcome, "visit_returns_page"),
        (RaggedLinks, "links_are_columns"),
        (Raising, "failures_are_outcomes"),
        (Changing, "visits_repeat"),
        (SharedState, "eight_concurrent_visits"),
    ],
)
def test_space_checks_fail_for_broken_space(make: Callable[[], Space], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        check_space(make(), "a")
    assert check == failure.value.check


def test_visits_repeat_exempts_changing_spaces() -> None:
    assert list(CHECKS["space"]) == check_space(DeclaredChanging(), "a")
