"""Structured logs, including those of libraries."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from lycosa_server.logs import QUIET, capture_library_logs, log


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_log_is_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    log("odd", text="two\nlines \ud800 蜘蛛", thing={1})
    (line,) = lines(capsys)
    assert ("odd", "info", "two\nlines \ud800 蜘蛛", "{1}") == tuple(
        line[n] for n in ("event", "level", "text", "thing")
    )


def test_log_quiet_keeps_errors(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QUIET, "quiet")
    log("usual")
    log("bad", "error")
    assert ["bad"] == [line["event"] for line in lines(capsys)]


def test_capture_library_logs_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    try:
        capture_library_logs()
        try:
            raise KeyError("reef")
        except KeyError:
            logging.getLogger("some.library").exception("it %s", "broke")
        logging.getLogger("some.library").info("nothing to see")
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        logging.captureWarnings(False)
    (line,) = lines(capsys)
    assert ("error", "some.library", "it broke") == (line["level"], line["by"], line["text"])
    assert "KeyError: 'reef'" in str(line["trace"])


def test_log_to_closed_output_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    assert None is log("lost")  # type: ignore[func-returns-value]
