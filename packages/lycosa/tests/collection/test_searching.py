"""Search over real crawls: what is found, and an index that keeps up, heals, and shares."""

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
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.shares: list[float] = []

    def indexed(self, pages: int, share: float) -> None:
        self.pages.append(pages)
        self.shares.append(share)


def find(path: Path, words: str, **more: Any) -> list[str]:
    """The addresses found, the best first."""
    with CrawlDirectory(path) as collection, Search(collection) as search:
        return [hit.url for hit in search.find(words, **more)]


def everything(path: Path) -> list[dict[str, Any]]:
    """What some searches say, to the last letter."""
    with CrawlDirectory(path) as collection, Search(collection) as search:
        return [
            search.find(words).as_dict() for words in ("coral reef", '"coral reef"', "bleach*", "the -coral", "zzz")
        ]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of a few pages in several languages."""
    path = tmp_path_factory.mktemp("small") / "crawl"
    crawl(path, star(PAGES))
    return path


@pytest.fixture(scope="module")
def searching_small(small: Path) -> Iterator[Search]:
    """A search of that crawl, open for as long as the tests run."""
    with CrawlDirectory(small) as collection, Search(collection) as search:
        yield search


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of sixty pages with words of their own; without an index."""
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
    """A copy of that crawl, to do things to."""
    return Path(shutil.copytree(reefs, tmp_path / "copy"))


# -- what is found -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("coral bleaching", ["reefs", "fish"]),
        ('"coral reef"', ["reefs"]),
        ("coral -sand", ["reefs"]),
        ("locomot*", ["trains"]),
        ("reefs", ["reefs"]),
        ("RIFF größe", ["de"]),
        ("grosse", []),  # ß is not ss
        ("recif", ["fr"]),
        ("corail récif", ["fr"]),
        ("珊瑚礁", ["zh"]),
        ("珊瑚 白化", ["zh"]),
        ("瑚珊", []),
    ],
)
def test_words_are_found_in_all_languages(words: str, found: list[str], searching_small: Search) -> None:
    """Words in any case and accent, phrases, beginnings, and pieces of text without blanks."""
    results = searching_small.find(words)
    assert found == [hit.url.rpartition("/")[2] for hit in results if not results.loosened]


def test_a_hit_tells_what_is_known_of_the_page(small: Path) -> None:
    """Address, title, passage with its places, scores, host, language and time."""
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


def test_filters_narrow_the_search(small: Path) -> None:
    """Hosts, languages, days and scores, alone and together."""
    everywhere = {FRONT, *PAGES}
    words = "reef riff recif coral begins"
    with CrawlDirectory(small) as collection, Search(collection) as search:
        assert {"http://b.localhost/de"} == {hit.url for hit in search.find(words, languages=["de"])}
        assert {"http://www.b.localhost/fr"} == {hit.url for hit in search.find(words, languages=["fr"])}
        assert {"b.localhost", "www.b.localhost"} == {hit.host for hit in search.find(words, hosts=["b.localhost"])}
        assert 0 == search.find("coral", until="2020-01-01").pages
        assert len(everywhere) == search.find("coral", since="2023-11-14", until="2023-11-14").pages
        best = max(hit.relevance for hit in search.find("coral"))
        assert all(hit.relevance == best for hit in search.find("coral", score=best))


def test_what_can_not_be_asked_is_told_before_anything_is_built(small: Path, tmp_path: Path) -> None:
    """Bad input leaves no index behind."""
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
def test_whatever_is_typed_is_searched_or_refused(words: str, searching_small: Search) -> None:
    """No input reaches the database as anything but words."""
    try:
        results = searching_small.find(words)
    except InputError:
        return
    assert len(results) <= results.total


# -- keeping up --------------------------------------------------------------------------------------------------


def test_only_what_is_new_is_read(copy: Path) -> None:
    """The first search reads all pages, the next none, and after one more visit just that one."""
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
def test_the_newest_content_of_an_address_counts(kind: str, small: Path, tmp_path: Path) -> None:
    """After a second visit a page is found by what it says now, once."""
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


def test_copies_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    """A page that repeats another's content is found with `copies` only, its text read from the original's record."""
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


def test_a_search_beside_a_running_crawl(tmp_path: Path) -> None:
    """Each page can be found as soon as it is recorded, while the crawl goes on."""
    path = tmp_path / "crawl"
    seen: list[int] = []

    def look(number: int) -> None:
        if number % 3 == 2:
            with CrawlDirectory(path) as collection, Search(collection) as search:
                seen.append(search.find("begins or reef", copies=True).pages)

    crawl(path, star(PAGES), each=look)
    assert [3, 6] == seen


# -- healing -----------------------------------------------------------------------------------------------------


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


def test_a_harmed_index_is_made_anew(copy: Path) -> None:
    """Whatever happened to the file, the searches say what they said."""
    before = everything(copy)
    for harm in (_deleted, _garbage, _holes, _older, _no_places, _ahead):
        harm(copy)
        assert before == everything(copy), harm.__name__


def test_a_damaged_log_is_not_the_fault_of_the_index(copy: Path) -> None:
    """An event that can't be read is told, and what was indexed before it stays."""
    before = everything(copy)
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    log = sqlite3.connect(copy / LOG)
    with log:
        log.execute("UPDATE event SET body = x'00' WHERE node = 'http://new.localhost/'")
    with pytest.raises(DamagedError, match=LOG):
        find(copy, "axolotl")
    with log:
        log.execute("DELETE FROM event WHERE node = 'http://new.localhost/'")
    log.close()
    counting = Counting()
    with CrawlDirectory(copy) as collection, Search(collection, counting) as search:
        assert before[0] == search.find("coral reef").as_dict()
    assert [] == counting.pages


def test_harm_that_shows_while_adding(copy: Path) -> None:
    """An index that can't take in what is new is made anew as well."""
    find(copy, "coral")
    db = sqlite3.connect(copy / NAME)
    db.execute("DROP TABLE page")
    db.close()
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    assert ["http://new.localhost/"] == find(copy, "axolotl")
    assert len(find(copy, "coral")) > 1


def test_a_restored_log_is_noticed(copy: Path, tmp_path: Path) -> None:
    """An index that knows more than the log, or another past, is not trusted."""
    shutil.copy(copy / LOG, tmp_path / "backup")
    before = everything(copy)
    visit_again(copy, "http://new.localhost/", html("New", "An axolotl among corals."))
    assert ["http://new.localhost/"] == find(copy, "axolotl")
    shutil.copy(tmp_path / "backup", copy / LOG)
    assert before == everything(copy)  # behind what the index knew
    visit_again(copy, "http://other.localhost/", html("Other", "A newt among corals."))
    find(copy, "newt")
    shutil.copy(tmp_path / "backup", copy / LOG)
    visit_again(copy, "http://third.localhost/", html("Third", "A toad among corals."))
    assert [] == find(copy, "newt")  # the same number, another event
    assert ["http://third.localhost/"] == find(copy, "toad")


def test_a_long_lived_search_notices_that_its_file_is_gone(copy: Path) -> None:
    """Deleting the index under a search that is open costs time, nothing else."""
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        before = search.find("coral").as_dict()
        (copy / NAME).unlink()
        assert before == search.find("coral").as_dict()
        assert (copy / NAME).exists()


def test_an_index_of_the_dead_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When most of it is about visits long past, it is built again without them."""
    path = tmp_path / "crawl"
    crawl(path, star({}))
    find(path, "begins")
    monkeypatch.setattr(searching.SearchIndex, "mostly_dead", lambda index: len(index.pages()) < index.size())
    visit_again(path, FRONT, html("Front", "Where it began again."))
    with pytest.MonkeyPatch.context() as patch:
        cleared: list[int] = []
        original = searching.SearchIndex.clear
        patch.setattr(searching.SearchIndex, "clear", lambda index: (cleared.append(1), original(index)))
        assert [FRONT] == find(path, "again")
    assert [1] == cleared


# -- what can't be read --------------------------------------------------------------------------------------------


def test_without_an_archive_titles_are_searched(tmp_path: Path) -> None:
    """A crawl that kept no bodies is searched by titles, and says so."""
    path = tmp_path / "crawl"
    crawl(path, star(PAGES), archive=False)
    with CrawlDirectory(path) as collection, Search(collection) as search:
        results = search.find("fish")
        assert ["http://a.localhost/fish"] == [hit.url for hit in results]
        assert "" == results.hits[0].snippet.text
        assert results.pages == results.unread > 0
        assert not search.find("parrotfish").hits


def test_a_missing_archive_file_costs_its_texts_only(copy: Path) -> None:
    """Pages whose bytes are gone are found by their titles; a search shows them without a passage."""
    before = find(copy, "coral")
    for file in (copy / "archive").glob("*.warc.gz"):
        file.rename(file.with_suffix(".away"))
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        hits = search.find("coral").hits  # the index is whole, the archive is not
        assert before == [hit.url for hit in hits]
        assert {""} == {hit.snippet.text for hit in hits}
    (copy / NAME).unlink()
    with CrawlDirectory(copy) as collection, Search(collection) as search:
        results = search.find("coral", copies=True)
    assert results.pages == results.unread > 0
    assert all("coral" in hit.title.lower() for hit in results)


# -- kill -9 -------------------------------------------------------------------------------------------------------

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
    ("COMMIT", 1, ""),  # the tables are not there yet
    ("COMMIT", 1, "behind"),  # nothing but the tables
    ("INSERT INTO place", 5, ""),
    ("COMMIT", 2, ""),
    ("COMMIT", 2, "behind"),
    ("INSERT OR REPLACE INTO page", 14, "behind"),
    ("UPDATE state", 1, "behind"),
    ("COMMIT", 3, "behind"),
]
"""Before which statement to die, the how maniest, or behind it. Each goes on from what the one before has left."""


def build(*deaths: tuple[str, str, int, str]) -> list[int]:
    """Build indexes, each in a process of its own that dies at a certain statement of SQL; their exit codes."""
    command = [sys.executable, "-c", BUILDER, json.dumps(deaths)]
    return [int(code) for code in subprocess.run(command, capture_output=True, check=True).stdout.split()]


def contents(path: Path) -> list[list[tuple[Any, ...]]]:
    """All that an index holds, and that FTS5 finds nothing wrong with its part."""
    db = sqlite3.connect(path / NAME)
    db.execute("INSERT INTO place (place) VALUES ('integrity-check')")
    found = [db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in ("state", "page", "place_docsize")]
    db.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab (main, place, instance)")
    found.append(db.execute("SELECT * FROM temp.seen").fetchall())
    db.rollback()
    db.close()
    return found


def test_a_killed_build_heals(copy: Path, tmp_path: Path) -> None:
    """Killed around any statement, again and again, the next search finds exactly what an undisturbed one does."""
    twin = Path(shutil.copytree(copy, tmp_path / "twin"))
    codes = build((str(twin), "never", 1, ""), *((str(copy), *death) for death in DEATHS))
    assert [0, *[-signal.SIGKILL] * len(DEATHS)] == codes
    whole, said = contents(twin), everything(twin)
    assert said == everything(copy)
    assert whole == contents(copy)


def test_two_builders_at_once(copy: Path, tmp_path: Path) -> None:
    """Of two first searches one builds and the other waits; both give all answers."""
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(everything, [copy, copy]))
    assert told[0] == told[1]
    assert told[0][0]["hits"]
    twin = Path(shutil.copytree(copy, tmp_path / "twin", ignore=shutil.ignore_patterns("search.*")))
    everything(twin)
    assert contents(twin) == contents(copy)
