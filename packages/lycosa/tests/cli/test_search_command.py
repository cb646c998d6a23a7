"""`lycosa search` and `lycosa page` as typed by users, in terminals and pipes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

import lycosa
from commands import Command, run
from lycosa.cli import search_command as searching
from lycosa.cli.printing import show
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import SqliteLog
from lycosa.store.search import NAME, index_lock
from lycosa.testweb import Server, Web, serve
from lycosa.testweb.reply import ServedResponse
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(pages=1000, traps=("redirects", "dead", "duplicates")), record=False) as running:
        yield running


def crawl(server: Server, path: Path, **more: Any) -> Path:
    options: dict[str, Any] = {"budget": 40, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"], **more}
    web = server.web
    seeds = [*web.seeds(TOPIC), *web.trap_urls("duplicates")[:6], *web.trap_urls("dead")[:2]]
    for _ in lycosa.crawl("coral reef", seeds, out=path, **options):
        pass
    return path


@pytest.fixture(scope="module")
def reefs(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a small crawl."""
    return crawl(server, tmp_path_factory.mktemp("reefs") / "crawl")


def page_of(command: Command, reefs: Path, words: str = "coral reef") -> dict[str, Any]:
    """Return the best result for a query."""
    hit: dict[str, Any] = command.json("search", reefs, words)["hits"][0]
    return hit


def test_search_in_pipe_is_plain(command: Command, reefs: Path) -> None:
    code, out, err = command("search", reefs, "coral", "reef", "-n", "3")
    assert (0, "") == (code, err)
    lines = out.split("\n")
    assert re.fullmatch(r"\d+ of \d+ pages have coral reef; the best 3:", lines[0])
    assert 3 == sum(bool(re.match(r" \d\. \S", line)) for line in lines)
    assert 3 == sum(bool(re.fullmatch(r"    http://\S+", line)) for line in lines)
    assert 3 == sum(bool(re.fullmatch(r"    relevance [01]\.\d\d, \d{4}-\d\d-\d\d, en", line)) for line in lines)
    assert not any(line != line.rstrip() or "\x1b" in line for line in lines)


def test_search_prints_bold_matches_in_terminal(command: Command, reefs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, out, _ = command("search", reefs, "coral", "-n", "1")
    assert re.search(r"\x1b\[1m[Cc]orals?\x1b\[0m", out)


def test_search_lines_fit_terminal(command: Command, reefs: Path) -> None:
    for width in (40, 80, 140):
        lines = command.out("search", reefs, "coral reef", width=width).split("\n")
        assert all(len(line) <= width for line in lines if "http://" not in line)
        assert 10 == sum(bool(re.fullmatch(r"    http://\S+", line)) for line in lines)
        assert max(map(len, lines)) > min(width, 100) - 12


def test_search_prints_json(command: Command, reefs: Path) -> None:
    told = command.json("search", reefs, '"coral reef"', "--limit", "2")
    assert ('"coral reef"', 2) == (told["query"], len(told["hits"]))
    assert told["total"] >= 2
    fields = "rank url title snippet spans relevance match_score host language fetched".split()
    fields += ["same_as", "changed", "standing", "since"]
    assert fields == list(told["hits"][0])


def test_search_argument_with_spaces_is_a_phrase(command: Command, reefs: Path) -> None:
    phrase = command.json("search", reefs, "coral reef", "fish")
    assert phrase == command.json("search", reefs, '"coral reef" fish')


def test_search_without_results_suggests_more(command: Command, reefs: Path) -> None:
    out = command.out("search", reefs, "zooxanthellaeish", "--threshold", "0.01")
    pages = command.json("search", reefs, "zzz", "--threshold", "0.01")["pages"]
    tries = "another spelling, a beginning (zooxanthellaei*) or fewer filters"
    assert f"None of {pages} pages has zooxanthellaeish. Try {tries}." == " ".join(out.split())
    _, out, _ = command("search", reefs, "coral", "--until", "2001-01-01")
    assert "No page matches the filters.\n" == out


def test_search_offers_pages_with_some_words(command: Command, reefs: Path) -> None:
    _, out, _ = command("search", reefs, "coral zzz", "-n", "1")
    assert re.match(r"None of \d+ pages has all of coral zzz; \d+ have some of it, the best 1:\n", out)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["coral", "--since", "soon"], "--since 'soon' is not a day"),
        (["coral", "--limit", "0"], "the limit is 0"),
        (["coral", "--threshold", "nan"], "the threshold is nan: it must be 0 or more"),
        (["coral", "--host", "a b"], "is not a host"),
        ([""], "no word to search for"),
        (["--", "-coral"], "only excludes pages"),
    ],
)
def test_search_rejects_bad_query(words: list[str], told: str, command: Command, reefs: Path) -> None:
    assert told in command.complaint("search", reefs, *words)


def test_search_without_crawl_raises(command: Command, tmp_path: Path) -> None:
    assert "contains no crawl" in command.complaint("search", tmp_path, "coral")
    assert [] == list(tmp_path.iterdir())


def test_search_shows_progress_of_long_indexing(
    command: Command, reefs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(reefs, tmp_path / "copy", ignore=shutil.ignore_patterns("search.*"))
    monkeypatch.setattr(searching.IndexingProgress, "PATIENCE", 0.0)
    _, out, err = command("search", path, "coral", "--json")
    assert re.match(r"indexing: 1 pages?, \d+%\n", err)
    assert json.loads(out)["hits"]
    monkeypatch.setattr(searching.IndexingProgress, "PATIENCE", 1e9)
    (path / NAME).unlink()
    assert "" == command("search", path, "coral", "--json")[2]


def test_search_reports_waiting_for_index(
    command: Command, reefs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = index_lock(reefs)
    held.__enter__()
    letting = searching.IndexingProgress.waiting

    def waiting(telling: searching.IndexingProgress) -> None:
        letting(telling)
        held.__exit__(None, None, None)

    monkeypatch.setattr(searching.IndexingProgress, "waiting", waiting)
    code, _, err = command("search", reefs, "coral")
    assert (0, "another search is building the index: waiting for it\n") == (code, err)


def test_search_reports_missing_bodies(command: Command, server: Server, reefs: Path, tmp_path: Path) -> None:
    bare = crawl(server, tmp_path / "bare", archive=False, budget=5)
    _, _, err = command("search", bare, "coral")
    assert "note: the archive has no readable text of these pages: only titles are searched\n" == err
    path = shutil.copytree(reefs, tmp_path / "copy", ignore=shutil.ignore_patterns("search.*"))
    log = SqliteLog(path / "crawl.sqlite")
    log._db.execute("UPDATE visit SET warc_file = 'lost.warc.gz' WHERE seq % 2 AND warc_file != ''")
    log.close()
    _, _, err = command("search", path, "coral")
    assert re.match(
        r"note: \d+ of \d+ pages could not be read from the archive .*; after .* delete \S+search.sqlite\n", err
    )


def test_page_prints_sections(command: Command, reefs: Path) -> None:
    hit = page_of(command, reefs)
    code, out, err = command("page", reefs, hit["url"])
    assert (0, "") == (code, err)
    assert out.startswith(f"{hit['title']}\n{hit['url']}\n")
    parts = [
        r"status +200, text/html, [\d,]+ bytes",
        r"language +en",
        r"fetched +\S+ \S+ UTC",
        r"relevance +[01]\.\d\d",
    ]
    parts += [r"\nwhy it was fetched\n(linked from|it is a seed)", r"\ntext\n", r"\n\d+ links, \d+ of them fetched\n"]
    parts += [r"\n1 visit\n"]
    places = [found.start() if (found := re.search(part, out)) else -1 for part in parts]
    assert sorted(places) == places
    assert places[0] > 0


def test_page_prints_json(command: Command, reefs: Path) -> None:
    hit = page_of(command, reefs)
    told = command.json("page", reefs, hit["url"])
    assert (hit["url"], hit["title"], 200, "ok") == (told["url"], told["title"], told["status"], told["outcome"])
    assert told["why"]["kind"] in ("seed", "link", "redirect")
    assert "coral" in told["text"].lower()
    assert {"fetched", "not fetched"} & {link["state"] for link in told["links"]}
    assert ["first"] == [visit["content"] for visit in told["visits"]]
    assert [] == command.json("page", reefs, hit["url"], "--no-links")["links"]


def test_page_raw_is_decoded_body(
    reefs: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    url = server.web.seeds(TOPIC)[0]
    assert 0 == run(monkeypatch, "page", str(reefs), url, "--raw")
    assert (server.web.response(url).body, b"") == capfdbinary.readouterr()


def test_page_raw_without_body_raises(command: Command, server: Server, tmp_path: Path) -> None:
    bare = crawl(server, tmp_path / "bare", archive=False, budget=3)
    url = page_of(command, bare, "index OR open OR town OR portal")["url"]
    complaint = command.complaint("page", bare, url, "--raw")
    assert f"lycosa: {url} has no stored body: the crawl was run without an archive\n" == complaint
    assert "the crawl was run without an archive" in command.out("page", bare, url)


def test_page_with_missing_archive_file_shows_log_data(command: Command, reefs: Path, tmp_path: Path) -> None:
    url = page_of(command, reefs)["url"]
    path = shutil.copytree(reefs, tmp_path / "copy")
    shutil.rmtree(path / "archive")
    assert "restore the file from a backup" in " ".join(command.out("page", path, url).split())
    assert "cannot read" in command.complaint("page", path, url, "--raw")


def test_page_of_copy_names_original(command: Command, reefs: Path) -> None:
    hits = command.json("search", reefs, "the", "--copies", "-n", "100")["hits"]
    copies = [hit for hit in hits if hit["same_as"]]
    assert copies
    for copy in copies[:3]:
        told = command.json("page", reefs, copy["url"])
        assert (copy["same_as"], "") == (told["same_as"], told["trouble"])
        assert told["text"]


def test_page_unknown_url_suggests_similar(command: Command, reefs: Path) -> None:
    url = page_of(command, reefs)["url"]
    complaint = command.complaint("page", reefs, url[:-3])
    assert re.search(r"was not visited in .*similar visited URLs: http://", complaint)


def test_page_fits_terminal(command: Command, reefs: Path) -> None:
    url = page_of(command, reefs)["url"]
    for width in (40, 140):
        out = command.out("page", reefs, url, width=width)
        text = out.partition("\ntext\n")[2].partition(" links, ")[0]
        assert all(len(line) <= min(width, 100) for line in text.split("\n"))
        assert re.search(r"^fetched +http://\S+ ", out, re.MULTILINE)


def test_page_of_failed_visit_shows_cause(command: Command, reefs: Path) -> None:
    log = SqliteLog(reefs / "crawl.sqlite", readonly=True)
    (url, outcome), *_ = log.rows("url, outcome", "kind = 'page' AND outcome NOT IN ('ok', 'redirect')")
    log.close()
    out = command.out("page", reefs, url)
    assert re.search(rf"^outcome +{outcome}", out, re.MULTILINE)
    assert "\nscore" not in out
    assert "\ntext\nNot Found\n" in out


def test_page_removes_control_characters(command: Command, tmp_path: Path) -> None:
    hostile = "Coral\x1b]0;pwned\x07\x9b2J\u202e"
    told = f'<title>{hostile}</title><p>{hostile} text <a href="/x">{hostile} link</a></p>'
    body = f'<html lang="e\x1b[2J">{told}'.encode()
    path, front = tmp_path / "crawl", "http://a.localhost/"

    class Hostile:
        def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
            kind = ("Content-Type", "text/html; charset=utf-8; x=\x9b")
            return ServedResponse(200, [kind], body) if url == front else ServedResponse(404, [], b"")

        def counts(self, url: str) -> bool:
            return False

    async def crawl() -> None:
        politeness = Politeness(clock, delay=0.1, free=lambda address: True)
        space = WebSpace(SimTransport(Hostile(), seed=1), politeness, clock)
        async for _ in lycosa.crawl("coral", [front], space=space, clock=clock, out=path):
            pass

    run_virtual(crawl())
    for words in (("search", path, "coral"), ("page", path, front)):
        out = command.out(*words)
        assert "pwned" in out
        assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_show_removes_control_characters_from_values(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a\x1b]0;pwned\x07\x9b2J\u202eb"
    show([{"copy of": f"x://{hostile}", "remarks": hostile}, Text(hostile), f"{hostile}"], Console())
    out = capsys.readouterr().out
    assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert out.count("pwned") == 4
