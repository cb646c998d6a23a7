"""Internal paths and errors stay secret; quotas hold under concurrency."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError, StoreError
from lycosa_server.api import export_routes as exports
from lycosa_server.people.database import Database, DatabaseUnavailable
from lycosa_server.reader import MAX_MAIN_SIZE, render_html
from server_world import PAGE, World, make_world
from site_maker import API, PASSWORD


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(str(tmp_path / "world.sqlite"), tmp_path)
    yield made
    made.site.close()


def test_damaged_crawl_never_reveals_its_directory(world: World, capsys: Any) -> None:
    crawl = world.ids["crawl"]
    place = world.site.settings.crawl_directory(crawl)
    for path in place.glob("crawl.sqlite*"):
        path.write_bytes(b"this was a log once" * 100)
    asked = ["progress", "graph", "pages", f"page?url={PAGE}", f"reader?url={PAGE}", "search?q=coral"]
    asked += [f"diff?url={PAGE}", "export?form=jsonl", "export?form=csv"]
    answers = {what: world.alice.get(f"{API}/crawls/{crawl}/{what}") for what in asked}
    interest = f"{API}/interests/{world.ids['interest']}"
    for what in ("changes", "feedback", "suggestions", "export"):
        answers[what] = world.alice.get(f"{interest}/{what}")
    root = str(world.site.settings.data)
    assert {} == {what: answer.text for what, answer in answers.items() if root in answer.text}
    assert {} == {what: answer.status_code for what, answer in answers.items() if answer.status_code == 500}
    assert {503} <= {answer.status_code for answer in answers.values()}
    assert str(place) in capsys.readouterr().err


def test_internal_errors_are_only_logged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    data = str(world.site.settings.data)
    raised: list[Exception] = []

    def fails(*_: Any, **__: Any) -> Any:
        raise raised[-1]

    monkeypatch.setattr("lycosa_server.people.accounts.names", fails)
    for error, status in (
        (DatabaseUnavailable("the database db.internal does not answer (user 'secret')"), 503),
        (StoreError(f"{data}/lycosa.sqlite: disk I/O error, user 'secret'"), 503),
        (InputError("not-a-crawl", f"{data}/crawls/1 is not a crawl"), 422),
    ):
        raised.append(error)
        answer = world.alice.get(f"{API}/people/names", params={"begins": "al"})
        leaked = [word for word in (data, "db.internal", "secret") if word in answer.text]
        assert (status, []) == (answer.status_code, leaked)


def test_export_quota_holds_under_concurrency(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()
    body: list[int] = []

    def slow(out: Any, *_: Any) -> None:
        out.write(b"x" * 70_000)  # enough for the response to begin
        full.wait(120)

    monkeypatch.setattr(exports, "_pack", slow)

    def ask(_: int) -> int:
        status = int(world.alice.get(f"{API}/me/export").status_code)
        body.append(status)
        if len(body) == 8:
            full.set()
        return status

    with ThreadPoolExecutor(10) as pool:
        statuses = sorted(pool.map(ask, range(10)))
    assert [200] * 2 + [429] * 8 == statuses
    assert 200 == world.alice.get(f"{API}/me/export").status_code


def test_render_html_of_huge_page_skips_main_content(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: object) -> Any:
        raise AssertionError("its parts were weighed")

    monkeypatch.setattr("lycosa_server.reader.main_blocks", never)
    shown = render_html(
        "<nav>menu</nav><script>bad()</script><p>coral " + "reef " * MAX_MAIN_SIZE, "http://reefs.example/"
    )
    assert (True, True, False, "") == (
        "menu" in shown.main,
        "coral reef" in shown.main,
        "bad" in shown.main,
        shown.rest,
    )


def test_serve_keeps_files_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lycosa_server.commands import serve

    async def nothing(self: Any) -> None:
        return None

    monkeypatch.setattr("lycosa_server.supervisor.Supervisor.run", nothing)
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    before = os.umask(0o022)
    try:
        serve(data, port=0)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o077 for path in data.iterdir()}
    assert (True, {0}) == ("lycosa.sqlite" in modes, set(modes.values()))


def test_delete_account_overwrites_database_files(world: World) -> None:
    answer = world.alice.request("DELETE", f"{API}/me", json={"password": PASSWORD})
    assert 204 == answer.status_code
    files = {path.name: path.read_bytes() for path in world.site.settings.data.glob("world.sqlite*")}
    assert len(files) > 1
    words = [word.encode() for word in ("secretwords", "alices-page", "Alice's reefs")]
    assert [] == [(name, word) for name, content in files.items() for word in words if word in content]


def test_database_error_never_repeats_url() -> None:
    with raises_input_error("bad-database") as caught:
        Database("mysql://ada:hidden@db.example/lycosa")
    assert ("hidden" in str(caught.value), "mysql://" in str(caught.value)) == (False, True)


def test_unknown_paths_never_redirect(world: World) -> None:
    for path in (f"{API}/health/", "/account/", "/interests/..%2f"):
        answer = world.alice.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
        assert (404, False) == (answer.status_code, "evil" in answer.headers.get("location", ""))
