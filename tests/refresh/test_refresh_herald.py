"""All who are to be told, together."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.refresh.telling.feeds import ATOM, JSON
from lycosa.refresh.telling.herald import Crier, Herald
from lycosa.refresh.telling.outbox import NAME, Answer, Delivery
from lycosa.refresh.telling.webhook import SECRET, Webhook
from lycosa.store.log import SqliteLog
from lycosa.testing.simulation import EPOCH, clock, run_virtual
from made_changes import look, make_log, page, text

HOOK = "http://127.0.0.1:1/hook"


def test_feeds_by_default(tmp_path: Path) -> None:
    """Without targets there are the feeds, no outbox, and nothing to wait for."""
    log = make_log(tmp_path, page(), look(text()))
    herald = Herald(tmp_path, log, Options(topic="coral reefs"), clock, environment={})
    assert [] == run_virtual(herald.tell())
    assert ("Changes: coral reefs", 1) == (
        (feed := json.loads((tmp_path / JSON).read_text()))["title"], len(feed["items"])
    )  # fmt: skip
    assert (False, math.inf) == ((tmp_path / NAME).exists(), herald.next_attempt())
    herald.close()
    log.close()


def test_nobody(tmp_path: Path) -> None:
    """Who wants no feeds gets none."""
    log = make_log(tmp_path, look(text()))
    herald = Herald(tmp_path, log, Options(topic="reefs", feeds=False), clock, environment={})
    assert [] == run_virtual(herald.tell())
    assert not (tmp_path / ATOM).exists()
    herald.close()
    log.close()


class Full:
    """A disk without room."""

    def execute(self, *words: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")


def made(
    directory: Path, log: SqliteLog, monkeypatch: pytest.MonkeyPatch, *answers: Answer
) -> tuple[Crier, list[tuple[float, list[int]]], list[str]]:
    """A crier whose one target answers so, in turn; what that gets and when, and what is said of it."""
    got: list[tuple[float, list[int]]] = []
    coming = list(answers)

    async def send(self: Webhook, delivery: Delivery) -> Answer:
        got.append((clock() - EPOCH, [told.seq for told in delivery.changes]))
        await asyncio.sleep(1)
        return coming.pop(0) if coming else Answer(True)

    monkeypatch.setattr(Webhook, "send", send)
    notes: list[str] = []
    options = Options(topic="reefs", webhooks=[HOOK])
    return Crier(Herald(directory, log, options, clock, environment={SECRET: "pearl"}), clock, notes.append), got, notes


def test_news_are_gathered_and_told_beside_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that come together go out together; a target that is down is tried again without any news."""
    log = make_log(tmp_path)
    crier, got, notes = made(tmp_path, log, monkeypatch, Answer(True), Answer(False, "down", wait=600.0))

    async def watch() -> None:
        crier.start()
        await asyncio.sleep(100)
        for _ in range(3):  # 2, 3 and 4, a second apart
            log.append(look(text()))
            crier.news()
            await asyncio.sleep(1)
        await asyncio.sleep(97)
        log.append(look(text()))  # 5
        crier.news()
        await asyncio.sleep(1_000)
        await crier.close()

    run_virtual(watch())
    # news at 100, told 5 seconds later; news at 200, told at 205, answered at 206, tried again 600 later
    assert [(105.0, [2, 3, 4]), (205.0, [5]), (806.0, [5])] == got
    assert 3 == len(notes)
    assert 4 == len(json.loads((tmp_path / JSON).read_text())["items"])
    log.close()


def test_the_end_tells_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing does not wait for more news; what is down then is told by the next run, at its start."""
    log = make_log(tmp_path)

    async def refresh(crier: Crier, *, changes: int) -> None:
        crier.start()
        for _ in range(changes):
            log.append(look(text()))
            crier.news()
        await crier.close()

    crier, got, notes = made(tmp_path, log, monkeypatch, Answer(False, "down", wait=10.0))
    run_virtual(refresh(crier, changes=2))
    assert [(0.0, [2, 3])] == got
    crier, got, notes = made(tmp_path, log, monkeypatch)
    run_virtual(refresh(crier, changes=0), start=3_600)
    assert ([(3_600.0, [2, 3])], 1) == (got, len(notes))
    log.close()


def test_troubles_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A feed that can't be written and a full disk are notes; both are made good when there is room again."""
    log = make_log(tmp_path)
    crier, got, _ = made(tmp_path, log, monkeypatch)
    herald = crier.herald
    log.append(look(text()))
    (tmp_path / ATOM).mkdir()
    assert herald.outbox is not None
    real = herald.outbox._db
    monkeypatch.setattr(herald.outbox, "_db", Full())
    feed, disk = run_virtual(herald.tell())
    assert ("cannot write", True) == (feed[:12], "changes.atom" in feed)
    assert "told.sqlite: database or disk is full" in disk
    assert [] == got
    monkeypatch.setattr(herald.outbox, "_db", real)
    (tmp_path / ATOM).rmdir()
    assert ["webhook http://127.0.0.1:1/...: told of 1 changed"] == run_virtual(herald.tell())
    assert (True, [(0.0, [2])]) == ((tmp_path / ATOM).is_file(), got)
    herald.close()
    log.close()


def test_wrong_targets_are_refused_at_once(tmp_path: Path) -> None:
    """Before anything is fetched."""
    log = make_log(tmp_path)
    with pytest.raises(InputError, match=SECRET):
        Herald(tmp_path, log, Options(topic="reefs", webhooks=[HOOK]), clock, environment={})
    assert not (tmp_path / NAME).exists()
    log.close()
