"""Load pages by URL from WARC files or from the web."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from lycosa.collection.crawl_directory import MAX_BODY_BYTES
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback
from lycosa.core.single_fetch import fetch_page
from lycosa.core.types import Page
from lycosa.replay.recording import Recording
from lycosa.replay.records import Damaged, RecordedResponse
from lycosa.spaces.making import wall_clock, web_space
from lycosa.training.corpus import Account
from lycosa.training.sources import PageLoader, page_of
from lycosa.web.html import read_body
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.urls import resolve


def recorded_pages(place: Path) -> PageLoader:
    """Return a function that reads pages from a WARC file, a directory of them, or a crawl directory."""

    def load_pages(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        if place.exists() and not place.is_file() and not place.is_dir():
            message = f"--pages {place} is a pipe or a device: give a WARC file, or a directory of them"
            raise InputError("bad-file", message)
        with Recording([place]) as recording:
            for number, url in enumerate(urls, 1):
                progress("reading pages", number, len(urls))
                try:
                    answer = _find(recording, url)
                except Damaged:
                    account.left_out["damaged records"] += 1
                    continue
                if answer is None:
                    account.left_out[f"not in {place}"] += 1
                elif not 200 <= answer.status < 300:
                    account.left_out[f"recorded with status {answer.status}"] += 1
                else:
                    yield url, _parse(answer, url)

    return load_pages


def _find(recording: Recording, url: str) -> RecordedResponse | None:
    answer = recording.find(url)
    for _ in range(5):  # maximum number of redirects
        if answer is None or not 300 <= answer.status < 400:
            break
        target = resolve(url, [answer.header(b"location")])[0]
        if target is None:
            break
        url, answer = target, recording.find(target)
    return answer


def _parse(answer: RecordedResponse, url: str) -> Page:
    try:
        return page_in(answer, url)
    except BadEncoding:
        return Page("ok")


def page_in(answer: RecordedResponse, url: str) -> Page:
    """Parse a recorded response; raise BadEncoding if it cannot be decompressed."""
    body, _ = inflate(answer.body, answer.header(b"content-encoding"), MAX_BODY_BYTES)
    return page_of(read_body(body, url, answer.header(b"content-type")), answer.header(b"content-language"))


def fetched_pages(options: Options) -> PageLoader:
    """Return a function that fetches pages as politely as a crawl: robots.txt, parallel hosts, delays."""

    def load_pages(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        pages, failed = asyncio.run(_fetch_all(urls, progress, options))
        if failed:
            account.left_out["can't be fetched"] += len(failed)
            account.notes += [str(error) for error in list(failed.values())[:3]]  # a few failures are shown verbatim
        for url in urls:  # in input order, independent of response times
            if url in pages:
                yield url, pages[url]

    return load_pages


async def _fetch_all(
    urls: Sequence[str], progress: ProgressCallback, options: Options
) -> tuple[dict[str, Page], dict[str, InputError]]:
    space = web_space(options, wall_clock())
    hosts: dict[str, list[str]] = {}
    for url in urls:
        hosts.setdefault(space.host_key(url), []).append(url)
    slots = asyncio.Semaphore(options.concurrency)
    pages: dict[str, Page] = {}
    failed: dict[str, InputError] = {}

    async def load(url: str) -> None:
        try:
            _, page, _ = await fetch_page(space, url, "page", url, clock=space.clock, patience=options.patience)
        except InputError as error:
            failed[url] = error
        else:
            failed.pop(url, None)
            pages[url] = page
        progress("fetching pages", len(pages) + len(failed), len(urls))

    async def load_host(host_urls: list[str]) -> None:
        async with slots:
            for url in host_urls:
                await load(url)

    try:
        await asyncio.gather(*(load_host(host_urls) for host_urls in hosts.values()))
        for url in list(failed):
            if failed[url].code == "host-not-ready":  # redirected to a host that was busy with its own pages
                await load(url)
    finally:
        await space.close()
    return pages, failed
