"""Tests of search over small crawls: results, index updates, recovery from damage, concurrency."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handmade import FRONT, crawl, html, star, visit_again
from lycosa.collection import searching
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Progress, Search
from lycosa.core.errors import DamagedError, InputError
from lycosa.store.log import NAME as LOG
from lycosa.store.search import NAME
from lycosa.testweb.simulation import EPOCH

PAGES = {
    "http://a.localhost/reefs": html("Coral reefs", "A coral reef is built by animals. Bleaching hits every reef."),
    "http://a.localhost/fish": html("Fish", "Parrotfish eat coral and make sand, far from any bleaching."),
    "http://b.localhost/trains": html("Steam trains", "Locomotives burn coal; nothing here about the sea."),
    "http://b.localhost/de": html("Korallenriffe", "Ein Riff aus Korallen im Meer. Größe zählt.", language="de"),
    "http://www.b.localhost/fr": html("Récifs", "Le récif de corail est très beau.", language="fr-CA"),
    "http://b.localhost/zh": html("珊瑚礁", "浅海的珊瑚礁正在白化。", language="zh"),
}


class Counting(Progress):
    """Progress callback that records its calls."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.shares: list[float] = []

    def indexed(self, pages: int, share: float) -> None:
        self.pages.append(pages)
        self.shares.append(share)


def find(path: Path, words: str, **more: Any) -> list[str]:
    """Return the URLs of the results."""
    with CrawlDirectory(path) as collection, Search(collection) as search:
        return [hit.url for hit in search.find(words, **more)]


def everything(path: Path) -> list[dict[str, Any]]:
    """Return the complete results of some searches."""
    with CrawlDirectory(path) as collection, Search(collection) as search:
        return [
            search.find(words).as_dict() for words in ("coral reef", '"coral reef"', "bleach*", "the -coral", "zzz")
        ]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl of a few pages in several languages."""
    path = tmp_path_factory.mktemp("small") / "crawl"
    crawl(path, star(PAGES))
    return path


@pytest.fixture(scope="module")
def searching_small(small: Path) -> Iterator[Search]:
    with CrawlDirectory(small) as collection, Search(collection) as search:
        yield search


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl of sixty pages with distinct words, not indexed yet."""
    path = tmp_path_factory.mktemp("reefs") / "crawl"
    words = [" ".join(f"word{(n * k) % 97}" for k in range(1, 30)) for n in range(60)]
    pages = {
        f"http://a.localhost/{n}": html(f"Coral {n}", f"The coral reef {n} bleaches. {text}")
        for n, text in enumerate(words)
    }
    crawl(path, star(pages))
    return path


@pytest.fixture
def copy(reefs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(reefs, tmp_path / "copy"))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("coral bleaching", ["reefs", "fish"]),
        ('"coral reef"', ["reefs"]),
        ("coral -sand", ["reefs"]),
        ("locomot*", ["trains"]),
        ("reefs", ["reefs"]),
        ("RIFF größe", ["de"]),
        ("grosse", []),  # ß is not folded to ss
        ("recif", ["fr"]),
        ("corail récif", ["fr"]),
        ("珊瑚礁", ["zh"]),
        ("珊瑚 白化", ["zh"]),
        ("瑚珊", []),
    ],
)
def test_find_matches_words_in_several_languages(words: str, found: list[str], searching_small: Search) -> None:
    results = searching_small.find(words)
    assert found == [hit.url.rpartition("/")[2] for hit in results if not results.loosened]


def test_find_returns_hit_fields(small: Path) -> None:
    with CrawlDirectory(small) as collection, Search(collection) as search:
        (hit,) = search.find("parrotfish")
    assert (1, "http://a.localhost/fish", "Fish", "a.localhost", "en") == (
        hit.rank,
        hit.url,
        hit.title,
        hit.host,
        hit.language,
    )
    assert "Parrotfish eat coral" in hit.snippet.text
    assert ["Parrotfish"] == [hit.snippet.text[start:end] for start, end in hit.snippet.spans]
    assert 0 < hit.relevance <= 1
    assert hit.relevance > 0
    assert datetime.fromtimestamp(EPOCH, UTC).date() == hit.fetched.date()
    assert json.loads(json.dumps(hit.as_dict()))["url"] == hit.url


def test_find_applies_filters(small: Path) -> None:
    everywhere = {FRONT, *PAGES}
    words = "reef riff recif coral begins"
    with CrawlDirectory(small) as collection, Search(collection) as search:
        assert {"http://b.localhost/de"} == {hit.url for hit in search.find(words, languages=["de"])}
        assert {"http://www.b.localhost/fr"} == {hit.url for hit in search.find(words, languages=["fr"])}
        assert {"b.localhost", "www.b.localhost"} == {hit.host for hit in search.find(words, hosts=["b.localhost"])}
        assert 0 == search.find("coral", until="2020-01-01").pages
        assert len(everywhere) == search.find("coral", since="2023-11-14", until="2023-11-14").pages
        best = max(hit.relevance for hit in search.find("coral"))
        assert all(hit.relevance == best for hit in search.find("coral", threshold=best))


def test_find_checks_arguments_before_indexing(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    crawl(path, star({}))
    with CrawlDirectory(path) as collection, Search(collection) as search:
        for words, more in (
            ("", {}),
            ("coral", {"limit": 0}),
            ("coral", {"since": "soon"}),
            ("coral", {"hosts": [" "]}),
        ):
            with pytest.raises(InputError):
                search.find(words, **more)
    assert not (path / NAME).exists()


@settings(max_examples=40, deadline=None)
@given(words=st.text() | st.text("coralref\"'-*^:(){}+ \x00\\é珊瑚 \ud800"))
@example(words='coral" OR "reef')
@example(words='"coral reef" -"')
@example(words="title:coral NEAR(a b) ^x")
def test_find_accepts_or_rejects_any_query(words: str, searching_small: Search) -> None:
    try:
        results = searching_small.find(words)
    except InputError:
        return
    assert len(results) <= results.total


def test_update_indexes_new_pages_only(copy: Path) -> None:
    counting = Counting()
    with CrawlDirectory(copy) as collection, Search(collection, counting) as search:
        total = search.find("coral", copies=True).pages
        assert list(range(1, total + 1)) == counting.pages
        assert sorted(counting.shares) == counting.shares
        assert counting.shares[-1] <= 1
        counting.pages.clear()
        search.find("reef")
        assert [] == counting.pages
        visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
        assert ["http://new.localhost/"] == [hit.url for hit in search.find("axolotl")]
        assert [1] == counting.pages


@pytest.mark.parametrize("kind", ["page", "revisit"])
def test_find_searches_newest_content(kind: str, small: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(small, tmp_path / "crawl"))
    assert ["http://a.localhost/fish"] == find(path, "parrotfish")
    visit_again(path, "http://a.localhost/fish", html("Fish", "Now about groupers and coral."), kind=kind)
    assert [] == find(path, "parrotfish")
    assert ["http://a.localhost/fish"] == find(path, "groupers")
    assert 1 == find(path, "coral").count("http://a.localhost/fish")
    with CrawlDirectory(path) as collection, Search(collection) as search:
        assert 1 + len(PAGES) == search.find("coral").pages
    visit_again(path, "http://a.localhost/fish", "", kind=kind, status=304)
    assert ["http://a.localhost/fish"] == find(path, "groupers")


def test_find_excludes_copies_by_default(tmp_path: Path) -> None:
    text = "Corals of the lagoon, counted by hand over many years. " * 20
    path = tmp_path / "crawl"
    pages = {"http://a.localhost/1": html("Lagoon", text), "http://b.localhost/2": html("Lagoon", text)}
    crawl(path, star(pages))
    original, *rest = find(path, "lagoon")
    assert [] == rest
    with CrawlDirectory(path) as collection, Search(collection) as search:
        hits = search.find("lagoon", copies=True).hits
    assert {original} == {hit.same_as for hit in hits if hit.same_as}
    assert 2 == len(hits)
    assert all("counted by hand" in hit.snippet.text for hit in hits)


def test_find_while_crawl_is_running(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    seen: list[int] = []

    def look(number: int) -> None:
        if number % 3 == 2:
            with CrawlDirectory(path) as collection, Search(collection) as search:
                seen.append(search.find("begins or reef", copies=True).pages)

    crawl(path, star(PAGES), each=look)
    assert [3, 6] == seen


def _deleted(path: Path) -> None:
    (path / NAME).unlink()


def _garbage(path: Path) -> None:
    (path / NAME).write_bytes(b"garbage" * 1000)


def _holes(path: Path) -> None:
    size = (path / NAME).stat().st_size
    with open(path / NAME, "r+b") as file:
        file.seek(4096)
        file.write(b"\xaa" * (size - 8192))


def _older(path: Path) -> None:
    with sqlite3.connect(path / NAME) as db:
        db.execute("PRAGMA user_version = 0")
    db.close()


def _no_places(path: Path) -> None:
    with sqlite3.connect(path / NAME) as db:
        db.execute("DELETE FROM place_data")
    db.close()


def _ahead(path: Path) -> None:
    with sqlite3.connect(path / NAME) as db:
        db.execute("UPDATE state SET last = last + 1000")
    db.close()


def test_damaged_index_is_rebuilt(copy: Path) -> None:
    before = everything(copy)
    for damage in (_deleted, _garbage, _holes, _older, _no_places, _ahead):
        damage(copy)
        assert before == everything(copy), damage.__name__


def test_damaged_log_keeps_index(copy: Path) -> None:
    before = everything(copy)
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    log = sqlite3.connect(copy / LOG)
    with log:
        log.execute("UPDATE visit SET data = '' WHERE url = 'http://new.localhost/'")
    with pytest.raises(DamagedError, match=LOG):
        find(copy, "axolotl")
    with log:
        log.execute("DELETE FROM visit WHERE url = 'http://new.localhost/'")
    log.close()
    counting = Counting()
    with CrawlDirectory(copy) as collection, Search(collection, counting) as search:
        assert before[0] == search.find("coral reef").as_dict()
    assert [] == counting.pages


def test_update_rebuilds_index_without_table(copy: Path) -> None:
    find(copy, "coral")
    db = sqlite3.connect(copy / NAME)
    db.execute("DROP TABLE page")
    db.close()
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    assert ["http://new.localhost/"] == find(copy, "axolotl")
    assert len(find(copy, "coral")) > 1


def test_restored_log_invalidates_index(copy: Path, tmp_path: Path) -> None:
    shutil.copy(copy / LOG, tmp_path / "backup")
    before = everything(copy)
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    assert ["http://new.localhost/"] == find(copy, "axolotl")
    shutil.copy(tmp_path / "backup", copy / LOG)
    assert before == everything(copy)  # an earlier state than the last event of the index
    visit_again(copy, "http://other.localhost/", html("Other", "A newt among corals."))
    find(copy, "newt")
    shutil.copy(tmp_path / "backup", copy / LOG)
    visit_again(copy, "http://third.localhost/", html("Third", "A toad among corals."))
    assert [] == find(copy, "newt")  # the number is the same, but the event is another
    assert ["http://third.localhost/"] == find(copy, "toad")


def test_open_search_survives_deleted_index(copy: Path) -> None:
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        before = search.find("coral").as_dict()
        (copy / NAME).unlink()
        assert before == search.find("coral").as_dict()
        assert (copy / NAME).exists()


def test_index_of_mostly_old_versions_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crawl"
    crawl(path, star({}))
    find(path, "begins")
    monkeypatch.setattr(searching.SearchIndex, "is_mostly_outdated", lambda index: len(index.pages()) < index.size())
    visit_again(path, FRONT, html("Front", "Where it began again."))
    with pytest.MonkeyPatch.context() as patch:
        cleared: list[int] = []
        original = searching.SearchIndex.clear
        patch.setattr(searching.SearchIndex, "clear", lambda index: (cleared.append(1), original(index)))
        assert [FRONT] == find(path, "again")
    assert [1] == cleared


def test_find_without_archive_searches_titles(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    crawl(path, star(PAGES), archive=False)
    with CrawlDirectory(path) as collection, Search(collection) as search:
        results = search.find("fish")
        assert ["http://a.localhost/fish"] == [hit.url for hit in results]
        assert "" == results.hits[0].snippet.text
        assert results.pages == results.unread > 0
        assert not search.find("parrotfish").hits


def test_find_with_missing_archive_file_has_no_snippets(copy: Path) -> None:
    before = find(copy, "coral")
    for file in (copy / "archive").glob("*.warc.gz"):
        file.rename(file.with_suffix(".away"))
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        hits = search.find("coral").hits  # the index is complete, but the archive is not
        assert before == [hit.url for hit in hits]
        assert {""} == {hit.snippet.text for hit in hits}
    (copy / NAME).unlink()
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        results = search.find("coral", copies=True)
    assert results.pages == results.unread > 0
    assert all("coral" in hit.title.lower() for hit in results)


BUILDER = """
import json, os, signal, sqlite3, sys
from pathlib import Path
from lycosa.collection import searching
from lycosa.collection.crawl_directory import CrawlDirectory

searching.BATCH_PAGES = 10

def build(path, start, left, behind):
    def count(statement):
        nonlocal left
        if statement.startswith("--"):
            return  # FTS5's own, inside of another
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)  # the one before was it, and is done
        if statement.strip().startswith(start):
            left -= 1
            if left == 0 and not behind:
                os.kill(os.getpid(), signal.SIGKILL)  # before it is done

    class Watched(sqlite3.Connection):
        def __init__(self, database, **options):
            super().__init__(database, **options)
            if str(database).endswith("search.sqlite"):
                self.set_trace_callback(count)

    connect = sqlite3.connect
    sqlite3.connect = lambda database, **options: connect(database, factory=Watched, **options)
    with CrawlDirectory(path) as collection, searching.Search(collection) as search:
        search.update()

for path, *death in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        build(Path(path), *death)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

DEATHS = [
    ("CREATE TABLE", 2, ""),
    ("COMMIT", 1, ""),  # the tables do not exist yet
    ("COMMIT", 1, "behind"),  # only the tables exist
    ("INSERT INTO place", 5, ""),
    ("COMMIT", 2, ""),
    ("COMMIT", 2, "behind"),
    ("INSERT OR REPLACE INTO page", 14, "behind"),
    ("UPDATE state", 1, "behind"),
    ("COMMIT", 3, "behind"),
]
"""(SQL statement, occurrence at which the process is killed, "behind" to kill it after the statement); each
continues from the state that the previous process left."""


def build(*deaths: tuple[str, str, int, str]) -> list[int]:
    """Build indexes in processes that are killed at these statements; return their exit codes."""
    command = [sys.executable, "-c", BUILDER, json.dumps(deaths)]
    return [int(code) for code in subprocess.run(command, capture_output=True, check=True).stdout.split()]


def contents(path: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of an index, after FTS5's integrity check."""
    db = sqlite3.connect(path / NAME)
    db.execute("INSERT INTO place (place) VALUES ('integrity-check')")
    found = [db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in ("state", "page", "place_docsize")]
    db.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab (main, place, instance)")
    found.append(db.execute("SELECT * FROM temp.seen").fetchall())
    db.rollback()
    db.close()
    return found


def test_index_survives_kill_at_any_statement(copy: Path, tmp_path: Path) -> None:
    reference = Path(shutil.copytree(copy, tmp_path / "twin"))
    codes = build((str(reference), "never", 1, ""), *((str(copy), *death) for death in DEATHS))
    assert [0, *[-signal.SIGKILL] * len(DEATHS)] == codes
    whole, answers = contents(reference), everything(reference)
    assert answers == everything(copy)
    assert whole == contents(copy)


def test_concurrent_builders_agree(copy: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(everything, [copy, copy]))
    assert answers[0] == answers[1]
    assert answers[0][0]["hits"]
    reference = Path(shutil.copytree(copy, tmp_path / "twin", ignore=shutil.ignore_patterns("search.*")))
    everything(reference)
    assert contents(reference) == contents(copy)
