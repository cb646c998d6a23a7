"""`lycosa changes DIR URL`: which versions, and how they are shown, of a page whose visits are written by hand."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

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
"""The beginning of 2026, UTC."""


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
    """A crawl's directory, visit by visit."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.directory = Directory.create(path, Options(topic="coral", **options))
        self.log = self.directory.log()
        self.archive = self.directory.archive(self.log, "test", 10**9)
        self.times = 0

    def visit(
        self, body: str = "", *, outcome: Any = "ok", change: Change | None = None, kind: Any = "", **more: Any
    ) -> None:
        """A visit a day after the one before it."""
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
    """Three versions, with a look between the second and the third that found nothing new."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(VERSIONS[1], change=CHANGE)
    crawl.visit(outcome="unchanged")
    crawl.visit(VERSIONS[2], change=Change("changed", "link", 0.5))
    return crawl.done()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command in a terminal of so many columns; 0 for a pipe."""

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
def test_the_last_two_versions_are_compared_unless_others_are_named(reefs: Path, shown: Any) -> None:
    """Without --from and --to, the last step is shown: here another title, a line, and a link less."""
    told = shown(reefs)
    assert "from  version 2 of 3, 2 January 2026, 00:00 UTC" in told
    assert "to    version 3 of 3, 4 January 2026, 00:00 UTC" in told
    assert "title [-Reef-] {+Reefs+}" in told
    assert "links +0 -1" in told
    assert "- http://a.test/one" in told


def test_words_added_and_removed_have_marks_where_there_are_no_colours(reefs: Path, shown: Any) -> None:
    """In a pipe, a changed line holds {+added+} words, and what is far from any change is one line."""
    told = shown(reefs, from_="1", to="2")
    assert "~ Corals grow {+very+} slowly in the {+warm+} sea.\n" in told
    assert "recorded: text ▌ 12 %; words: 2 words are others" in told
    assert "  ... 28 unchanged lines\n" in told  # 30, less the 2 next to the change; links are not of the main part
    assert "\x1b" not in told


def test_all_lines_are_shown_on_demand(reefs: Path, shown: Any) -> None:
    """With --all nothing is folded."""
    told = shown(reefs, from_="1", to="2", whole=True)
    assert 30 == sum(f"Line number {number} tells of corals." in told for number in range(30))
    assert "unchanged" not in told


def test_colours_take_the_place_of_marks(reefs: Path, shown: Any) -> None:
    """Where there are colours, added words are green and bear no marks."""
    told = shown(reefs, 80, True, from_="1", to="2")
    assert "\x1b[32mvery\x1b[0m" in told
    assert "{+" not in told


@pytest.mark.parametrize("columns", [40, 100, 120])
def test_nothing_overruns_the_terminal(reefs: Path, shown: Any, columns: int) -> None:
    """Every line but an address fits, wide characters included."""
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
        ("2026-01-01", "2026-01-03", (1, 2)),  # versions came on the 1st, the 2nd and the 4th
        ("2026-01-01T12:00", "3d", (1, 2)),  # three days before the 6th, when it is asked
        ("3", "1", (3, 1)),
    ],
)
def test_versions_are_chosen_by_number_or_time(
    reefs: Path, shown: Any, from_: str, to: str, pair: tuple[int, int]
) -> None:
    """1 is the first and -1 the last; a time means what stood then, a day what stood at its end."""
    told = json.loads(shown(reefs, from_=from_, to=to, json=True))
    assert pair == (told["from"]["number"], told["to"]["number"])


@pytest.mark.parametrize(
    ("from_", "to", "says"),
    [
        ("4", "", "there is no version 4: there are 3"),
        ("0", "", "there is no version 0: there are 3"),
        ("3", "", "--from and --to both mean version 3 of 3"),
        ("", "1", "version 1 has no earlier version"),
        ("2025-12-31", "", "no version is as old as 2025-12-31: the first is of 1 January 2026, 00:00 UTC"),
        ("soon", "", "--from 'soon' is not a date or time"),
    ],
)
def test_what_does_not_exist_is_refused(reefs: Path, from_: str, to: str, says: str) -> None:
    """A version that is not there, or the same one twice, is an error that says what there is."""
    with pytest.raises(InputError, match=re.escape(says)):
        changes(reefs, URL, from_=from_, to=to)


def test_a_recorded_change_is_told_of_its_own_step_only(reefs: Path, shown: Any) -> None:
    """Between versions 1 and 3 lies more than what the last revisit recorded."""
    assert "recorded: link " in shown(reefs)
    assert "recorded" not in shown(reefs, from_="1")
    assert "changed: link, magnitude 0.5" == json.loads(shown(reefs, json=True))["says"]
    assert "" == json.loads(shown(reefs, json=True, from_="1"))["says"]


def test_machines_get_the_rows_that_differ(reefs: Path, shown: Any) -> None:
    """--json: words counted, links, and each row that differs as runs."""
    told = json.loads(shown(reefs, from_="1", to="2", json=True, whole_text=True))
    assert {"from": 6 + 180 + 1, "to": 8 + 180 + 2, "removed": 0, "added": 3, "moved": 0, "share": 0.008} == told[
        "words"
    ]
    assert {"removed": [], "added": ["http://a.test/two"]} == told["links"]
    runs = [["kept", "Corals grow"], ["added", "very"], ["kept", "slowly in the"], ["added", "warm"], ["kept", "sea."]]
    assert {"row": 1, "state": "changed", "runs": runs} == told["rows"][0]
    assert ["changed", "added"] == [row["state"] for row in told["rows"]]


def test_a_single_version_is_no_error(tmp_path: Path, shown: Any) -> None:
    """A page that never changed has nothing to compare."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(outcome="unchanged")
    path = crawl.done()
    assert "there is one version, of 1 January 2026, 00:00 UTC: nothing to compare it with" in shown(path)
    assert {"url": URL, "versions": 1} == json.loads(shown(path, json=True))


def test_options_of_lists_and_pages_are_kept_apart(reefs: Path, shown: Any) -> None:
    """An option for lists with a URL, or one for a page without, is refused."""
    for url, given in ((URL, {"since": "2d"}), ("", {"from_": "1"})):
        with pytest.raises(InputError, match="some options list changes, others are for one page"):
            changes(reefs, url, **given)


def test_equal_versions_say_so(tmp_path: Path, shown: Any) -> None:
    """Where only the markup changed, a reader sees the same."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(VERSIONS[0].replace("<p>", "<p class=x>"))
    assert "a reader sees the same in both" in shown(crawl.done())


def test_an_unknown_page_is_refused_as_lycosa_page_does(reefs: Path) -> None:
    """An address that was not visited: which ones are near."""
    with pytest.raises(
        InputError, match=r"http://a\.test/reefs was not visited .* The nearest that was: http://a\.test/reef"
    ):
        changes(reefs, "http://a.test/reefs")


def test_a_page_without_a_version_is_refused(tmp_path: Path) -> None:
    """A page that could never be had."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(outcome="timeout")
    with pytest.raises(InputError, match=r"no version of http://a.test/reef: its visit brought none \(timeout\)"):
        changes(crawl.done(), URL)


def test_without_an_archive_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A crawl that keeps no bodies says so; one that lost them names the version that is missing."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit()
    crawl.log.append(Visit(URL, "revisit", "ok", 1, size=9, started=FIRST + 9 * DAY))
    with pytest.raises(InputError, match=re.escape("version 2 of http://a.test/reef is missing in the archive")):
        changes(crawl.done(), URL)
    bare = Crawl(tmp_path / "bare", archive=False)
    bare.log.append(Visit(URL, "page", "ok", 1, size=9, started=FIRST))
    bare.log.append(Visit(URL, "revisit", "ok", 1, size=9, started=FIRST + DAY))
    with pytest.raises(InputError, match="the crawl was run without an archive"):
        changes(bare.done(), URL)


def test_hostile_text_reaches_no_terminal(tmp_path: Path, shown: Any) -> None:
    """Escapes, bells, and marks that turn the text around are gone, in titles, texts and links."""
    evil = "a\x1b]0;owned\x07b\x9b31m\u202ec\u2066d\u200b"
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(VERSIONS[0])
    crawl.visit(page(evil, evil, links=(f"/{evil}",)), change=Change("changed", "text", 1.0, ["words"], [evil]))
    path = crawl.done()
    for columns in (0, 40, 120):
        told = shown(path, columns)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", told)


def test_a_terminal_is_not_flooded(tmp_path: Path, shown: Any) -> None:
    """Of 600 new lines a terminal shows 500 and says how to see the rest; a pipe gets all, and so does --all."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef"))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(600))))
    path = crawl.done()
    told = shown(path, 80)
    assert (500, 1) == (told.count("+ new line"), told.count("--all shows everything"))
    for told in (shown(path), shown(path, 80, whole=True)):
        assert (600, 0) == (told.count("+ new line"), told.count("--all shows everything"))


def test_exactly_as_many_lines_as_are_shown_need_no_hint(tmp_path: Path, shown: Any) -> None:
    """500 new lines are all there is."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef"))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(500))))
    told = shown(crawl.done(), 80)
    assert (500, 0) == (told.count("+ new line"), told.count("--all"))


def test_changes_behind_a_fold_are_not_passed_over_in_silence(tmp_path: Path, shown: Any) -> None:
    """498 new lines and two of context fill the terminal; behind unchanged lines there is another new one."""
    crawl = Crawl(tmp_path / "crawl")
    crawl.visit(page("Reef", *LINES))
    crawl.visit(page("Reef", *(f"new line {number}" for number in range(498)), *LINES, "new line at the end"))
    told = shown(crawl.done(), 80)
    assert (498, 1) == (told.count("+ new line"), told.count("--all shows everything"))
