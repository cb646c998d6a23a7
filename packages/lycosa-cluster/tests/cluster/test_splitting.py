"""Merging and splitting of logs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from lycosa.core.options import Options
from lycosa.core.types import Setting, Terms, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa_cluster.running import ClusterCrawl
from lycosa_cluster.splitting import Merger, join, make_shards, previous_shard_count, shard_count, shard_path, split


def test_merge_new_marks_duplicates_across_shards(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(60)]

    def page(node: str, digest: int, at: float, new: list[str], simhash: int = 0b1111) -> Visit:
        terms = Terms(np.arange(60, dtype=np.uint32), np.ones(60, np.uint16), new)
        return Visit(node, "page", "ok", 1, size=9, digest=bytes([digest] * 32), simhash=simhash, terms=terms, ended=at)

    def merged(directory: Path, traps: bool, twice: int) -> dict[str, str]:
        log = SqliteLog(directory / NAME)
        merger = Merger(directory, log, 2, traps)
        merger.merge_new()
        assert merger.counted_twice() == Merger(directory, log, 2, traps).counted_twice() == (twice if traps else 0)
        copies = {visit.node: visit.same_as for visit in log.visits()}
        log.close()
        return copies

    for traps in (True, False):
        directory = tmp_path / str(traps)
        make_shards(directory, 2)
        for number in range(2):
            shard_path(directory, number).mkdir(parents=True, exist_ok=True)
        one, other = (SqliteLog(shard_path(directory, number) / NAME) for number in range(2))
        one.append(page("http://a.test/", 1, 1.0, words))
        other.append(page("http://b.test/", 1, 2.0, words[::-1]))
        assert merged(directory, traps, twice=0) == {
            "http://a.test/": "",
            "http://b.test/": "http://a.test/" if traps else "",
        }
        other.append(page("http://c.test/", 3, 3.0, [], 0b0111))
        # as its own shard recorded it
        other.append(replace(page("http://e.test/", 1, 3.5, []), same_as="http://b.test/"))
        one.append(page("http://d.test/", 4, 4.0, [], ~0b1111 & 2**64 - 1))
        one.append(Setting("threshold", 0.0))
        later = merged(directory, traps, twice=2)  # b and c; the shard of e knows that e is a copy
        assert (later["http://c.test/"], later["http://d.test/"]) == ("http://a.test/" if traps else "", "")
        assert later["http://e.test/"] == ("http://a.test/" if traps else "http://b.test/"), "not of what is a copy"
        with closing(SqliteLog(directory / NAME)) as log:  # the pages have lost their terms
            log._db.execute("UPDATE content SET terms = NULL")
        one.append(page("http://f.test/", 5, 5.0, [], 0b1111 << 20))
        merged(directory, traps, twice=2)
        with closing(SqliteLog(directory / NAME, readonly=True)) as log:
            known = [stem for visit in log.visits() for stem in visit.terms.new]
            last = next(log.visits("url = 'http://f.test/'"))
        assert [known[word] for word in last.terms.ids.tolist()] == words
        one.close()
        other.close()


def test_split_accepts_empty_crawl_and_interrupted_replacement(tmp_path: Path) -> None:
    log, running = SqliteLog(tmp_path / NAME), ClusterCrawl.__new__(ClusterCrawl)
    running.path, running.notes = tmp_path, []
    for shards in (2, 3, 2):
        running._distribute(log, shards, Options())
        assert shard_count(tmp_path) == shards
        split(tmp_path, log, 0, lambda node, depth: True, SqliteLog)
    (tmp_path / "shards").rename(tmp_path / "shards.new")
    (tmp_path / "shards.old" / "000").mkdir(parents=True)
    join(tmp_path)
    assert (shard_count(tmp_path), previous_shard_count(tmp_path), (tmp_path / "shards.old").exists()) == (0, 2, False)
