"""Start pages that were typed without a scheme: https, unless a host answers http only.

Before a new crawl begins, each such host is dialled on the port of https. Where that fails and the port of http
answers, the seed is written down as http; a certificate that can't be trusted is no such failure. Nothing is asked for:
a handshake, and the line is closed. Addresses that must not be dialled are not.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from lycosa.core.errors import FetchError
from lycosa.crawling.request import Request
from lycosa.spaces.making import guard_of
from lycosa.web.dns import Names
from lycosa.web.guard import Guard
from lycosa.web.urls import check_seed, host, lane

PATIENCE = 10.0
"""Seconds that a host has to answer in."""

Dial = Callable[[str, int], Awaitable[bool]]
"""Whether a host answers on a port."""


async def settle(request: Request, dial: Dial | None = None) -> None:
    """Turn seeds without a scheme into http where https does not answer; what was turned is told."""
    options = request.options
    typed = {text: url for text in options.seeds if (url := bare(text))}
    if request.resuming or not typed or options.proxy or request.space is not None:
        return
    answers = dial or partial(_answers, guard_of(options), Names(request.clock))
    hosts = list(dict.fromkeys(map(host, typed.values())))
    found = await asyncio.gather(*(_only_http(name, answers) for name in hosts))
    plain = {name for name, only in zip(hosts, found, strict=True) if only}
    turned = {url: f"http://{url.removeprefix('https://')}" for url in typed.values() if host(url) in plain}
    meant = {text: turned.get(url, url) for text, url in typed.items()}
    options.seeds = [meant.get(text, text) for text in options.seeds]
    request.seeds.nodes = {turned.get(node, node): kind for node, kind in request.seeds.nodes.items()}
    request.notes += [f"{name} does not answer over https: it is asked over http" for name in hosts if name in plain]


def as_begun(seeds: list[str], begun: list[str]) -> list[str]:
    """Seeds with the scheme that was found when the crawl began, where they have none.

    >>> as_begun(["old.test/reefs", "new.test", "http://a.test/"], ["http://old.test/reefs"])
    ['http://old.test/reefs', 'new.test', 'http://a.test/']
    """
    known = {url.partition("://")[2]: url for url in begun}
    return [known.get(bare(text).partition("://")[2], text) for text in seeds]


def bare(text: str) -> str:
    """The address that is meant, if it was typed without a scheme and port; else empty."""
    url = check_seed(text) if "://" not in text else None
    return url if url and url.startswith("https://") and lane(url) == host(url) else ""


async def _only_http(name: str, answers: Dial) -> bool:
    return not await answers(name, 443) and await answers(name, 80)


async def _answers(guard: Guard, names: Names, name: str, port: int) -> bool:
    """Dial a host, with a handshake where the port wants one."""
    with suppress(OSError, FetchError, TimeoutError, ssl.SSLError):
        async with asyncio.timeout(PATIENCE):
            address = next(iter(filter(guard.allows, await names.resolve(name))), "")
            if not address:
                return False
            secure = {"ssl": ssl.create_default_context(), "server_hostname": name} if port == 443 else {}
            try:
                _, line = await asyncio.open_connection(address, port, **secure)  # type: ignore[arg-type]
            except ssl.SSLCertVerificationError:  # it speaks https: nobody between us may turn that into http
                return True
            line.close()
            with suppress(OSError):
                await line.wait_closed()
            return True
    return False
