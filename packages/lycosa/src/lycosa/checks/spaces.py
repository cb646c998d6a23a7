"""Checks for spaces: host keys, prerequisites, visits and links."""

from __future__ import annotations

import asyncio
import math
from typing import get_args

from lycosa.checks.failing import CheckFailed, want
from lycosa.core.protocols import Space
from lycosa.core.types import Kind, Links, Outcome, Page, Task


async def host_keys_are_stable(space: Space, node: str) -> None:
    """host_key(node) is a string, the same at every call."""
    first, second = space.host_key(node), space.host_key(node)
    want(
        isinstance(first, str) and first == second,
        f"host_key({node!r}) is {first!r}, then {second!r}: derive it from the node's name alone",
    )


async def ready_returns_time_and_reason(space: Space, node: str) -> None:
    """ready(host_key) is a time, not NaN, and a reason."""
    result = space.ready(space.host_key(node))
    want(
        isinstance(result, tuple)
        and len(result) == 2
        and isinstance(result[0], float | int)
        and not math.isnan(result[0])
        and isinstance(result[1], str),
        f"ready({space.host_key(node)!r}) is {result!r}: return (seconds since the epoch, reason of the wait)",
    )


async def prerequisite_is_valid(space: Space, node: str) -> None:
    """prerequisite(node) is a Task to be run first, an outcome with its reason, or None."""
    prerequisite = space.prerequisite(node)
    refusal = isinstance(prerequisite, tuple) and len(prerequisite) == 2 and prerequisite[0] in get_args(Outcome)
    want(
        prerequisite is None or isinstance(prerequisite, Task) or (refusal and isinstance(prerequisite[1], str)),
        f"prerequisite({node!r}) is {prerequisite!r}: return a Task, (outcome, reason) or None",
    )


async def visit_returns_page(space: Space, node: str) -> None:
    """visit(Task(node)) returns a Page with a known outcome and kind."""
    page = await _visited(space, node)
    want(page.kind in get_args(Kind), f"the page of {node!r} is of kind {page.kind!r}: use one of core.types.Kind")


async def _visited(space: Space, node: str) -> Page:
    page = await space.visit(Task(node))
    want(isinstance(page, Page), f"visit({node!r}) returned {page!r}: return a Page")
    want(
        page.outcome in get_args(Outcome),
        f"the page of {node!r} has the outcome {page.outcome!r}: use one of core.types.Outcome",
    )
    return page


async def links_are_columns(space: Space, node: str) -> None:
    """The columns of page.links have equal lengths; link relevances may be left to the judge."""
    links = (await _visited(space, node)).links
    want(isinstance(links, Links), f"the links of {node!r} are a {type(links).__name__}: use Links, or Links.to(...)")
    columns = {name: len(getattr(links, name)) for name in ("urls", "anchors", "contexts", "rels", "positions")}
    want(len(set(columns.values())) == 1, f"the links of {node!r} have columns of lengths {columns}: fill all of them")
    want(
        len(links.link_relevances) in (0, len(links)),
        f"{node!r} has {len(links.link_relevances)} link relevances for {len(links)} links: set none or all of them",
    )
    wrong = [url for url in links.urls if not isinstance(url, str)]
    want(not wrong, f"a link of {node!r} is {wrong[:1]}: nodes are strings")


async def links_can_be_visited(space: Space, node: str) -> None:
    """Each link has a host key, so that it can join the frontier."""
    for url in (await _visited(space, node)).links.urls:
        want(isinstance(space.host_key(url), str), f"host_key({url!r}) of a link of {node!r} is not a string")


async def failures_are_outcomes(space: Space, node: str) -> None:
    """Visiting a missing node returns a page with that outcome instead of raising."""
    unknown = f"{node}-no-such-node"
    try:
        await _visited(space, unknown)
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed(
            f"visit({unknown!r}) raised {type(error).__name__}: {error}: return Page('gone'), or another outcome"
        ) from error


async def visits_repeat(space: Space, node: str) -> None:
    """Visiting a node twice returns the same links, unless the space has `changes = True`."""
    first, second = await _visited(space, node), await _visited(space, node)
    want(
        getattr(space, "changes", False) or first.links.urls == second.links.urls,
        f"{node!r} had {len(first.links)} links, then {len(second.links)} or others: sort them, or set changes = True",
    )


async def eight_concurrent_visits(space: Space, node: str) -> None:
    """Eight concurrent visits do not interfere with each other."""
    names = [node, f"{node}-no-such-node"]
    alone = [(await _visited(space, name)).links.urls for name in names]
    concurrent = await asyncio.gather(*(_visited(space, name) for name in names * 4))
    for name, expected, page in zip(names * 4, alone * 4, concurrent, strict=True):
        want(
            getattr(space, "changes", False) or page.links.urls == expected,
            f"{name!r} had other links in eight concurrent visits: store no state of a visit in the space",
        )


SPACE_CHECKS = (
    host_keys_are_stable,
    ready_returns_time_and_reason,
    prerequisite_is_valid,
    visit_returns_page,
    links_are_columns,
    links_can_be_visited,
    failures_are_outcomes,
    visits_repeat,
    eight_concurrent_visits,
)
