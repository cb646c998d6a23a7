"""`lycosa changes DIR URL` on crawls with constructed visits."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

from input_errors import raises_input_error
from lycosa.cli import comparing as command
from lycosa.cli.changes import changes
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Visit
from lycosa.revisit.change import Change
from lycosa.store.directory import Directory

URL = "http://a.test/reef"
DAY = 86_400.0
FIRST = 1_767_225_600.0
"""Start of 2026, UTC."""


def page(title: str, *lines: str, links: tuple[str, ...] = ()) -> str:
    told = "".join(f"<p>{line}</p>" for line in lines) + "".join(f'<p><a href="{link}">see</a></p>' for link in links)
    return f"<!DOCTYPE html><title>{title}</title><body>{told}"


LINES = [f"Line number {number} tells of corals." for number in range(30)]
VERSIONS = [
    page("Reef", "Corals grow slowly in the sea.", *LINES, links=("/one",)),
    page("Reef", "Corals grow very slowly in the warm sea.", *LINES, links=("/one", "/two")),
    page("Reefs", "Corals grow very slowly in the warm sea.", *LINES[:-1], "珊瑚白化", links=("/two",)),
]
CHANGE = Change("changed", "text", 0.125, ["words"], ["2 words are others"])


class Crawl:
    """Crawl directory with a method that appends visits."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.directory = Directory.create(path, Options(topic="coral", **options))
        self.log = self.directory.log()
        self.archive = self.directory.archive(self.log, "test", 10**9)
        self.times = 0

    def visit(
        self, body: str = "", *, outcome: Any = "ok", change: Change | None = None, kind: Any = "", **more: Any
    ) -> None:
        """Record a visit one day after the previous one."""
        raw = body.encode()
        kind = kind or ("revisit" if self.times else "page")
        visit = Visit(URL, kind, outcome, 1, status=200, size=len(raw), **more)
        visit.started = visit.ended = FIRST + self.times * DAY
        if kind == "revisit":
            visit.data["follows"] = visit.started - DAY
        if change is not None:
            visit.data["change"] = change.as_data()
        if raw:
            visit.digest = hashlib.sha256(raw).digest()
            headers = [(b"Content-Type", b"text/html; charset=utf-8")]
            exchange = Exchange(b"GET /reef HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", headers, raw, visit.digest)
            visit.place = self.archive.append(visit, exchange)
        self.log.append(visit)
        self.times += 1

    def done(self) -> Path:
        for part in (self.archive, self.log, self.directory):
            part.close()
        return self.path


@pytest.fixture
def reefs(tmp_path: Path) -> Path:
    """Write a crawl with three versions, and an unchanged visit between the second and third."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(VERSIONS[1], change=CHANGE)
    crawl.visit(outcome="unchanged")
    crawl.visit(VERSIONS[2], change=Change("changed", "link", 0.5))
    return crawl.done()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command in a terminal of some width, or in a pipe if the width is 0."""

    def running(path: Path, columns: int = 0, colours: bool = False, **options: Any) -> str:
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        if columns:
            monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm-256color")
        if colours:
            monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(command, "time", SimpleNamespace(time=lambda: FIRST + 5 * DAY))
        capsys.readouterr()
        changes(path, URL, **options)
        return capsys.readouterr().out

    return running


@pytest.mark.paper("personalized-repository")
def test_compares_last_two_versions_by_default(reefs: Path, shown: Any) -> None:
    told = shown(reefs)
    assert "from  version 2 of 3, 2 January 2026, 00:00 UTC" in told
    assert "to    version 3 of 3, 4 January 2026, 00:00 UTC" in told
    assert "title [-Reef-] {+Reefs+}" in told
    assert "links +0 -1" in told
    assert "- http://a.test/one" in told


def test_marks_words_without_colours(reefs: Path, shown: Any) -> None:
    told = shown(reefs, from_="1", to="2")
    assert "~ Corals grow {+very+} slowly in the {+warm+} sea.\n" in told
    assert "recorded: text ▌ 12 %; words: 2 words are others" in told
    assert "  ... 28 unchanged lines\n" in told  # all 30 but the 2 next to the change; links are outside the main part
    assert "\x1b" not in told


def test_changes_all_lines_are_shown(reefs: Path, shown: Any) -> None:
    told = shown(reefs, from_="1", to="2", whole=True)
    assert 30 == sum(f"Line number {number} tells of corals." in told for number in range(30))
    assert "unchanged" not in told


def test_colours_replace_marks(reefs: Path, shown: Any) -> None:
    told = shown(reefs, 80, True, from_="1", to="2")
    assert "\x1b[32mvery\x1b[0m" in told
    assert "{+" not in told


@pytest.mark.parametrize("columns", [40, 100, 120])
def test_lines_fit_terminal(reefs: Path, shown: Any, columns: int) -> None:
    told = shown(reefs, columns, from_="1", to="-1")
    lines = [line for line in told.splitlines() if "http://" not in line]
    assert max(map(cell_len, lines)) < columns
    assert "珊瑚白化" in told


@pytest.mark.parametrize(
    ("from_", "to", "pair"),
    [
        ("", "", (2, 3)),
        ("1", "", (1, 3)),
        ("", "2", (1, 2)),
        ("-3", "-2", (1, 2)),
        ("2026-01-01", "2026-01-03", (1, 2)),  # versions of the 1st, 2nd and 4th
        ("2026-01-01T12:00", "3d", (1, 2)),  # three days before the 6th, the current time
        ("3", "1", (3, 1)),
    ],
)
def test_versions_are_selected_by_number_or_time(
    reefs: Path, shown: Any, from_: str, to: str, pair: tuple[int, int]
) -> None:
    told = json.loads(shown(reefs, from_=from_, to=to, json=True))
    assert pair == (told["from"]["number"], told["to"]["number"])


@pytest.mark.parametrize(
    ("from_", "to", "says"),
    [
        ("4", "", "version 4 does not exist: there are 3"),
        ("0", "", "version 0 does not exist: there are 3"),
        ("3", "", "--from and --to are both version 3 of 3"),
        ("", "1", "version 1 has no earlier version"),
        ("2025-12-31", "", "no version is as old as 2025-12-31: the first is of 1 January 2026, 00:00 UTC"),
        ("soon", "", "--from 'soon' is not a date or time"),
    ],
)
def test_changes_missing_version_raises(reefs: Path, from_: str, to: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        changes(reefs, URL, from_=from_, to=to)


def test_recorded_change_is_shown_for_adjacent_versions_only(reefs: Path, shown: Any) -> None:
    assert "recorded: link " in shown(reefs)
    assert "recorded" not in shown(reefs, from_="1")
    assert "changed: link, magnitude 0.5" == json.loads(shown(reefs, json=True))["says"]
    assert "" == json.loads(shown(reefs, json=True, from_="1"))["says"]


def test_json_has_only_rows_that_differ(reefs: Path, shown: Any) -> None:
    told = json.loads(shown(reefs, from_="1", to="2", json=True, whole_text=True))
    assert {"from": 6 + 180 + 1, "to": 8 + 180 + 2, "removed": 0, "added": 3, "moved": 0, "share": 0.008} == told[
        "words"
    ]
    assert {"removed": [], "added": ["http://a.test/two"]} == told["links"]
    runs = [["kept", "Corals grow"], ["added", "very"], ["kept", "slowly in the"], ["added", "warm"], ["kept", "sea."]]
    assert {"row": 1, "state": "changed", "runs": runs} == told["rows"][0]
    assert ["changed", "added"] == [row["state"] for row in told["rows"]]


def test_changes_of_single_version_explain_why_there_are_none(tmp_path: Path, shown: Any) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(outcome="unchanged")
    path = crawl.done()
    assert "there is one version, of 1 January 2026, 00:00 UTC: nothing to compare it with" in shown(path)
    assert {"url": URL, "versions": 1} == json.loads(shown(path, json=True))


def test_options_for_lists_and_pages_conflict(reefs: Path, shown: Any) -> None:
    for url, given in ((URL, {"since": "2d"}), ("", {"from_": "1"})):
        with raises_input_error("conflicting-options", "cannot combine options"):
            changes(reefs, url, **given)


def test_changes_of_equal_versions(tmp_path: Path, shown: Any) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(VERSIONS[0].replace("<p>", "<p class=x>"))
    assert "a reader sees the same in both" in shown(crawl.done())


def test_changes_of_unknown_page_raises(reefs: Path) -> None:
    with raises_input_error(
        "unknown-page", r"http://a\.test/reefs was not visited .* similar visited URLs: http://a\.test/reef"
    ):
        changes(reefs, "http://a.test/reefs")


def test_changes_page_without_version_raises(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(outcome="timeout")
    with raises_input_error("no-version", r"http://a.test/reef has no stored version \(outcome timeout\)"):
        changes(crawl.done(), URL)


def test_changes_without_archived_text_raise(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit()
    crawl.log.append(Visit(URL, "revisit", "ok", 1, size=9, started=FIRST + 9 * DAY))
    with raises_input_error("missing-version", re.escape("version 2 of http://a.test/reef is missing in the archive")):
        changes(crawl.done(), URL)
    bare = Crawl(tmp_path / "bare", archive=False)
    bare.log.append(Visit(URL, "page", "ok", 1, size=9, started=FIRST))
    bare.log.append(Visit(URL, "revisit", "ok", 1, size=9, started=FIRST + DAY))
    with raises_input_error("no-archive", "the crawl was"):
        changes(bare.done(), URL)


def test_control_characters_are_removed(tmp_path: Path, shown: Any) -> None:
    evil = "a\x1b]0;owned\x07b\x9b31m\u202ec\u2066d\u200b"
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(page(evil, evil, links=(f"/{evil}",)), change=Change("changed", "text", 1.0, ["words"], [evil]))
    path = crawl.done()
    for columns in (0, 40, 120):
        told = shown(path, columns)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", told)


def test_long_comparison_is_cut_in_terminal(tmp_path: Path, shown: Any) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef"))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(600))))
    path = crawl.done()
    told = shown(path, 80)
    assert (500, 1) == (told.count("+ new line"), told.count("--all shows everything"))
    for told in (shown(path), shown(path, 80, whole=True)):
        assert (600, 0) == (told.count("+ new line"), told.count("--all shows everything"))


def test_comparison_of_maximum_length_is_not_cut(tmp_path: Path, shown: Any) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef"))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(500))))
    told = shown(crawl.done(), 80)
    assert (500, 0) == (told.count("+ new line"), told.count("--all"))


def test_hidden_changes_are_announced(tmp_path: Path, shown: Any) -> None:
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef", *LINES))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(498)), *LINES, "new line at the end"))
    told = shown(crawl.done(), 80)
    assert (498, 1) == (told.count("+ new line"), told.count("--all shows everything"))
