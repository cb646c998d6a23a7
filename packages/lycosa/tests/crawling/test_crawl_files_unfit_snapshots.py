"""Tests of snapshots that do not fit, so that the whole log is replayed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from input_errors import raises_input_error
from lycosa import browser
from lycosa.collection.judging import learn
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Label
from lycosa.crawling import Crawl
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.directory import CONFIG, Directory
from lycosa.store.log import VERSIONS, append_labels
from lycosa.store.snapshots import NAME, Snapshots
from lycosa.testweb import Server, Web, serve

LOCAL: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"], "concurrency": 1}
PAGES = 12


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(seed=7, pages=200, hosts=8, traps=()), record=False) as serving:
        yield serving


def missing(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Hide or show the browser."""
    monkeypatch.setattr(browser, "missing_requirements", lambda named="": what)
    monkeypatch.setattr(browser, "find_chromium", lambda named="": "/bin/false")


def with_snapshot(server: Server, out: Path, **more: Any) -> Path:
    crawl = lycosa.crawl(
        "coral reef", server.web.seeds("marine biology/coral reefs"), out=out, budget=PAGES, **LOCAL, **more
    )
    for visits, _ in enumerate(crawl, 1):
        if visits == PAGES:
            assert crawl._snapshots is not None
            assert crawl._snapshots.write(sure=True)
    return out


def resumed(out: Path) -> tuple[Crawl, list[str]]:
    crawl = lycosa.resume(out, budget=2 * PAGES)
    return crawl, [visit.node for visit in crawl]


def changed(state: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> None:
    for name in path[:-1]:
        state = state[name]
    if change is None:
        del state[path[-1]]
    else:
        state[path[-1]] = change(state.get(path[-1]))


def written_again(out: Path, path: tuple[str, ...], change: Callable[[Any], Any]) -> None:
    """Change a part of a snapshot, and update its digest."""
    about, state = Snapshots(out).read(lambda about: True) or ({}, {})
    changed(state, path, change)
    shutil.rmtree(out / NAME)
    Snapshots(out).write(about, state)


@pytest.mark.parametrize(("before", "after"), [("playwright", ""), ("", "playwright")], ids=["installed", "removed"])
def test_resume_after_browser_change_replays_log(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    missing(monkeypatch, before)
    out = with_snapshot(server, tmp_path / "crawl")
    missing(monkeypatch, after)
    crawl, picked = resumed(out)
    assert len(picked) >= PAGES
    assert ["a browser was installed or removed since the last run: the whole log was read again"] == crawl.notes


@pytest.mark.parametrize(
    ("path", "change"),
    [
        *(((("engine", name)), None) for name in ("table", "judge", "space", "strategy", "frontier", "model_updates")),
        (("engine", "table", "closed"), lambda value: None),
        (("engine", "table", "columns"), lambda value: {name: column[:-1] for name, column in value.items()}),
        (("engine", "space", "robots"), lambda value: ["{"]),
        (("engine", "space", "policies"), lambda value: 3),
        (("engine", "tally"), lambda value: {"pages": 3}),
        (("engine", "inbox"), lambda value: 5),
        (("engine", "keepsakes"), lambda value: {"of": "another version"}),
        (("files",), lambda value: {}),
        (("files", "archive"), lambda value: {"digests": np.zeros(3), "nodes": {}, "started": np.zeros(1)}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_resume_ignores_snapshot_of_other_settings(
    server: Server, crawled: Path, tmp_path: Path, path: tuple[str, ...], change: Callable[[Any], Any]
) -> None:
    out, bare = (shutil.copytree(crawled, tmp_path / name) for name in ("crawl", "bare"))
    shutil.rmtree(bare / NAME)
    written_again(out, path, change)
    crawl, picked = resumed(out)
    assert resumed(bare)[1] == picked
    assert ["does not match" in note and "the whole log was read again" in note for note in crawl.notes] == [True]


@pytest.fixture(scope="module")
def crawled(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_snapshot(server, tmp_path_factory.mktemp("unfit") / "crawl", render="never")


def test_learn_ignores_snapshot_of_other_settings(crawled: Path, tmp_path: Path) -> None:
    bare = shutil.copytree(crawled, tmp_path / "bare")
    shutil.rmtree(bare / NAME)
    out = shutil.copytree(crawled, tmp_path / "crawl")
    written_again(out, ("engine", "judge"), lambda value: {"of": "another version"})
    results = []
    for path in (out, bare):
        with closing(Directory.open(path)) as opened, closing(opened.log()) as log:
            append_labels(log, [Label(page, True, 1.0) for (page,) in list(log.rows("url", VERSIONS))])
            results.append(learn(opened, log, 1.0).after.description)
    assert results[0] == results[1]


@pytest.mark.parametrize("again", [lycosa.resume, lycosa.refresh, lycosa.watch])
def test_refused_commands_write_nothing(server: Server, crawled: Path, tmp_path: Path, again: Any) -> None:
    out = shutil.copytree(crawled, tmp_path / "crawl")
    config = (out / CONFIG).read_bytes()
    for bad in ({"budget": -3}, {"include": ["("]}, {"max_depth": 5, "headers": ["x"]}):
        with pytest.raises(InputError):
            list(again(out, **bad))
        assert config == (out / CONFIG).read_bytes()
    (out / "crawl.sqlite").write_bytes(b"no log at all")
    with pytest.raises(lycosa.LycosaError):
        list(again(out, max_depth=5))
    assert config == (out / CONFIG).read_bytes()


def test_refresh_of_other_space_writes_nothing(tmp_path: Path) -> None:
    graph, out = GraphSpace({"a": ["b"]}, relevance={"b": 1}), tmp_path / "crawl"
    list(lycosa.crawl(SpaceJudge(), ["a"], space=graph, strategy="breadth-first", out=out))
    config = (out / CONFIG).read_bytes()
    with raises_input_error("not-a-web-crawl", "not a crawl"):
        list(lycosa.refresh(out, topic=SpaceJudge(), space=graph, max_depth=5))
    assert config == (out / CONFIG).read_bytes()


def test_resume_with_unsuitable_objects_writes_nothing(tmp_path: Path) -> None:
    graph, out = GraphSpace({"a": ["b"]}, relevance={"b": 1}), tmp_path / "crawl"
    crawl = lycosa.crawl(SpaceJudge(), ["a"], space=graph, strategy="breadth-first", out=out)
    for _ in crawl:
        assert crawl._snapshots is not None
        assert crawl._snapshots.write(sure=True)
    written_again(out, ("engine", "tally"), None)
    config = (out / CONFIG).read_bytes()
    with raises_input_error("bad-snapshot", "does not match .*: remove that directory, then continue"):
        list(lycosa.resume(out, topic=SpaceJudge(), space=graph, budget=77))
    assert config == (out / CONFIG).read_bytes()
    shutil.rmtree(out / NAME)
    list(lycosa.resume(out, topic=SpaceJudge(), space=graph, budget=77))
    assert 77 == Options.load(out / CONFIG).budget
