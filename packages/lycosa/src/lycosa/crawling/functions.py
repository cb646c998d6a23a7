"""Plain functions as parts of a crawl: a topic, an estimator or a space that needs no class.

topic      page -> how relevant it is             (a number, True or False, or a Judgement)
estimator  link -> how promising it is            (a number; of several links to a page the best one counts)
space      node -> what is there                  (a Page, the nodes it leads to, or None; may be `async`)
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
from lycosa.core.state import State, plain, put_back
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Rows, Step, Task, Visit
from lycosa.strategies.parents import MergedPriorities, PriorityFromParents


@dataclass(frozen=True, slots=True)
class Link:
    """A link as an estimator of one function sees it."""

    url: str
    anchor: str
    """The words of the link."""
    context: str
    """The words around it."""
    alpha: float
    """How promising it looks to the topic."""
    depth: int
    """Links from a seed."""
    source: Visit
    """The page that it stands on."""


JudgeFunction: TypeAlias = Callable[[Page], "float | Judgement"]
EstimatorFunction: TypeAlias = Callable[[Link], float]
Answer: TypeAlias = Page | Iterable[str] | None
SpaceFunction: TypeAlias = Callable[[str], Answer | Awaitable[Answer]]


class FunctionJudge:
    """A topic by what a function says of a page. Of a link it is asked as of a page: its words are the title, and those
    around it the text. Links of a site repeat, so the last answers are remembered.

    >>> judge = FunctionJudge(lambda page: "reef" in page.title + page.text)
    >>> page = Page("ok", marked="Of reefs", links=Links.to("a", "b", anchors=["More on reefs", "Home"]))
    >>> judge.judge(page, None).relevance, judge.judge(page, None).link_relevances.tolist()
    (1.0, [1.0, 0.0])
    """

    exact = True

    def __init__(self, function: JudgeFunction, threshold: float = 0.0) -> None:
        self.function, self.threshold = function, threshold or 0.5  # it says True and False, or gives probabilities
        self.fingerprint = code_of(function)
        self._of_link = lru_cache(20_000)(self._ask_of_link)

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Ask the function."""
        said = self.function(page)
        if isinstance(said, Judgement):
            return said
        link_relevances = list(map(self._of_link, page.links.anchors, page.links.contexts))
        return Judgement(number(said, self.function), np.array(link_relevances, np.float32))

    def _ask_of_link(self, anchor: str, context: str) -> float:
        said = self.function(Page("ok", title=anchor, marked=context))
        return number(said.relevance if isinstance(said, Judgement) else said, self.function)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""


class FunctionEstimator(PriorityFromParents):
    """Links by what a function says of each."""

    proportional: ClassVar[bool] = False  # it may say anything of a link: the crawl never waits for a better one

    def __init__(self, function: EstimatorFunction) -> None:
        self.function = function
        self.priority_ = MergedPriorities("max")

    def __repr__(self) -> str:
        return f"FunctionEstimator({code_of(self.function)})"

    def state(self) -> State:
        return plain(self.priority_)

    def restore(self, state: State) -> None:
        put_back(self.priority_, state)

    def learn(self, step: Step, table: Table) -> Rows:
        """Ask the function for each link that leads somewhere new."""
        if not len(step.children) or step.visit.outcome == "redirect":
            return self.priority_.update(step, table, 0.0)
        links, said = step.visit.links, np.full(len(step.of_link), -np.inf)
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
                said[at] = number(self.function(link), self.function)
        return self.priority_.update(step, table, step.strongest(said))


class FunctionSpace(Space):
    """What a function finds at each node."""

    def __init__(self, function: SpaceFunction, clock: Clock = lambda: 0.0) -> None:
        self.function, self.clock = function, clock

    async def visit(self, task: Task) -> Page:
        """Ask the function, and say when that was, if it does not."""
        began = self.clock()
        page = await self._found(task)
        if not page.started:
            page.started, page.ended = began, self.clock()
        return page

    async def _found(self, task: Task) -> Page:
        """What the function gives; None, or what Python raises of something that is not there, is nothing."""
        try:
            found = self.function(task.node)
            if isinstance(found, Awaitable):
                found = await found
        except (LookupError, FileNotFoundError) as missing:
            return Page("gone", note=f"{type(missing).__name__}: {missing}"[:500])
        if found is None:
            return Page("gone", note="there is nothing")
        if isinstance(found, Page):
            return found
        if isinstance(found, str):
            raise TypeError(f"{code_name(self.function)}() gave a text: return a Page, or the nodes it leads to")
        return Page("ok", title=task.node, links=Links.to(*map(str, found)))


def number(said: Any, function: Callable[..., Any]) -> float:
    """What a function says, as a number."""
    try:
        value = float(said)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{code_name(function)}() gave {said!r}: return a number, or True or False")
    return value


def as_judge(judge: Judge | JudgeFunction | None, threshold: float = 0.0) -> Judge | None:
    """A topic, made if it is a function."""
    if judge is None or hasattr(judge, "judge"):
        return judge  # type: ignore[return-value]  # whether it is one is checked with the other parts
    return FunctionJudge(judge, threshold) if _is_function(judge) else judge  # type: ignore[return-value]


def as_strategy(strategy: Estimator | Strategy | EstimatorFunction | None) -> Estimator | Strategy | None:
    """A strategy, made if it is a function."""
    if strategy is not None and not hasattr(strategy, "learn") and _is_function(strategy):
        return FunctionEstimator(strategy)
    return strategy  # type: ignore[return-value]


def as_space(space: Space | SpaceFunction | None, clock: Clock) -> Space | None:
    """A space, made if it is a function."""
    if space is not None and not hasattr(space, "visit") and _is_function(space):
        return FunctionSpace(space, clock)
    return space  # type: ignore[return-value]


def _is_function(part: object) -> bool:
    """Whether it can be called as it is; a class has to be made first."""
    return callable(part) and not inspect.isclass(part)


def code_name(function: Callable[..., Any]) -> str:
    """How a function is called."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def code_of(function: Callable[..., Any]) -> str:
    """A function in a few letters that change when it does, but not with where it stands in its file."""
    code = getattr(function, "__code__", None)
    return repr((code_name(function), _parts(code) if isinstance(code, types.CodeType) else ""))


def _parts(code: types.CodeType) -> tuple[Any, ...]:
    consts = [_parts(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return code.co_code, code.co_names, tuple(consts)
