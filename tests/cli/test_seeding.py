"""`lycosa seeds`: what it lists, what it says beside that, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands import Command
from lycosa.cli import seeds as seeding
from lycosa.cli.seeds import Fetch, Read
from lycosa.core.errors import InputError
from lycosa.web.sources import Source
from lycosa.web.sources.files import read_seed_file

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>
<DT><H3>Sea</H3><DL><DT><A HREF="https://a.example/reefs">Reefs [bold]&amp;[/] fish</A></DL>
<DT><A HREF="javascript:alert()">Script</A></DL>"""


@contextmanager
def nowhere(*_: object) -> Iterator[Fetch]:
    def fetch(url: str) -> Source:
        raise InputError(f"cannot fetch {url}: there is no network in this test")

    yield fetch


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("nowhere.txt/", "cannot fetch https://nowhere.txt/"),  # a host name as good as any
        ("not a file", "'not a file' is neither a file nor a web address"),
        ("ftp://a.example/", "is neither a file nor a web address"),
        ("x" * 5_000, "is neither a file nor a web address"),
        (".", "cannot read the seeds in .: Is a directory"),
        ("typo.txt", "typo.txt names no seeds, line 2 ('not an address') can't be read"),
        ("empty.txt", "empty.txt names no seeds"),
        ("--delay=-1", "--delay is -1.0: it must be 0 or more"),
        ("--limit=-1", "--limit must be 0 or more"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    word: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """Bad sources are named, with what to do."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(seeding, "fetching", nowhere)
    Path("typo.txt").write_text("\nnot an address\n")
    Path("empty.txt").write_text("\n")
    assert told in command.complaint("seeds", word, *(["empty.txt"] if word.startswith("--") else []))


def test_output_into_a_file_is_a_seed_file(tmp_path: Path, command: Command) -> None:
    """What is written where no terminal is can be given to --seeds: whole addresses, the rest in comments."""
    (tmp_path / "marks.html").write_text(BOOKMARKS + "<DT><A HREF='https://b.example/#x'>B # 2</A>")
    _, out, err = command("seeds", tmp_path / "marks.html")
    (tmp_path / "seeds.txt").write_text(out)
    assert ["https://a.example/reefs", "https://b.example/"] == read_seed_file(tmp_path / "seeds.txt").lines
    assert "Reefs [bold]&[/] fish" in out
    assert "2 addresses from 1 bookmarks file, 1 entry left out (1 no web address)\n" == err


def test_the_limit_is_told(tmp_path: Path, command: Command) -> None:
    """What the limit hides is counted; 0 hides nothing."""
    (tmp_path / "list").write_text("".join(f"https://a.example/{n}\n" for n in range(7)))
    _, out, err = command("seeds", tmp_path / "list", "--limit", "2")
    assert ["https://a.example/0", "https://a.example/1"] == [line.split()[0] for line in out.splitlines()]
    assert "7 addresses from 1 list. 2 are shown: --limit 0 lists all\n" == err
    assert 7 == len(command.out("seeds", tmp_path / "list", "-n", "0").splitlines())


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """One value: the addresses, the sources, and what there is to say about them."""
    monkeypatch.setattr(seeding, "fetching", nowhere)
    (tmp_path / "a.xml").write_text(
        "<urlset><url><loc>https://a.example/coral</loc><lastmod>2026-03-01</lastmod></url><url/>"
        "<sitemap><loc>https://a.example/more.xml</loc></sitemap>"
    )
    name = str(tmp_path / "a.xml")
    url, more = "https://a.example/coral", "https://a.example/more.xml"
    assert {
        "count": 1,
        "addresses": [{"url": url, "title": "coral", "context": "", "modified": "2026-03-01", "source": name}],
        "sources": [
            {
                "name": name,
                "form": "sitemap",
                "addresses": 1,
                "nested": False,
                "left_out": {"no web address": 1},
                "note": "breaks off: what came before is used",
            }
        ],
        "remarks": [f"{more}: cannot fetch {more}: there is no network in this test"],
    } == command.json("seeds", name)


def test_notes_and_remarks_go_to_stderr(tmp_path: Path, command: Command) -> None:
    """A source that breaks off says so beside the result, not in it."""
    (tmp_path / "a.xml").write_text("<urlset><url><loc>https://a.example/coral</loc></url>")
    _, out, err = command("seeds", tmp_path / "a.xml")
    assert [f"https://a.example/coral # coral, {tmp_path}/a.xml"] == out.splitlines()
    assert f"{tmp_path}/a.xml (sitemap): breaks off: what came before is used" in err


def test_the_summary_counts_what_was_followed() -> None:
    """Sources by form, those that others named, and everything left out."""
    read = [
        Read("a.opml", "opml", 0),
        Read("b", "feed", 3, nested=True, left_out={"no web address": 1}),
        Read("c", "feed", 1, nested=True, left_out={"no web address": 1, "on another site": 3}),
    ]
    assert (
        "4 addresses from 2 feeds, 1 OPML file (2 of them listed by other sources), "
        "5 entries left out (3 on another site, 2 no web address)"
    ) == seeding.summary(4, 4, read)
