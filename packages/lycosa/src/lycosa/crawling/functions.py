"""Plain functions as parts of a crawl: a judge, an estimator or a space without a class.

judge      page -> relevance       (a number, True or False, or a Judgement)
estimator  link -> priority        (a number; of several links to a page the best one counts)
space      node -> page or links   (a Page, the nodes it links to, or None; may be `async`)
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.protocols import Clock, Estimator, Judge, Space, Strategy
from lycosa.core.state import State, restore_attributes, state_of_attributes
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Rows, Step, Task, Visit
from lycosa.strategies.parents import MergedPriorities, PriorityFromParents


@dataclass(frozen=True, slots=True)
class Link:
    """A link as passed to an estimator function."""

    url: str
    anchor: str
    """Link text."""
    context: str
    """Text around the link."""
    alpha: float
    """Relevance of the link according to the judge."""
    depth: int
    """Distance from a seed, in links."""
    source: Visit
    """Visit of the page with the link."""


JudgeFunction: TypeAlias = Callable[[Page], "float | Judgement"]
EstimatorFunction: TypeAlias = Callable[[Link], float]
Answer: TypeAlias = Page | Iterable[str] | None
SpaceFunction: TypeAlias = Callable[[str], Answer | Awaitable[Answer]]


class FunctionJudge:
    """Judge that calls a function with a page; for links the page has the link text as title and their context as text.

    >>> judge = FunctionJudge(lambda page: "reef" in page.title + page.text)
    >>> page = Page("ok", marked="Of reefs", links=Links.to("a", "b", anchors=["More on reefs", "Home"]))
    >>> judge.judge(page, None).relevance, judge.judge(page, None).link_relevances.tolist()
    (1.0, [1.0, 0.0])
    """

    exact = True

    def __init__(self, function: JudgeFunction, threshold: float = 0.0) -> None:
        self.function, self.threshold = function, threshold or 0.5  # default for booleans and probabilities
        self.fingerprint = function_fingerprint(function)
        self._of_link = lru_cache(20_000)(self._link_relevance)

    def judge(self, page: Page, reading: Any) -> Judgement:
        returned = self.function(page)
        if isinstance(returned, Judgement):
            return returned
        link_relevances = list(map(self._of_link, page.links.anchors, page.links.contexts))
        return Judgement(as_number(returned, self.function), np.array(link_relevances, np.float32))

    def _link_relevance(self, anchor: str, context: str) -> float:
        returned = self.function(Page("ok", title=anchor, marked=context))
        return as_number(returned.relevance if isinstance(returned, Judgement) else returned, self.function)

    def learn(self, visit: Visit) -> None:
        pass

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass


class FunctionEstimator(PriorityFromParents):
    """Estimator that calls a function with a link."""

    proportional: ClassVar[bool] = False  # the function may return numbers on any scale

    def __init__(self, function: EstimatorFunction) -> None:
        self.function = function
        self.priority_ = MergedPriorities("max")

    def __repr__(self) -> str:
        return f"FunctionEstimator({function_fingerprint(self.function)})"

    def state(self) -> State:
        return state_of_attributes(self.priority_)

    def restore(self, state: State) -> None:
        restore_attributes(self.priority_, state)

    def learn(self, step: Step, table: Table) -> Rows:
        if not len(step.children) or step.visit.outcome == "redirect":
            return self.priority_.update(step, table, 0.0)
        links, returned = step.visit.links, np.full(len(step.of_link), -np.inf)
        for at, row in enumerate(step.of_link.tolist()):
            if row >= 0:
                link = Link(
                    links.urls[at],
                    links.anchors[at] if links.anchors else "",
                    links.contexts[at] if links.contexts else "",
                    float(links.link_relevances[at]) if len(links.link_relevances) else 0.0,
                    int(table.depth[row]),
                    step.visit,
                )
                returned[at] = as_number(self.function(link), self.function)
        return self.priority_.update(step, table, step.strongest(returned))


class FunctionSpace(Space):
    """Space that calls a function with a node."""

    def __init__(self, function: SpaceFunction, clock: Clock = lambda: 0.0) -> None:
        self.function, self.clock = function, clock

    async def visit(self, task: Task) -> Page:
        began = self.clock()
        page = await self._found(task)
        if not page.started:
            page.started, page.ended = began, self.clock()
        return page

    async def _found(self, task: Task) -> Page:
        """Convert the function's result; None, LookupError and FileNotFoundError mean that the node does not exist."""
        try:
            found = self.function(task.node)
            if isinstance(found, Awaitable):
                found = await found
        except (LookupError, FileNotFoundError) as missing:
            return Page("gone", note=f"{type(missing).__name__}: {missing}"[:500])
        if found is None:
            return Page("gone", note="no such node")
        if isinstance(found, Page):
            return found
        if isinstance(found, str):
            raise TypeError(f"{function_name(self.function)}() returned a string: return a Page or the linked nodes")
        return Page("ok", title=task.node, links=Links.to(*map(str, found)))


def as_number(returned: Any, function: Callable[..., Any]) -> float:
    """Convert a function's result to a finite number, or raise InputError."""
    try:
        value = float(returned)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        name = function_name(function)
        raise InputError("bad-value", f"{name}() returned {returned!r}: return a number, or True or False")
    return value


def as_judge(judge: Judge | JudgeFunction | None, threshold: float = 0.0) -> Judge | None:
    if judge is None or hasattr(judge, "judge"):
        return judge  # type: ignore[return-value]  # whether it is one is checked with the other parts
    return FunctionJudge(judge, threshold) if _is_function(judge) else judge  # type: ignore[return-value]


def as_strategy(strategy: Estimator | Strategy | EstimatorFunction | None) -> Estimator | Strategy | None:
    if strategy is not None and not hasattr(strategy, "learn") and _is_function(strategy):
        return FunctionEstimator(strategy)
    return strategy  # type: ignore[return-value]


def as_space(space: Space | SpaceFunction | None, clock: Clock) -> Space | None:
    if space is not None and not hasattr(space, "visit") and _is_function(space):
        return FunctionSpace(space, clock)
    return space  # type: ignore[return-value]


def _is_function(part: object) -> bool:
    return callable(part) and not inspect.isclass(part)


def function_name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def function_fingerprint(function: Callable[..., Any]) -> str:
    """Return a fingerprint of a function's code, independent of its position in the file."""
    code = getattr(function, "__code__", None)
    return repr((function_name(function), _parts(code) if isinstance(code, types.CodeType) else ""))


def _parts(code: types.CodeType) -> tuple[Any, ...]:
    consts = [_parts(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return code.co_code, code.co_names, tuple(consts)
