"""Fetch one page outside of a crawl, with the same politeness: robots.txt, delays, redirects."""

from __future__ import annotations

import asyncio

from lycosa.core.errors import InputError
from lycosa.core.protocols import Clock, Space
from lycosa.core.types import Kind, Page, Task, Visit

MAX_REQUESTS = 20  # maximum requests for one page, including robots.txt and redirects


async def fetch_page(
    space: Space, node: str, kind: Kind, name: str, *, clock: Clock, patience: float
) -> tuple[str, Page, list[Visit]]:
    """Fetch a page and return its final node, the page, and the visits of all requests.

    Raise InputError, with the page's `name`, if it can't be fetched or needs more than `patience` seconds of waiting.
    """
    visits: list[Visit] = []
    for _ in range(MAX_REQUESTS):
        prerequisite = space.prerequisite(node)
        if isinstance(prerequisite, tuple):
            raise InputError("fetch-refused", f"cannot use {name}: {prerequisite[1]}")
        task = prerequisite or Task(node, kind)
        while (ready := space.ready(space.host_key(task.node)))[0] > clock():
            wait, why = ready[0] - clock(), ready[1]
            if wait > patience:
                reason = f" ({why})" if why else ""
                raise InputError("host-not-ready", f"cannot fetch {name}: its host is not available now{reason}")
            await asyncio.sleep(wait)
        page = await space.visit(task)
        visit = Visit(
            task.node,
            task.kind,
            page.outcome,
            0,
            origin=task.origin,
            attempt=task.attempt,
            retry_at=page.retry_at,
            started=page.started,
            ended=page.ended,
            address=page.address,
            status=page.status,
            size=page.size,
            note=page.note,
            data=page.data,
        )
        space.learn(visit)
        visits.append(visit)
        if prerequisite:
            continue
        if page.kind == "redirect":
            node = page.links.urls[0]
            continue
        if page.outcome != "ok":
            parts = ("" if page.note.startswith(page.outcome) else page.outcome, str(page.status or ""), page.note)
            raise InputError("fetch-failed", f"cannot fetch {name}: {' '.join(filter(None, parts))}")
        return node, page, visits
    raise InputError("too-many-redirects", f"cannot fetch {name}: too many redirects")
