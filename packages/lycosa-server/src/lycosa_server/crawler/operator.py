"""Notifications for the server's operator about ended crawls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lycosa.revisit.notify import channels_of
from lycosa_server.logs import log


class OperatorNotifier:
    """Notifier that sends each channel at most one message a minute; failed ones become part of the next."""

    def __init__(self, addresses: Iterable[str]) -> None:
        self.lines = {channel: list[str]() for channel in channels_of(addresses)}

    def add(self, line: str) -> None:
        for lines in self.lines.values():
            lines.append(line)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(60)
            await self.send()

    async def send(self) -> None:
        for channel, lines in self.lines.items():
            del lines[:-100]
            sending = len(lines)
            if sending and (failure := await channel.send("Lycosa: crawls have ended", "\n".join(lines))):
                log("cannot notify", "warning", address=channel.name, why=failure)
            else:
                del lines[:sending]
