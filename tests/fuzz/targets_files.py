"""Targets for files: log rows and logs, WARC records and archives, settings, models."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import zstandard

from fuzz.harness import Target
from fuzz.targets_web import pages
from lycosa.core.errors import InputError, LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import (
    ArchivePlace,
    Exchange,
    InboundLinks,
    LinkBatch,
    Links,
    Seed,
    Setting,
    Terms,
    Visit,
)  # fmt: skip
from lycosa.replay.index import open_index
from lycosa.replay.records import Damaged, read
from lycosa.store import codec
from lycosa.store.log import SqliteLog
from lycosa.store.warc import WarcArchive, read_exchange
from lycosa.training.web_directory import read_web_directory

PLACE = ArchivePlace("a.warc.gz", 0, 100)
UNPACK: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes | None]]] = {
    "links": (codec.unpack_links, codec.pack_links),
    "terms": (codec.unpack_terms, codec.pack_terms),
    "value": (codec.unpack, codec.pack),
    "batch": (codec.unpack_batch, lambda batch: codec.pack_batch(LinkBatch(batch.pages))),
}
KINDS = (*UNPACK, "text", "packed")


def a_visit() -> Visit:
    """Return a visit with a value in every field."""
    links = Links.to("http://a.test/x", "http://a.test/y", anchors=["coral", "reef"])
    terms = Terms(np.array([1, 5, 9], np.uint32), np.array([1, 2, 3], np.uint16), ["coral"], np.zeros(3, np.uint8))
    return Visit(
        "http://a.test/", "page", "ok", 1, priority=0.5, title="Reefs", digest=b"d" * 32, links=links, terms=terms,
        data={"quality": 0.5, "canonical": "http://a.test/c"}, place=PLACE,
    )  # fmt: skip


def check_rows(data: bytes) -> None:
    """Check that a stored part of an event survives a round trip, or raises a declared error."""
    kind, blob = KINDS[data[0] % len(KINDS)] if data else "links", data[1:]
    try:
        if kind == "text":
            found = codec.unpack_value(blob.decode("utf-8", "replace"))
            assert repr(codec.unpack_value(codec.pack_value(found))) == repr(found)
            return
        if kind == "packed":
            kind = "links"
        else:  # mutates the content of the compressed data; otherwise few mutations are accepted
            blob = zstandard.compress(blob)
        unpack, pack = UNPACK[kind]
        found = unpack(blob)
    except codec.DECODE_ERRORS:
        return
    try:
        again = pack(found)
    except (TypeError, ValueError, OverflowError, RecursionError):  # a value that is never written, such as a time
        return
    assert again is None or repr(unpack(again)) == repr(found)


def _rows() -> list[bytes]:
    visit = a_visit()
    links, terms = codec.pack_links(visit.links), codec.pack_terms(visit.terms)
    assert links is not None
    assert terms is not None
    batch = codec.pack_batch(LinkBatch([InboundLinks(1, 2, visit, 3)]))
    blobs = [links, terms, codec.pack({"w": np.arange(3.0), 3: b"x"}), batch]
    return [
        *(bytes([number]) + zstandard.decompress(blob) for number, blob in enumerate(blobs)),
        b"\4" + b'{"quality":0.5,"widths":[1,2]}',
        b"\5" + links,
    ]


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a directory that exists until the process ends."""
    return tempfile.TemporaryDirectory(prefix="lycosa-fuzz-")


def _fresh(name: str) -> Path:
    """Return an empty directory."""
    place = Path(_scratch().name) / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place


def check_log(data: bytes) -> None:
    """Check that a corrupted log is read as far as possible, or raises a one-line error."""
    file = _fresh("log") / "crawl.sqlite"
    file.write_bytes(data)
    try:
        with closing(SqliteLog(file, readonly=True)) as log:
            for _ in log:
                pass
            log.archived()
            log.setting("threshold", 0.0)
            log.has_ended()
    except LycosaError as error:
        _one_line(error)


def _one_line(error: LycosaError) -> None:
    """Assert that a message has one line."""
    assert "\n" not in str(error).strip(), str(error)


@cache
def _log() -> bytes:
    file = _fresh("made") / "crawl.sqlite"
    with closing(SqliteLog(file)) as log:
        log.append(Seed("http://a.test/", 1.0))
        log.append(Setting("threshold", 0.5, 1.0))
        log.append(a_visit())
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("VACUUM")
    return file.read_bytes()


def check_warc(data: bytes) -> None:
    """Check that a record or archive gives a response or reports damage."""
    with suppress(Damaged):
        answer = read(data)
        assert len(answer.body) <= 1_100 * len(data) + 1_000  # deflate's maximum ratio
    file = _fresh("warc") / "a.warc.gz"
    file.write_bytes(data)
    with suppress(StoreError):
        exchange, refers_to = read_exchange(file, ArchivePlace(file.name, 0, len(data)))
        assert isinstance(exchange.body, bytes)
        assert isinstance(refers_to, str)
    with suppress(InputError, StoreError):
        index = open_index(file, lambda place, count: None)
        assert len(index.hosts()) >= 0


@cache
def _warcs() -> tuple[bytes, ...]:
    place = _fresh("archive")
    archive = WarcArchive(place)
    body = pages()[3]
    for number, packed in enumerate((False, True)):
        headers = [(b"Content-Type", b"text/html")] + ([(b"Content-Encoding", b"gzip")] if packed else [])
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", headers, body, hashlib.sha256(body).digest())
        visit = a_visit()
        visit.node = f"http://a.test/{number}"
        archive.append(visit, exchange)
    archive.close()
    whole = next(place.glob("*.warc.gz")).read_bytes()
    plain = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: 48\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello\r\n\r\n"
    )
    return whole, plain, plain.replace(b"response\r\n", b"revisit\r\n", 1)


def check_settings(data: bytes) -> None:
    """Check that crawl.toml gives options that survive a round trip, or a one-line error with the file name."""
    file = _fresh("settings") / "crawl.toml"
    file.write_bytes(data)
    try:
        options = Options.load(file)
        options.check()
    except InputError as error:
        _one_line(error)
        return
    file.write_text(options.to_toml(), "utf-8")
    again = Options.load(file)
    for item in fields(Options):
        assert repr(getattr(again, item.name)) == repr(getattr(options, item.name)), item.name


def _settings() -> list[bytes]:
    return [
        b'topic = "coral reefs"\nseeds = ["http://a.test/"]\nbudget = 100\ndelay = 1.5\nthreshold = 0.3\n',
        Options(topic="reefs", seeds=["http://a.test/"], budget=5).to_toml().encode(),
        b'strategy = "bandit,arms=scent"\nlanguages = ["en"]\nallow_network = ["127.0.0.0/8"]\ninclude = ["a.*"]\n',
    ]


def check_directory(data: bytes) -> None:
    """Check that the dump of a web directory survives a round trip or is rejected."""
    with tempfile.TemporaryDirectory() as place:
        dump, table = Path(place, "dump"), Path(place, "table")
        dump.write_bytes(data)
        try:
            directory = read_web_directory([dump], most=0)
        except InputError:
            return
        kept = {path: urls for path, urls in directory.pages.items() if urls}
        assert directory.size == sum(map(len, kept.values())) == sum(branch.pages for branch in directory.children())
        directory.mark([next(iter(kept))])
        directory.write(table)
        again = read_web_directory([table], most=0)
        assert (kept, directory.marked) == (again.pages, again.marked)


def _directories() -> list[bytes]:
    rdf = (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/"><Topic r:id="Top/A/B"><link '
        b'r:resource="http://a.test/"/><narrow r:resource="Top/A/C"/></Topic><ExternalPage about="http://b.test/">'
        b"<topic>Top/A/C</topic></ExternalPage></RDF>"
    )
    tables = [b"url\tclass\tmarked\nhttp://a.test/\tA/B\tA\n", b'"http://a.test/","Top/A"\n', b"http://a.test/\tA\n"]
    return [rdf, *tables, b"http://a.test/\tOne\t\t1\n"]


_PACKED = [msgpack.packb(value) for value in (None, True, -1, 2**63, 1.5, "x", b"x", [], {}, [[]], {"a": []}, "\ud800")
           if value != "\ud800"]  # fmt: skip

FILES = (
    # A row may declare a decompressed size of 256 MB, which is reserved but not used.
    Target("rows", check_rows, _rows, _PACKED, memory=300_000_000, rounds=150),
    Target("log", check_log, lambda: [_log()], _PACKED, lines=5_000, rounds=30),
    Target("warc", check_warc, _warcs, [b"WARC/1.0\r\n", b"Content-Length: ", b"\r\n\r\n", b"\x1f\x8b"], lines=8_000,
           lines_a_byte=100, rounds=40),
    Target("settings", check_settings, _settings, [b"=", b'"', b"[", b"[[a]]", b"nan", b"inf", b"true", b"1e999"],
           lines=8_000, rounds=30),
    Target("directory", check_directory, _directories, [b"&lt;", b"<Topic r:id='Top/X'>", b"<!DOCTYPE", b"\t", b"/"],
           lines=5_000, lines_a_byte=40, rounds=60),
)  # fmt: skip
