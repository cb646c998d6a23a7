"""Seeds without a scheme are tried as https and http."""

from __future__ import annotations

import asyncio

from lycosa.core.options import Options
from lycosa.crawling.request import Request
from lycosa.crawling.seeds import _answers, as_begun, settle
from lycosa.web.guard import Guard, Names

OPEN = {("old.test", 80), ("new.test", 443), ("both.test", 80), ("both.test", 443)}


def _request(*seeds: str, **more: object) -> tuple[Request, list[tuple[str, int]]]:
    request = Request(Options(topic="reefs", seeds=list(seeds), **more))  # type: ignore[arg-type]
    dialled: list[tuple[str, int]] = []

    async def dial(name: str, port: int) -> bool:
        dialled.append((name, port))
        return (name, port) in OPEN

    asyncio.run(settle(request, dial))
    return request, dialled


def test_http_where_https_does_not_answer() -> None:
    """What answers http only becomes http, in the seeds and in crawl.toml; all else stays, and is told."""
    seeds = ("old.test/reefs", "new.test", "both.test", "gone.test", "https://old.test/", "old.test:8080", "localhost")
    request, dialled = _request(*seeds)
    assert list(request.seeds.nodes) == [
        "http://old.test/reefs", "https://new.test/", "https://both.test/", "https://gone.test/", "https://old.test/",
        "http://old.test:8080/", "http://localhost/",
    ]  # fmt: skip
    assert request.options.seeds == [*list(request.seeds.nodes)[:5], *seeds[5:]]
    again = as_begun(["old.test/reefs", "both.test", "later.test"], request.options.seeds)
    assert again == ["http://old.test/reefs", "https://both.test/", "later.test"]
    assert request.notes == ["old.test does not answer over https: it is asked over http"]
    assert {name for name, _ in dialled} == {"old.test", "new.test", "both.test", "gone.test"}


def test_nothing_is_dialled_without_need() -> None:
    """Addresses with a scheme, and crawls through a proxy, are left as they are."""
    assert _request("https://old.test/", "http://new.test/")[1] == []
    assert _request("old.test", proxy="http://127.0.0.1:1")[1] == []


def test_a_real_line() -> None:
    """What listens answers, what does not does not, and what must not be dialled is not."""

    async def run() -> list[bool]:
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        names = Names(lambda: 0.0)
        async with server:
            found = [await _answers(Guard(allow), names, "localhost", port) for allow in (["127.0.0.0/8"], [])]
        return [*found, await _answers(Guard(["127.0.0.0/8"]), names, "localhost", port)]

    assert asyncio.run(run()) == [True, False, False]
