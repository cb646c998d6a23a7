"""Tests of crawl.log."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas
import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.core.options import Options
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.crawling.crawl_log import CrawlLog, format_line, parse_line
from lycosa.store.log import SqliteLog
from lycosa.testweb import Web, serve

TOPIC = "marine biology/coral reefs"
COLUMNS = ["at", "status", "size", "url", "path", "via", "type", "thread", "began", "digest", "seed", "annotations"]


def crawled(out: Path, **options: Any) -> list[Visit]:
    """Crawl the embedded web, with redirects and dead links; return the visits in its log."""
    with serve(Web(pages=500, traps=("redirects", "dead")), record=False) as server:
        fast = {
            "delay": 0.0,
            "per_host": 4,
            "allow_network": ["127.0.0.0/8"],
            "strategy": "breadth-first",
            "judge": "vector",
        }
        for _ in lycosa.crawl(server.web.query(TOPIC), server.web.seeds(TOPIC), out=out, **fast, **options):
            pass
    return visits_in(out)


def visits_in(out: Path) -> list[Visit]:
    with closing(SqliteLog(out / "crawl.sqlite", readonly=True)) as log:
        return list(log.visits())


def events_in(*files: Path) -> list[tuple[int, str]]:
    return [parse_line(line) for file in files for line in file.read_bytes().splitlines(keepends=True)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crawl") / "reefs"
    crawled(out, budget=150)
    return out


def test_columns_are_read_by_other_tools(made: Path) -> None:
    file, visits = made / "crawl.log", visits_in(made)
    table = pandas.read_csv(file, sep=r"\s+", names=COLUMNS, header=None)
    assert len(visits) == len(table)
    assert [visit.node for visit in visits] == table["url"].tolist()
    assert [visit.status or -9998 for visit in visits] == table["status"].tolist()
    assert [visit.size for visit in visits] == table["size"].tolist()
    assert [visit.data.get("type", "unknown") for visit in visits] == table["type"].tolist()
    assert pandas.to_datetime(table["at"]).notna().all()
    assert table["began"].str.fullmatch(r"\d{17}\+\d+").all()
    assert table["digest"].str.fullmatch("sha256:[A-Z2-7]{52}====").all()
    assert set(table["seed"]) <= set(table["url"][table["path"] == "-"])
    robots = table[table["url"].str.endswith("/robots.txt")]
    assert robots["path"].str.endswith("P").all()
    path_of = dict(zip(table["url"], table["path"].str.strip("-"), strict=True))
    for via, path in zip(table["via"], table["path"], strict=True):
        assert path == "-" or path == path_of[via] + path[-1]
    assert {"L", "P", "X"} <= {path[-1] for path in table["path"]}
    answered = subprocess.run(
        ["awk", "$2 == 404 && NF == 12 { n++ } END { print n + 0 }", file], capture_output=True, text=True, check=True
    )
    assert sum(visit.status == 404 for visit in visits) == int(answered.stdout) > 0


def test_discovery_paths_are_written(tmp_path: Path) -> None:
    table = Table()
    table.add_seed("s")
    for source, target, outcome in [("s", "a", "ok"), ("a", "b", "redirect"), ("b", "c", "ok")]:
        table.absorb(Visit(source, "page", outcome, 1, links=Links.to(target)))  # type: ignore[arg-type]
    table.add_seed("map", source=True)
    table.absorb(Visit("map", "sitemap", "ok", 1, links=Links.to("named")))
    nodes = ["c", *(f"n{number}" for number in range(60))]
    for source, target in pairwise(nodes):
        table.absorb(Visit(source, "page", "ok", 1, links=Links.to(target)))
    with closing(SqliteLog(tmp_path / "crawl.sqlite")) as log:
        made = CrawlLog(Options(), tmp_path, log, table)
        made.open()
        made._write(1, Visit("a", "redirect", "redirect", 1, links=Links.to("b")))
        found = {node: made._discovery(Visit(node, "page", "ok", 1)) for node in ("s", "b", "c", "named", "n59")}
        found["robots"] = made._discovery(Visit("x/robots.txt", "robots", "ok", 1, origin="c"))
        made.close()
    assert found == {
        "s": ("", "", "s"), "b": ("LR", "a", "s"), "c": ("LRL", "b", "s"), "named": ("M", "map", "map"),
        "n59": ("13+" + "L" * 50, "n58", "s"), "robots": ("LRLP", "c", "s"),
    }  # fmt: skip


def test_resume_writes_missing_lines(made: Path, tmp_path: Path) -> None:
    whole = events_in(made / "crawl.log")
    lines = (made / "crawl.log").read_bytes().splitlines(keepends=True)
    stranger = b'127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326\n'
    cases: dict[str, bytes | None] = {
        "as it was": b"".join(lines),
        "some are missing": b"".join(lines[:-9]),
        "torn": b"".join(lines[:-9]) + lines[-9][:70],
        "one line, torn": lines[0][:40],
        "gone": None,
        "beyond the log": b"".join(lines) + lines[-1].replace(b"event:", b"event:9"),
        "of something else": stranger,
    }
    for name, content in cases.items():
        copy = tmp_path / name
        shutil.copytree(made, copy)
        (copy / "crawl.log").unlink()
        if content is not None:
            (copy / "crawl.log").write_bytes(content)
        for _ in lycosa.resume(copy):
            pass
        assert whole == events_in(copy / "crawl.log"), name
        kept = [path.read_bytes() for path in copy.glob("crawl.log.*")]
        assert ([stranger] if content == stranger else []) == kept, name


def test_unwritable_file_raises_and_unusual_urls_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises_input_error("unwritable-file", "cannot write .*log.file"):
        crawled(tmp_path / "b", log_file=str(tmp_path / "file" / "x.log"), budget=2)
    odd = Visit("tag:a b\nc", "page", "timeout", 1, started=1.0, ended=2.0, flags=["a b,c"], attempt=2)
    line = format_line(7, odd, "", "", "")
    assert (1, 12, (7, "tag:a%20b%0Ac")) == (line.count(b"\n"), len(line.split()), parse_line(line))
    assert line.endswith(b"event:7,page,timeout,2t,a-b-c\n")
