"""Options and names of crawls on the command line."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from lycosa.cli.crawl_runner import free_name, read_options, until_stopped
from lycosa.core.options import Options


def test_read_options_command_line_overrides_file(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('budget = 7\nstrategy = "breadth-first"\n')
    options = read_options({"topic": ["coral", "reefs"], "budget": 9, "seeds": []}, config)
    assert ("coral reefs", 9, "breadth-first") == (options.topic, options.budget, options.strategy)


def test_read_options_makes_paths_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"topic": None, "seed_files": ["seeds.txt", "http://a.test/list"], "terms": "words.txt"}
    options = read_options(given, None)
    assert [str(tmp_path / "seeds.txt"), "http://a.test/list"] == options.seed_files
    assert str(tmp_path / "words.txt") == options.terms


def test_free_name_numbers_taken_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = Options(topic="Coral Reefs!")
    assert Path("crawls/coral-reefs") == free_name(options)
    (tmp_path / "crawls" / "coral-reefs").mkdir(parents=True)
    assert Path("crawls/coral-reefs-2") == free_name(options)


def test_free_name_without_topic_is_crawl() -> None:
    assert Path("crawls/reefs") == free_name(Options(model="models/reefs.model"))
    assert Path("crawls/crawl") == free_name(Options())


class Endless:
    """Crawl that runs until it is stopped."""

    def __init__(self) -> None:
        self.path, self.stopped = Path("crawl"), False

    def stop(self) -> None:
        self.stopped = True

    async def __aiter__(self) -> AsyncIterator[int]:
        yield 0
        signal.raise_signal(signal.SIGINT)
        while not self.stopped:
            await asyncio.sleep(0.001)
            yield 1


def test_until_stopped_stops_at_interrupt() -> None:
    crawl: Any = Endless()
    before = signal.getsignal(signal.SIGINT)
    try:
        asyncio.run(until_stopped(crawl, None))
    finally:
        signal.signal(signal.SIGINT, before)
    assert crawl.stopped
