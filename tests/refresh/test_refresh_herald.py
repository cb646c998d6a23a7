"""All who are to be told, together."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.refresh.telling.feeds import ATOM, JSON
from lycosa.refresh.telling.herald import Herald
from lycosa.refresh.telling.outbox import NAME
from lycosa.refresh.telling.webhook import SECRET
from lycosa.testing.simulation import clock, run_virtual
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


def test_troubles_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A feed that can't be written and a full disk are notes; both are made good when there is room again."""
    log = make_log(tmp_path)
    herald = Herald(tmp_path, log, Options(topic="reefs", webhooks=[HOOK]), clock, environment={SECRET: "pearl"})
    log.append(look(text()))
    (tmp_path / ATOM).mkdir()
    assert herald.outbox is not None
    real = herald.outbox._db

    class Full:
        def execute(self, *words: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(herald.outbox, "_db", Full())
    feed, disk = run_virtual(herald.tell())
    assert ("cannot write", "changes.atom" in feed) == (feed[:12], True)
    assert "told.sqlite: database or disk is full" in disk
    monkeypatch.setattr(herald.outbox, "_db", real)
    (tmp_path / ATOM).rmdir()
    [note] = run_virtual(herald.tell())
    assert note.startswith("webhook http://127.0.0.1:1/...: cannot connect: ")
    assert (tmp_path / ATOM).is_file()
    assert herald.next_attempt() < math.inf
    herald.close()
    log.close()


def test_wrong_targets_are_refused_at_once(tmp_path: Path) -> None:
    """Before anything is fetched."""
    log = make_log(tmp_path)
    with pytest.raises(InputError, match=SECRET):
        Herald(tmp_path, log, Options(topic="reefs", webhooks=[HOOK]), clock, environment={})
    assert not (tmp_path / NAME).exists()
    log.close()
