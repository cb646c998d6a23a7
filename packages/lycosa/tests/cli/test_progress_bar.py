from __future__ import annotations

from types import SimpleNamespace

import pytest

from lycosa.cli import progress_bar as module
from lycosa.cli.progress_bar import show_progress


def test_show_progress_restarts_time_left(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    with show_progress() as progress:
        for now, done in ((0, 1), (20, 2), (100, 1), (120, 2)):
            clock.now = now
            progress("judging", done, 10)
    line = "judging: 2 of 10, about 80 s left"  # 8 items left, at 20 s for 2
    assert [line, line] == capsys.readouterr().err.splitlines()
