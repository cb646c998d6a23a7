"""Notifications of changes: timing, retries, and delivery by apprise."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from held_port import held_port
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.revisit.feeds import ATOM
from lycosa.revisit.notify import NAME, Channel, Notifier, channels_of
from lycosa.store.log import SqliteLog
from lycosa.testweb.simulation import run_virtual
from made_changes import look, make_log, text
from receiving import receiving

ADDRESS = "json://127.0.0.1:1/hook"


class Sent:
    """Channel that records its messages with their times, and fails as scripted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *failures: str) -> None:
        self.messages: list[tuple[float, str]] = []
        self.bodies: list[str] = []
        self.failures = list(failures)
        sent = self

        async def send(self: Channel, title: str, body: str) -> str:
            sent.messages.append((asyncio.get_running_loop().time(), title))
            sent.bodies.append(body)
            await asyncio.sleep(1)
            return sent.failures.pop(0) if sent.failures else ""

        monkeypatch.setattr(Channel, "send", send)


def made(directory: Path, log: SqliteLog, notes: list[str], **options: Any) -> Notifier:
    return Notifier(directory, log, Options(topic="reefs", **options), notes.append)


def test_notifier_writes_feeds(tmp_path: Path) -> None:
    log, notes = make_log(tmp_path, look(text())), list[str]()
    notifier = made(tmp_path, log, notes)

    async def watch() -> list[int]:
        notifier.start()
        await asyncio.sleep(1)
        counts = [(tmp_path / ATOM).read_text().count("<entry>")]
        log.append(look(text()))
        notifier.news()
        await asyncio.sleep(6)
        counts.append((tmp_path / ATOM).read_text().count("<entry>"))
        await notifier.close()
        return counts

    assert [1, 2] == run_virtual(watch())
    assert ([], False) == (notes, (tmp_path / NAME).exists())
    log.close()


def test_notifier_without_feeds_writes_no_file(tmp_path: Path) -> None:
    log = make_log(tmp_path, look(text()))
    run_virtual(_closed(made(tmp_path, log, [], feeds=False)))
    assert not (tmp_path / ATOM).exists()
    log.close()


async def _closed(notifier: Notifier) -> None:
    notifier.start()
    await asyncio.sleep(0)
    await notifier.close()


def test_notifier_sends_one_message_per_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, log, notes = Sent(monkeypatch), make_log(tmp_path, look(text())), list[str]()
    notifier = made(tmp_path, log, notes, notify=[ADDRESS], notify_every="10m")

    async def watch() -> None:
        notifier.start()
        for wait in (100, 1, 699, 0):
            await asyncio.sleep(wait)
            log.append(look(text()))
            notifier.news()
        await notifier.close()
        await asyncio.sleep(5_000)

    run_virtual(watch())
    assert [(600.0, "2 changed: reefs"), (800.0, "2 changed: reefs")] == sent.messages
    assert [] == notes
    log.close()


def test_notifier_retries_failed_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, log, notes = Sent(monkeypatch, "down", "", "down"), make_log(tmp_path), list[str]()
    other = "json://127.0.0.1:2/hook"

    async def run(changes: int) -> None:
        notifier = made(tmp_path, log, notes, notify=[ADDRESS, other])
        notifier.start()
        await asyncio.sleep(0)
        for _ in range(changes):
            log.append(look(text()))
        await notifier.close()

    for changes in (1, 1, 0):
        run_virtual(run(changes))
    assert ["1 changed", "1 changed", "2 changed", "1 changed", "2 changed"] == [
        title.partition(":")[0] for _, title in sent.messages
    ]
    assert [f"{ADDRESS}: down; retried with the next changes"] * 2 == notes
    log.close()


def test_notifier_reports_unwritable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Sent(monkeypatch)
    log, notes = make_log(tmp_path, look(text())), list[str]()
    (tmp_path / ATOM).mkdir()
    (tmp_path / NAME).mkdir()
    run_virtual(_closed(made(tmp_path, log, notes, notify=[ADDRESS])))
    assert any(NAME in note for note in notes)
    assert any(ATOM in note for note in notes)
    log.close()


def test_notifier_counts_unlisted_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, log = Sent(monkeypatch), make_log(tmp_path)

    async def run() -> None:
        notifier = made(tmp_path, log, [], notify=[ADDRESS])
        for _ in range(60):
            log.append(look(text()))
        await notifier.send()

    run_virtual(run())
    assert (1, 1) == (len(sent.messages), sent.bodies[0].count("And 10 more"))
    log.close()


def test_channel_send_returns_error_or_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with held_port() as port:
        channel = Channel(f"json://me:secret@127.0.0.1:{port}/hook")
        assert "secret" not in channel.name
        down = asyncio.run(channel.send("title", "text"))
        with receiving(port) as got:
            assert "" == asyncio.run(channel.send("1 changed", "Coral <b> & more\nhttp://reef.example/"))
        with receiving(port, 500):
            refused = asyncio.run(channel.send("title", "text"))
    assert [("1 changed", "Coral <b> & more\nhttp://reef.example/")] == [(one["title"], one["message"]) for one in got]
    assert down
    assert refused
    assert "secret" not in down + refused
    assert ("", "") == capfd.readouterr()


def test_channels_reject_unknown_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("nonsense", "none-such://me:secret@host", "$NOT_SET_ANYWHERE"):
        with pytest.raises(InputError, match="--notify") as told:
            channels_of([address])
        assert "secret" not in str(told.value)
    monkeypatch.setenv("REEF_HOOK", "json://127.0.0.1:9/reef")
    assert ["json://127.0.0.1:9/reef"] == [one.name for one in channels_of(["$REEF_HOOK", "$REEF_HOOK"])]
