"""What commands that are a proxy for a while have in common: `lycosa replay` and `lycosa browse`."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack

from lycosa.core.errors import InputError
from lycosa.replay.proxy import LocalProxy


def serve(proxy: LocalProxy, quiet: bool, introduce: Callable[[], None], farewell: Callable[[], None]) -> None:
    """Until Ctrl-C or SIGTERM; the first line printed is its address, and the only one if it is to be quiet."""
    asyncio.run(_serve(proxy, (lambda: None) if quiet else introduce))
    if quiet:
        return
    farewell()
    if distrusted := proxy.tally["distrusted"]:
        print(
            f"note: {distrusted:,} times a client hung up before any https was spoken: "
            f"does it trust {proxy.authority.path}?",
            file=sys.stderr,
        )


async def _serve(proxy: LocalProxy, introduce: Callable[[], None]) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(proxy)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot serve on port {proxy.port}: {why}; choose another with --port") from error
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, over.set)
        print(proxy.address, flush=True)
        introduce()
        await over.wait()
