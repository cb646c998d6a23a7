"""kill -9 of each process of a server during a crawl: it recovers without losses or duplicates."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from lycosa.store.log import PAGES, RELEVANCE_NOW, UNIQUE_PAGES, SqliteLog
from lycosa.testweb import Server, Web, serve
from lycosa_server.backup import restore, write_backup
from lycosa_server.people.database import Database
from lycosa_server.settings import Settings
from postgres_server import PostgresServer
from served import Served, runs, wait

TOPIC = "marine biology/coral reefs"
BUDGET = 2000
"""More pages than are fetched, as tests stop the crawl."""

OPTIONS = ("--delay", "0.1", "--allow-network", "127.0.0.0/8")


@pytest.fixture(scope="module")
def web() -> Iterator[Server]:
    with serve(Web(traps=(), hosts=12), record=False) as running:
        yield running


def start_crawl(served: Served, web: Server) -> str:
    settings = {"words": web.web.query(TOPIC), "seeds": web.web.seeds(TOPIC), "budget": BUDGET}
    interest = served.ask("POST", "/interests", {"name": "reefs", "settings": settings, "revisit_every": ""})
    return str(served.ask("POST", f"/interests/{interest['id']}/crawls", {})["id"])


def log_of(data: Path, crawl: str) -> Path:
    return data / "crawls" / crawl / "crawl.sqlite"


def recorded(data: Path, crawl: str) -> int:
    if not log_of(data, crawl).exists():
        return 0
    with closing(sqlite3.connect(f"file:{log_of(data, crawl)}?mode=ro", uri=True)) as log:
        try:
            return int(log.execute(f"SELECT COUNT(*) FROM visit WHERE {PAGES}").fetchone()[0])
        except sqlite3.OperationalError:  # while it is being created
            return 0


def under_way(data: Path, crawl: str, pages: int) -> None:
    wait(lambda: recorded(data, crawl) >= pages, f"the crawl does not get to {pages} pages")


def stopped(served: Served, crawl: str) -> dict[str, Any]:
    served.ask("POST", f"/crawls/{crawl}/stop")
    body: dict[str, Any] = wait(
        lambda: (row := served.ask("GET", f"/crawls/{crawl}"))["state"] != "running" and row,
        f"the crawl does not end: {served.logged[-5:]}",
    )
    return body


def whole(data: Path, body: dict[str, Any]) -> None:
    with closing(SqliteLog(log_of(data, body["id"]), readonly=True)) as log:
        threshold = log.setting("threshold", 0.0)
        pages = [row[0] for row in log.rows("url", PAGES)]
        found = sum(1 for _ in log.rows("url", f"{UNIQUE_PAGES} AND {RELEVANCE_NOW} >= ?", given=(threshold,)))
    assert "stopped" == body["state"]
    assert len(set(pages)) == len(pages) == body["pages"]
    assert found == body["relevant"] > 0


def test_server_survives_kill_of_each_process_and_database(tmp_path: Path, web: Server) -> None:
    data = tmp_path / "data"
    place = Path(mkdtemp(prefix="lycosa-"))
    place.chmod(0o755)
    server = PostgresServer(place / "postgres")
    try:
        address = server.start()
        with Served(data, address, *OPTIONS) as served:
            served.become_admin()
            crawl = start_crawl(served, web)
            under_way(data, crawl, 5)
            old = served.kill("web")
            goes_on(data, crawl)
            assert crawl == wait(lambda: served.ask("GET", f"/crawls/{crawl}"), "the API does not come back")["id"]
            children = served.child("web"), served.child("crawler")
            assert children[0] not in (0, old)

            server.kill()
            goes_on(data, crawl)
            assert not served.ask("GET", "/health")["database"]
            server.start()
            wait(lambda: served.ask("GET", "/health")["status"] == "ok", "the server stays degraded")
            assert children == (served.child("web"), served.child("crawler"))
            back_up_and_restore(Settings(data, address), crawl, tmp_path)

            served.kill("crawler")
            goes_on(data, crawl)
            assert served.child("crawler") not in (0, children[1])
            children = served.child("web"), served.child("crawler")
            served.process.kill()
            with Served(data, address, *OPTIONS) as second:  # waits for the children of the first server
                assert [False, False] == [runs(child) for child in children]
                second.headers = served.headers
                goes_on(data, crawl)
                whole(data, stopped(second, crawl))
            assert 0 == second.process.returncode
        with closing(Database(address)) as database:
            assert [1] == [row["number"] for row in database.rows("SELECT number FROM crawl")]
    finally:
        server.stop()
        place.rmdir()


def test_label_survives_kills_of_crawl_process(tmp_path: Path, web: Server) -> None:
    data = tmp_path / "data"
    with Served(data, "", *OPTIONS) as served:
        served.become_admin()
        crawl = start_crawl(served, web)
        interest = served.ask("GET", f"/crawls/{crawl}")["interest"]
        under_way(data, crawl, 6)
        with closing(SqliteLog(log_of(data, crawl), readonly=True)) as log:
            pages = [node for (node,) in log.rows("url", PAGES)][:6]
        for number, page in enumerate(pages):
            if number == 3:
                stopped(served, crawl)
            old = served.kill("crawler")
            served.ask("PUT", f"/interests/{interest}/feedback", {"url": page, "label": "no" if number % 2 else "yes"})
            wait(lambda old=old: served.child("crawler") not in (0, old), "it is not started again")
            wait(lambda page=page: page in labels_of(data, crawl), f"the label is lost: {served.logged[-5:]}")
        wait(lambda: not served.ask("GET", f"/crawls/{crawl}")["judging"], "it is not judged again")
        assert pages == labels_of(data, crawl)
        assert 6 == served.ask("GET", f"/crawls/{crawl}")["labels_learned"]


def labels_of(data: Path, crawl: str) -> list[str]:
    with closing(SqliteLog(log_of(data, crawl), readonly=True)) as log:
        return [node for (node,) in log.query("SELECT url FROM label")]


def goes_on(data: Path, crawl: str) -> None:
    under_way(data, crawl, recorded(data, crawl) + 3)


def back_up_and_restore(settings: Settings, crawl: str, place: Path) -> None:
    with closing(Database(settings.database_address)) as database:
        write_backup(settings, database, place / "backup.tar")
    restore(place / "backup.tar", place / "restored")
    directory = place / "restored" / "crawls" / crawl
    with closing(SqliteLog(directory / "crawl.sqlite", readonly=True)) as log:
        assert log.archived() == {path.name: path.stat().st_size for path in (directory / "archive").iterdir()}
        assert sum(1 for _ in log.rows("url", PAGES)) >= 5
