"""Labelled pages from the web: as politely as a crawl, several hosts at a time."""

from __future__ import annotations

import asyncio

from lycosa.core.errands import fetch
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Page
from lycosa.crawling import wall_clock, web_space
from lycosa.training.corpus import Corpus
from lycosa.training.sources import Pages, Rows, Tell

REASONS = 3
"""Failures that are told word for word; all are counted."""


def fetched(options: Options) -> Pages:
    """Pages fetched from the web: what robots.txt allows, from addresses that are public, with pauses."""

    def pages(rows: Rows, corpus: Corpus, tell: Tell) -> None:
        asyncio.run(_fetch_all(rows, corpus, tell, options))

    return pages


async def _fetch_all(rows: Rows, corpus: Corpus, tell: Tell, options: Options) -> None:
    space = web_space(options, wall_clock())
    hosts: dict[str, Rows] = {}
    for url, label in rows:
        hosts.setdefault(space.lane(url), []).append((url, label))
    room = asyncio.Semaphore(options.concurrency)
    got: dict[str, Page] = {}
    failed: dict[str, str] = {}

    async def one(url: str) -> None:
        try:
            _, page, _ = await fetch(space, url, "page", url, clock=space.clock, patience=options.patience)
        except InputError as error:
            failed[url] = str(error)
        else:
            failed.pop(url, None)
            got[url] = page
        tell("fetching pages", len(got) + len(failed), len(rows))

    async def host(mine: Rows) -> None:
        async with room:
            for url, _ in mine:
                await one(url)

    try:
        await asyncio.gather(*(host(mine) for mine in hosts.values()))
        for url in list(failed):
            if "can't be asked now" in failed[url]:  # a redirect led to a host that was busy with pages of its own
                await one(url)
    finally:
        await space.close()
    for url, label in rows:  # in their order, so that the model does not depend on who answers first
        if url in got:
            corpus.add(label, url, got[url])
    if failed:
        corpus.left_out["can't be fetched"] += len(failed)
        corpus.notes += list(failed.values())[:REASONS]
