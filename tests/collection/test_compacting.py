"""A compacted log is smaller, and the same crawl: what was learned, what is shown, what is fetched next."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import FRONT, crawl, html, star

from lycosa.collection.compacting import NEW, compact
from lycosa.collection.summary import summarise
from lycosa.core.errors import LockedError
from lycosa.core.state import Grown, Texts
from lycosa.core.types import Visit
from lycosa.explaining.reasons import recall, recalled
from lycosa.store import codec
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from revisited_crawl import Revisited
from revisited_crawl import html as plain

OUTSIDE = "".join(
    f'<p>Much is said around <a href="http://other{n}.test/coral">coral of others {n}</a> here.</p>' for n in range(9)
)
PAGES = {f"{FRONT}reef{n}": html(f"Reef {n}", f"coral polyps lagoon{n} {OUTSIDE}") for n in range(6)}


def scoped(directory: Path, **more: Any) -> Path:
    """A crawl of one host, whose pages lead to many others."""
    crawl(directory, star(PAGES), hosts=[FRONT.split("/")[2].split(":")[0]], budget=5, **more)
    return directory


def known(directory: Path) -> dict[str, Any]:
    """All that the crawl has learned, when its log is folded."""
    return _flat(recall(recalled(directory)).state())


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {key: item for inner, each in value.items() for key, item in _flat(each, f"{name}/{inner}").items()}
    if isinstance(value, Grown | Texts):
        value = value.encode(list(value.items))
    return {name: value.tolist() if isinstance(value, np.ndarray) else value}


def encoded(log: list[Any]) -> list[bytes]:
    return [codec.encode_visit(event) if isinstance(event, Visit) else codec.encode_other(event) for event in log]


def events(directory: Path) -> list[Any]:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        return list(log)


def test_a_compacted_crawl_goes_on_as_it_would_have(tmp_path: Path) -> None:
    """Words of links out of scope go, what was learned stays, to the last bit; a second time nothing goes."""
    made = scoped(tmp_path / "c", strategy="scent")
    before, learned, summary = events(made), known(made), summarise(made)
    done = compact(made)
    assert (len(before), True, 0) == (done.events, done.outside >= 9, done.repeated)
    assert done.after == (made / NAME).stat().st_size
    after = events(made)
    assert encoded(before) != encoded(after)
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Visit):
            assert isinstance(new, Visit)
            assert old.links.urls == new.links.urls
            inside = [at for at, url in enumerate(old.links.urls) if url.startswith(FRONT)]
            assert [old.links.contexts[at] for at in inside] == [new.links.contexts[at] for at in inside]
            assert not any(new.links.contexts[at] for at in range(len(new.links)) if at not in inside)
            assert codec.encode_visit(replace(old, links=new.links)) == codec.encode_visit(new)
        else:
            assert codec.encode_other(old) == codec.encode_other(new)
    assert learned == known(made)
    assert summary == summarise(made)
    again = compact(made)
    assert (0, 0, done.after) == (again.outside, again.repeated, again.after)


def test_later_versions_and_crawls_without_bounds(tmp_path: Path) -> None:
    """Words of links that an earlier version has go; without a scope, and with nothing to drop, all bytes stay."""
    crawl = Revisited(tmp_path / "c")
    links = [f"http://a.test/{n}" for n in range(3)]
    crawl.seed("http://a.test/")
    for day, targets in enumerate((links[:2], links)):
        visit = (
            crawl.page("http://a.test/", plain("A", "coral"), day, links=targets)
            if not day
            else crawl.changed("http://a.test/", plain("A", f"coral {day}"), day, links=targets)
        )
        assert len(visit.links) == len(targets)
    crawl.close()
    before = events(tmp_path / "c")
    done = compact(tmp_path / "c")
    after = events(tmp_path / "c")
    said = [len("".join(event.links.anchors)) for event in after if isinstance(event, Visit)]
    had = [len("".join(event.links.anchors)) for event in before if isinstance(event, Visit)]
    assert (0, sum(map(bool, had)) > 0 and done.repeated == 2) == (done.outside, sum(map(bool, had)) > 0)
    assert sum(said) <= sum(had)
    again = compact(tmp_path / "c")  # nothing is left to drop: the log stays the file that it is
    assert (again.after, again.outside, again.repeated) == (again.before, 0, 0)


def test_whoever_is_killed_has_the_old_log_or_the_new(tmp_path: Path) -> None:
    """At every step; what is left of it is cleared by the next, and nobody compacts beside a crawl that runs."""
    made = scoped(tmp_path / "c")
    before = events(made)
    program = (
        "import os, sys, pathlib\nfrom lycosa.collection import compacting as c\n"
        "die = lambda *_: os.kill(os.getpid(), 9)\n"
        "where = sys.argv[2]\n"
        "if where == 'reading': c.codec.encode_visit = die\n"
        "elif where == 'replacing': c.os.replace = die\n"
        "else: c._sync = die\n"
        "c.compact(pathlib.Path(sys.argv[1]))\n"
    )
    for where in ("reading", "replacing", "replaced"):
        ended = subprocess.run([sys.executable, "-c", program, str(made), where], check=False, timeout=120)
        assert -signal.SIGKILL == ended.returncode, where
        now = events(made)
        assert [type(event) for event in before] == [type(event) for event in now]
        assert (where == "replaced") == (encoded(before) != encoded(now)), where
        with closing(sqlite3.connect(made / NAME)) as db:
            assert [("ok",)] == db.execute("PRAGMA integrity_check").fetchall()
    compact(made)
    assert not os.path.exists(made / NEW)
    opened = Directory.open(made)
    with pytest.raises(LockedError):
        compact(made)
    opened.close()
