"""One page, fetched outside a crawl but as politely as inside it: robots first, pauses kept, redirects followed."""

from __future__ import annotations

import asyncio

from lycosa.core.errors import InputError
from lycosa.core.protocols import Clock, Space
from lycosa.core.types import Kind, Page, Task, Visit

MOST_STEPS = 20  # requests for one page, with robots.txt and redirects


async def fetch(
    space: Space, node: str, kind: Kind, what: str, *, clock: Clock, patience: float
) -> tuple[str, Page, list[Visit]]:
    """Where the page is in the end, the page, and the visits that it took; `what` is its name in errors."""
    visits: list[Visit] = []
    for _ in range(MOST_STEPS):
        errand = space.errand(node)
        if isinstance(errand, tuple):
            raise InputError(f"cannot use {what}: {errand[1]}")
        task = errand or Task(node, kind)
        while (ready := space.ready(space.lane(task.node)))[0] > clock():
            wait, why = ready[0] - clock(), ready[1]
            if wait > patience:
                raise InputError(f"cannot fetch {what}: its host can't be asked now" + (f" ({why})" if why else ""))
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
        if errand:
            continue
        if page.kind == "redirect":
            node = page.links.urls[0]
            continue
        if page.outcome != "ok":
            parts = ("" if page.note.startswith(page.outcome) else page.outcome, str(page.status or ""), page.note)
            told = " ".join(filter(None, parts))
            raise InputError(f"cannot fetch {what}: {told}")
        return node, page, visits
    raise InputError(f"cannot fetch {what}: it redirects without end")
