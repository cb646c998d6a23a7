"""`page`, `show`, `search` and `export` of a crawl with revisited pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commands import Command, run
from lycosa.cli import page as command
from lycosa.cli.page import page
from lycosa.collection.counts import Outcome
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import gather
from lycosa.collection.summary import summarise
from lycosa.core.budget import NOTHING_DUE
from lycosa.core.errors import InputError
from lycosa.core.types import Setting
from lycosa.store.directory import Directory
from revisited_crawl import DAY, EPOCH, html, revisited

A, B, C = (f"http://a.test/{name}" for name in "abc")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl in which A changes once among many visits, B vanishes, C moves, and one visit fails."""
    path = tmp_path_factory.mktemp("versions") / "crawl"
    with revisited(path) as made:
        made.seed(A)
        made.page(A, html("Old", "An axolotl among corals."), links=[B, C], relevance=0.3)
        made.page(B, html("B", "A newt among corals."))
        made.page(C, html("C", "A toad among corals."))
        for day in range(1, 8):
            made.unmodified(A, day)
        made.changed(A, html("New", "A salamander among corals."), 8, links=[B])
        made.same(A, html("New", "A salamander among corals."), 9)
        made.failed(B, 9)
        made.gone(B, 10)
        made.moved(C, "http://b.test/c", 10)
        made.gone(B, 11)
    return path


@pytest.fixture(autouse=True)
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock to a day after the last visit."""
    monkeypatch.setattr(command, "time", SimpleNamespace(time=lambda: EPOCH + 12 * DAY))


def told(capsys: pytest.CaptureFixture[str], crawl: Path, url: str, **given: Any) -> dict[str, Any]:
    """Return the output of `page --json`."""
    options = {"links": True, "raw": False, "json": True, **given}
    page(crawl, url, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("given", "title", "links"),
    [
        ({}, "New", [B]),
        ({"version": "1"}, "Old", [B, C]),
        ({"version": "2"}, "New", [B]),
        ({"version": "-1"}, "New", [B]),
        ({"version": "-2"}, "Old", [B, C]),
        ({"version": "2026-01-08"}, "Old", [B, C]),
        ({"version": "2026-01-09"}, "New", [B]),  # the end of day 8
        ({"version": "2026-01-08 23:59"}, "Old", [B, C]),
        ({"version": "2026-01-09T01:00+02:00"}, "Old", [B, C]),
        ({"version": "3d"}, "New", [B]),
        ({"version": "5 days ago"}, "Old", [B, C]),
    ],
)
def test_page_shows_version_by_number_or_time(
    given: dict[str, Any], title: str, links: list[str], crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, crawl, A, **given)
    assert (title, links) == (found["title"], [link["url"] for link in found["links"]])
    assert ("salamander" in found["text"]) == (title == "New")
    assert (2, {"Old": 1, "New": 2}[title]) == (found["versions"], found["version"])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"version": "3"}, r"version 3 does not exist: there are 2"),
        ({"version": "-3"}, r"version -3 does not exist"),
        ({"version": "0"}, r"version 0 does not exist: there are 2"),
        ({"version": "2025-12-31"}, r"no version is as old as 2025-12-31: the first is of 1 January 2026"),
        ({"version": "soonish"}, r"--version 'soonish' is not a date or time"),
    ],
)
def test_page_missing_version_raises(given: dict[str, Any], why: str, crawl: Path) -> None:
    with pytest.raises(InputError, match=why):
        page(crawl, A, links=True, raw=False, json=False, **given)


def test_page_raw_and_xml_use_requested_version(
    crawl: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: Any
) -> None:
    assert 0 == run(monkeypatch, "page", str(crawl), A, "--version", "1", "--raw")
    assert html("Old", "An axolotl among corals.").encode() == capfdbinary.readouterr().out
    assert 0 == run(monkeypatch, "page", str(crawl), A, "--version", "2026-01-08", "--xml")
    out = capfdbinary.readouterr().out
    assert out.startswith(b"<?xml")
    assert b"<h1>Old</h1><p>An axolotl among corals.</p>" in out


def test_page_condenses_unchanged_visits(crawl: Path, command: Command) -> None:
    out = command.out("page", crawl, A, width=120)
    assert "unchanged since 2026-01-09 00:00:00; revisited 9 times, last 2026-01-10 00:00:00" in out
    assert "2026-01-02 00:00:00  to 2026-01-08 00:00:00  7 visits, unchanged\n" in out
    assert "version 2, text changed by 50%" in out
    assert "10 visits" in out
    out = command.out("page", crawl, B, width=120)
    assert "vanished since 2026-01-11 00:00:00" in out
    assert "newt among corals" in out
    out = command.out("page", crawl, C, width=40)
    assert "moved to   http://b.test/c\n" in out
    assert max(len(line) for line in out.splitlines() if "://" not in line) <= 40


def test_page_links_show_state_of_target(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, crawl, A, version="1")
    assert {B: "vanished", C: "moved"} == {link["url"]: link["state"] for link in found["links"]}


def test_show_counts_revisits_separately(crawl: Path, command: Command) -> None:
    summary = summarise(crawl)
    assert (3, 3, [Outcome("page", "ok", 3)]) == (summary.pages, summary.relevant, summary.outcomes)
    again = summary.revisits
    assert (13, {"changed": 1, "vanished": 1, "moved": 1}) == (again.count, dict(again.changes))
    assert {"unchanged": 8, "gone": 2, "ok": 1, "redirect": 1, "timeout": 1} == dict(again.outcomes)
    assert {"timeout": f"no answer {B}"} == again.reasons
    assert "New" in {find["title"] for find in summary.best}
    assert "Old" not in {find["title"] for find in summary.best}
    last = "13 revisits: 1 changed, 1 vanished, 1 moved; the last 2026-01-12 00:00 UTC"
    shown = command.out("show", crawl, width=100)
    assert last in shown
    assert "by 16 requests: 3 pages, 13 revisits" in shown
    with CrawlDirectory(crawl) as collection:
        assert 16 == summary.requests == gather(collection).requests
    lines = command.out("show", crawl, width=40).splitlines()
    narrow = [line for line in lines if "://" not in line and str(crawl) not in line]
    assert max(map(len, narrow)) <= 40


def test_show_suggests_another_refresh(tmp_path: Path, command: Command) -> None:
    with revisited(tmp_path / "crawl") as made:
        made.page(A, html("A", "Corals."))
        made.unmodified(A, 1)
        made.log.append(Setting("end", {"reason": NOTHING_DUE}, EPOCH + DAY))
    out = command.out("show", tmp_path / "crawl")
    assert f"revisit with: lycosa refresh {tmp_path / 'crawl'}\n" in out
    assert "resume" not in out


def test_show_omits_budget_if_exceeded(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "crawl"
    with revisited(path) as made:
        made.page(A, html("A", "Corals."))
        made.page(B, html("B", "Newts."))
    (path / "crawl.toml").write_text(replace(Directory.read_options(path), budget=1).to_toml())
    assert "2 pages by 2 requests\n" in command.out("show", path)


def test_search_changed_lists_changed_pages(crawl: Path, command: Command) -> None:
    assert [A] == [hit["url"] for hit in command.json("search", crawl, "corals", "--changed", "ever")["hits"]]
    assert [] == command.json("search", crawl, "corals", "--changed", "2026-01-10")["hits"]
    assert "vanished since 2026-01-11: this is its last version" in command.out("search", crawl, "newt", width=80)


def test_export_counts_versions(crawl: Path, tmp_path: Path, command: Command) -> None:
    assert "a.csv: 4 versions" in command("export", crawl, "--out", tmp_path / "a.csv", "--versions", "all").err
    assert "b.csv: 3 pages" in command("export", crawl, "--out", tmp_path / "b.csv").err
    err = command("export", crawl, "--out", tmp_path / "c.warc.gz").err
    assert "4 versions, " in err
    assert "; and 8 revisits without changes." in err
