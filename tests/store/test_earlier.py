"""Earlier crawls: what they hold is not archived again, and is read from them."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

import lycosa
from lycosa.cli.refresh import _chosen
from lycosa.collection.export import export
from lycosa.collection.reading import Collection
from lycosa.collection.searching import Search
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.replay.recording import Recording
from lycosa.replay.records import Damaged
from lycosa.store import cdxj
from lycosa.testing import Server, Web, serve

TOPIC = "marine biology/coral reefs"


def crawled(server: Server, out: Path, budget: int = 60, **options: Any) -> Path:
    """A crawl of the embedded web."""
    fast = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"], "strategy": "breadth-first"}
    for _ in lycosa.crawl(server.web.query(TOPIC), server.web.seeds(TOPIC), out=out, budget=budget, **fast, **options):
        pass
    return out


def size_of(crawl: Path) -> int:
    """Bytes of its WARC files."""
    return sum(file.stat().st_size for file in (crawl / "archive").glob("*.warc.gz"))


def bodies(crawl: Path) -> dict[str, bytes]:
    """The pages as they can be read."""
    with Collection(crawl) as collection:
        found = {}
        for visit in collection.log.visits("kind = 'page' AND outcome = 'ok'"):
            exchange = collection.exchange(visit)
            assert exchange is not None
            assert hashlib.sha256(exchange.body).digest() == visit.digest
            found[visit.node] = exchange.body
        return found


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first crawl; a second that goes by it, a third that goes by the second; one that goes by an index only."""
    place = tmp_path_factory.mktemp("crawls")
    with serve(Web(pages=500), record=False) as server:
        crawled(server, place / "first", budget=120, rotate=100_000)
        next((place / "first" / "archive").glob("*.cdxj")).unlink()  # it is made again
        crawled(server, place / "second", budget=120, dedupe=[str(place / "first")])
        crawled(server, place / "third", budget=40, dedupe=[str(place / "second")])
        export(place / "first", place / "first" / "all.cdxj", everything=True, copies=True)
        crawled(server, place / "indexed", budget=40, dedupe=[str(place / "first" / "all.cdxj")])
    return place


def test_a_second_crawl_costs_little(crawls: Path) -> None:
    """Its records refer to those of the first one, by address and date; warcio finds all digests right."""
    originals = {}
    for file in (crawls / "first" / "archive").glob("*.warc.gz"):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    headers = record.rec_headers
                    found = (headers["WARC-Target-URI"], headers["WARC-Date"])
                    originals[found] = headers["WARC-Payload-Digest"]
    for name in ("second", "third", "indexed"):
        kinds: dict[str, int] = {}
        for file in (crawls / name / "archive").glob("*.warc.gz"):
            with open(file, "rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.raw_stream.read()
                    headers = record.rec_headers
                    kinds[record.rec_type] = kinds.get(record.rec_type, 0) + 1
                    if record.rec_type == "revisit":
                        refers = (headers["WARC-Refers-To-Target-URI"], headers["WARC-Refers-To-Date"])
                        assert originals[refers] == headers["WARC-Payload-Digest"]
                        assert headers["WARC-Profile"].endswith("/identical-payload-digest")
        assert kinds["revisit"] > 40
        assert kinds.get("response", 0) < 5
    # About .13; up to four pages that the first one has not fetched may be among them, whichever came first.
    assert size_of(crawls / "second") < 0.2 * size_of(crawls / "first")


def test_indexes_by_the_rules_of_outbackcdx(crawls: Path) -> None:
    """It takes three fields, a date of 14 digits, and JSON with these names only, whose numbers may be texts."""
    known = {"url", "mime", "status", "digest", "length", "offset", "filename"}
    lines = [line for index in crawls.glob("*/archive/*.cdxj") for line in index.read_text("ascii").splitlines()]
    assert len(lines) > 300
    for line in lines:
        key, date, told = line.split(" ", 2)
        fields = json.loads(told)
        assert set(fields) <= known
        assert (14, True) == (len(date), date.isdigit() and ")/" in key)
        assert all(isinstance(value, str) for value in fields.values())
        assert min(int(fields["offset"]), int(fields["length"]), int(fields.get("status", 0))) >= 0


def test_pages_are_read_from_where_they_lie(crawls: Path, tmp_path: Path) -> None:
    """Texts, searches, exports and the replay of a later crawl have the bodies of the first one."""
    first = bodies(crawls / "first")
    for name in ("second", "third", "indexed"):
        later = bodies(crawls / name)
        assert all(later.values())
        shared = first.keys() & later.keys()
        assert len(shared) > 30
        assert sum(first[url] != later[url] for url in shared) < 3  # a page of this web is another at each request
    done = export(crawls / "third", tmp_path / "p.jsonl", everything=True)
    assert all(json.loads(line)["text"] for line in (tmp_path / "p.jsonl").read_text().splitlines())
    assert done.pages == export(crawls / "third", tmp_path / "p.warc.gz", everything=True).pages
    with open(tmp_path / "p.warc.gz", "rb") as stream:
        assert "revisit" not in {record.rec_type for record in ArchiveIterator(stream)}
    with Recording([crawls / "third"]) as recording:
        third = bodies(crawls / "third")
        for url in sorted(third)[:10]:
            answer = recording.find(url)
            assert answer is not None
            assert third[url] == answer.body


def test_an_archive_that_is_gone(crawls: Path, tmp_path: Path) -> None:
    """What can't be read is said to lie in the earlier crawl's archive; what the log knows is still there."""
    for name in ("first", "second"):
        shutil.copytree(crawls / name, tmp_path / name)
    config = tmp_path / "second" / "crawl.toml"
    config.write_text(config.read_text().replace(str(crawls / "first"), str(tmp_path / "first")))
    assert all(bodies(tmp_path / "second").values())
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(StoreError, match=r"lies in the archive of an earlier crawl .*first.* bring that archive back"):
        bodies(tmp_path / "second")
    with pytest.raises(StoreError, match="bring that archive back"):
        export(tmp_path / "second", tmp_path / "p.wacz", everything=True)
    with Collection(tmp_path / "second") as collection, Search(collection) as search:
        assert search.find("reefs").unread > 0
    with Recording([tmp_path / "second"]) as recording, pytest.raises(Damaged, match="of an earlier crawl"):
        recording.find(next(iter(bodies(crawls / "second"))))
    with serve(Web(pages=500), record=False) as server, pytest.raises(InputError, match="is not a crawl's directory"):
        crawled(server, tmp_path / "x", dedupe=[str(tmp_path / "first")])


def test_looking_again(crawls: Path, tmp_path: Path) -> None:
    """A crawl that is refreshed goes on with its earlier ones, and with those it is told of then: nothing is archived
    twice, and a crawl that has been moved together with its earlier one finds it.
    """
    for name in ("first", "second"):
        shutil.copytree(crawls / name, tmp_path / name)
    with serve(Web(pages=500), record=False) as server:
        crawled(server, tmp_path / "alone", budget=20)
        before = {name: size_of(tmp_path / name) for name in ("second", "alone")}
        fast = {"delay": 0.0, "per_host": 4, "everything": True, "watch_all": True}
        for _ in lycosa.revisit(tmp_path / "second", requests=30, **fast):
            pass
        for _ in lycosa.revisit(tmp_path / "alone", requests=30, dedupe=[str(tmp_path / "first")], **fast):
            pass
    before_that = (tmp_path / "alone" / "crawl.toml").read_bytes()
    for wrong, told in (("", "dedupe is empty"), (str(tmp_path), "is not a crawl's directory")):
        with pytest.raises(InputError, match=told):
            lycosa.revisit(tmp_path / "alone", **_chosen(tmp_path / "alone", {"dedupe": [wrong]}))
    assert before_that == (tmp_path / "alone" / "crawl.toml").read_bytes(), "what is refused is not kept"
    assert ["../first"] == Options.load(tmp_path / "second" / "crawl.toml").dedupe
    for name in before:
        assert all(bodies(tmp_path / name).values())
        assert size_of(tmp_path / name) - before[name] < 30_000


def test_what_is_gone_is_archived_again(crawls: Path, tmp_path: Path) -> None:
    """A digest in an index is not believed where the record itself is missing."""
    shutil.copytree(crawls / "first", tmp_path / "first")
    for file in (tmp_path / "first" / "archive").glob("*.warc.gz"):
        assert cdxj.index_of(file).exists()
        file.unlink()
    with serve(Web(pages=500), record=False) as server:
        crawled(server, tmp_path / "second", budget=5, dedupe=[str(tmp_path / "first")])
    shutil.rmtree(tmp_path / "first")
    assert all(bodies(tmp_path / "second").values())
