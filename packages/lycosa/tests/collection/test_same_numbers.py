"""Every reader of a crawl counts the same pages and the same relevant pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from every_count import every_count
from handmade import FRONT, crawl, html, look_again, redirect, star
from lycosa.collection.judging import judge

REEFS = {f"{FRONT}reef{n}": html(f"Reef {n}", f"coral polyps colony lagoon{n} " * 20) for n in range(5)}
TRAINS = {f"{FRONT}train{n}": html(f"Train {n}", f"rails engine station{n} " * 20) for n in range(4)}
COPY, MOVED, NEW = (f"{FRONT}{name}" for name in ("copy", "moved", "new"))


@pytest.mark.parametrize("judged_by", ["vector", "probability"])
def test_readers_count_alike(judged_by: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "crawl"
    pages = star(REEFS | TRAINS | {COPY: REEFS[f"{FRONT}reef1"], MOVED: html("Atoll", "coral atoll " * 20)})
    crawl(path, pages, judge=judged_by, budget=30)

    def check() -> tuple[int, int]:
        found = every_count(path)
        assert 1 == len(set(found.values())), found
        return found["show"]

    assert 12 == check()[0]
    command.out("label", path, "--yes", f"{FRONT}train1", "--no", f"{FRONT}reef1")
    before = check()
    judge(path, threshold=0.05, keep=True)
    assert before[1] <= check()[1]
    changed = {f"{FRONT}reef2": html("Shops", "shops and streets " * 20, (NEW, "new")), NEW: html("New", "coral " * 30)}
    changed |= {f"{FRONT}train2": html("Reef", "coral polyps and train " * 20), MOVED: redirect(NEW)}
    changed[COPY] = html("Own", "coral gardens of its own " * 20)
    look_again(path, {url: page for url, page in (pages | changed).items() if url != f"{FRONT}reef3"})
    assert 13 == check()[0]
    judge(path, "rails station", keep=True)
    check()
