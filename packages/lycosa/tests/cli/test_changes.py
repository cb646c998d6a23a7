"""`lycosa changes`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as Tree

import pytest

from input_errors import raises_input_error
from lycosa.cli import changes as command
from lycosa.cli.changes import MARK, changes
from lycosa.cli.parameters import parse_time
from lycosa.core.errors import StoreError
from lycosa.core.options import Options
from lycosa.core.types import Setting
from lycosa.revisit.change import Change
from lycosa.store.log import NAME, SqliteLog
from made_changes import COSMETIC, HOUR, MOVED, REEF, START, VANISHED, look, make_log, page, text

NOW = START + 10 * HOUR
SHELLS = "http://shells.example/"
LONG = "http://www.reef.example/a/rather/long/path/that/does/not/fit/into/any/terminal/of/forty/columns/at/all"
TOPIC = Change(
    "changed", "topic", 0.6, ["relevance", "simhash"], ["it left the topic: .62, then .04", "31 of 64 bits are others"]
)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Write a crawl with one change of most kinds."""
    (tmp_path / "crawl.toml").write_text(Options(topic="coral reefs").to_toml())
    log = make_log(
        tmp_path,
        page(),
        page(SHELLS, title="Shells", relevance=0.05),
        Setting("threshold", 0.4, START),
        look(text()),
        look(COSMETIC, SHELLS, title="Shells", relevance=0.05),
        look(at=START + 2 * HOUR),
        look(TOPIC, LONG, at=START + 3 * HOUR, title="A title with \x1b[31m many words " * 5, relevance=0.04),
        look(MOVED, SHELLS, outcome="redirect", at=START + 4 * HOUR, title="", relevance=0.0),
        look(VANISHED, outcome="gone", at=START + 5 * HOUR, title="404", relevance=0.0),
    )
    log.close()
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], directory: Path, **asked: Any) -> str:
    changes(directory, **asked)
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "time", SimpleNamespace(time=lambda: NOW))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def test_changes_lists_page_kind_and_count(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, crawl).split("\n")
    assert [
        "2023-11-14 23:13  changed  text      █     25 %  Coral reefs",
        f"                  {REEF}",
        "                  main-text: 12 of 48 words are others",
    ] == lines[:3]
    assert [
        f"2023-11-15 02:13  moved    {'':<21} Shells",
        f"                  {SHELLS}",
        f"{'':<18}to {MOVED.target}",
    ] == (lines[6:9])
    assert [
        f"2023-11-15 03:13  vanished {'':<21} Coral reefs",
        f"                  {REEF}",
        "                  404 Not Found",
        "",
        "2 changed, 1 vanished, 1 moved; 1 cosmetic only (--cosmetic shows them); 1 revisit without changes.",
        "",
    ] == lines[9:]


@pytest.mark.parametrize("columns", [40, 60, 100])
@pytest.mark.parametrize("explain", [False, True])
def test_changes_fits_terminal_and_hides_control_characters(
    columns: int, explain: bool, crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = said(capsys, crawl, cosmetic=True, explain=explain)
    assert [] == [line for line in out.split("\n") if len(line) > columns and "://" not in line]
    assert LONG in out
    assert "\x1b" not in out
    assert "Coral reefs" in out


def test_changes_explain_shows_detectors(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, crawl, explain=True, what=["topic"])
    for line in (
        "relevance: it left the topic: .62, then .04",
        "simhash: 31 of 64 bits are others",
        "relevance 0.00 before, 0.04 now",
        "the previous version is from 2023-11-14 22:13 UTC",
    ):
        assert f"{'':<18}{line}\n" in out


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["changed", "changed", "moved", "vanished"]),
        ({"what": ["vanished,moved"]}, ["moved", "vanished"]),
        ({"what": ["vanished", "moved"]}, ["moved", "vanished"]),
        ({"what": ["text"]}, ["changed"]),
        ({"what": ["cosmetic"]}, ["changed"]),
        ({"what": ["text", "vanished"]}, ["changed", "vanished"]),
        ({"at_least": 0.5}, ["changed", "moved", "vanished"]),
        ({"host": "shells.example"}, ["moved"]),
        ({"cosmetic": True}, ["changed", "changed", "changed", "moved", "vanished"]),
        ({"relevant": True}, ["changed", "vanished"]),
        ({"since": "7 hours ago"}, ["changed", "moved", "vanished"]),
        ({"since": "2023-11-15 02:13:20"}, ["moved", "vanished"]),
    ],
)
def test_changes_filters_by_kind_and_url(
    asked: dict[str, Any], expected: list[str], crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(said(capsys, crawl, json=True, **asked))
    assert expected == [change["what"] for change in told["changes"]]
    assert len(expected) == sum(told["counts"].values())
    assert str(crawl) == told["directory"]
    assert 10 == told["last_event"]
    assert (0 if "since" in asked else 1) == told["unchanged"]


def test_changes_since_last_lists_new_changes_only(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "2 changed, 1 vanished, 1 moved" in said(capsys, crawl, since="last")
    said(capsys, crawl, json=True)
    log = SqliteLog(crawl / NAME)
    log.append(look(Change("returned"), at=START + 6 * HOUR))
    log.close()
    out = said(capsys, crawl, since="last")
    assert out.endswith("\n1 returned since 2023-11-15 08:13 UTC.\n")
    assert "vanished" not in out
    assert said(capsys, crawl, since="LAST").startswith("Nothing changed since 2023-11-15 08:13 UTC.\n")


def test_changes_since_last_rejects_invalid_position_file(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (crawl / MARK).write_text("{}")
    with pytest.raises(StoreError, match="delete it"):
        changes(crawl, since="last")
    (crawl / MARK).write_text('{"seq": 1000, "at": 1}')
    assert "1 moved" in said(capsys, crawl, since="last")
    (crawl / MARK).unlink()
    (crawl / MARK).mkdir()
    with pytest.raises(StoreError, match=MARK):
        changes(crawl, since="last")


@pytest.mark.parametrize(
    "mark",
    ['{"seq": 1e400, "at": 3}', '{"seq": 3, "at": 1e300}', '{"seq": 3, "at": NaN}', '{"seq": 3, "at": -1e18}', "[]"],
)
def test_changes_since_last_rejects_position_out_of_range(crawl: Path, mark: str) -> None:
    (crawl / MARK).write_text(mark)
    with pytest.raises(StoreError, match="delete it"):
        changes(crawl, since="last")


def test_changes_without_match_prints_advice(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, crawl, host="other.example").startswith("No matching change; ")


def test_changes_since_now_prints_last_revisit(crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "Nothing changed since 2023-11-15 08:13 UTC.\n"
        "The last revisit was on 2023-11-15 03:13 UTC.\n"
        f"Revisit with: lycosa refresh {crawl}\n"
    ) == said(capsys, crawl, since="now")
    (crawl / NAME).unlink()
    log = make_log(crawl, page())
    log.close()
    assert "No page has been revisited yet; the crawl's last visit was on 2023-11-14 22:13" in said(capsys, crawl)
    (crawl / NAME).unlink()
    with raises_input_error("not-a-crawl", "lycosa resume"):
        changes(crawl)


def test_changes_writes_atom_file(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, crawl, what=["moved", "vanished"], atom=crawl / "my.atom")
    assert f"{crawl / 'my.atom'}: 2 changes\n" == out
    feed = Tree.parse(crawl / "my.atom").getroot()
    assert ["vanished", "moved"] == [found.get("term") for found in feed.findall("{*}entry/{*}category")]
    assert "Changes: coral reefs" == feed.findtext("{*}title")
    with pytest.raises(StoreError, match="choose another file"):
        changes(crawl, atom=crawl)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("2023-11-15", START - 22 * HOUR - 800 + 24 * HOUR),  # START is at 22:13:20
        ("2023-11-14T23:13:20+01:00", START),
        ("2023-11-14T22:13:20Z", START),
        ("today", START - 22 * HOUR - 800 + 24 * HOUR),
        ("Yesterday", START - 22 * HOUR - 800),
        ("90m", NOW - 5_400),
        ("1 day ago", NOW - 24 * HOUR),
        ("1d 2h", NOW - 26 * HOUR),
    ],
)
def test_parse_time_returns_seconds_since_epoch(told: str, expected: float) -> None:
    assert expected == parse_time(told, NOW)


@pytest.mark.parametrize("told", ["", "2023", "2023-13-01", "-1d", "soon", "1 fortnight", "9" * 400 + "d", "12"])
def test_parse_time_rejects_invalid_times(told: str) -> None:
    with raises_input_error("bad-time", "is not a"):
        parse_time(told, NOW)
