"""Requests to examples and search engines before shards start."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.core.options import Options
from lycosa.core.types import Setting
from lycosa.crawling.seeds import SEARCHES_SETTING
from lycosa.store.log import NAME, SqliteLog
from lycosa_cluster import initial_requests
from lycosa_cluster.initial_requests import InitialResults, fetch_initial


def test_responses_are_restored_from_log(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / NAME)
    results = InitialResults(
        events=[Setting("learned", {"terms": [1]}), Setting(SEARCHES_SETTING, {"engine": ["http://a.test/"]})]
    )
    results.record(log)
    assert results.events == []
    again = InitialResults.recorded(log)
    assert (again.topic_terms, again.searched) == ({"terms": [1]}, {"engine": ["http://a.test/"]})
    assert again.seeds == ["http://a.test/"]
    log.close()


def test_no_examples_or_engines_need_no_request() -> None:
    request: Any = SimpleNamespace(options=Options(topic="coral", examples=["a file.txt"]))
    known = InitialResults()
    assert asyncio.run(fetch_initial(request, known)) is known


def test_known_terms_are_kept_and_space_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Space:
        async def close(self) -> None:
            closed.append(True)

    async def engines(options: Any, space: Any, clock: Any, known: Any) -> Any:
        return SimpleNamespace(
            notes=["one engine failed"], events=[Setting(SEARCHES_SETTING, {**known, "new": ["http://b.test/"]})]
        )

    monkeypatch.setattr(initial_requests, "ask_engines", engines)
    monkeypatch.setattr(initial_requests, "learn_terms", None)
    options = Options(topic="coral", search=["new"], examples=["http://a.test/"])
    request: Any = SimpleNamespace(options=options, make_space=Space, clock=lambda: 0.0, notes=[], space=None)
    results = asyncio.run(fetch_initial(request, InitialResults({"terms": [1]}, {"old": ["http://a.test/"]})))
    assert results.topic_terms == {"terms": [1]}
    assert results.seeds == ["http://a.test/", "http://b.test/"]
    assert (closed, request.notes, len(results.events)) == ([True], ["one engine failed"], 1)
