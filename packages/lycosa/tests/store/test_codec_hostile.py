"""Tests of decoding untrusted logs and archives."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import msgpack
import numpy as np
import pytest
import zstandard
from zlib_ng import zlib_ng as zlib

from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.types import ArchivePlace, Label, Links, ModelUpdate, Seed, Setting, Terms, Visit
from lycosa.store import codec, warc
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.vocabulary import Vocabulary
from stored import exact

LINKS = Links.to("https://b.example/", "https://c.example/", anchors=["B", "C"])
TERMS = Terms(np.array([0, 1], np.uint32), np.array([1, 2], np.uint16), ["reef", "coral"])
WRONG_VALUES = [None, True, -1, 2**63, 1.5, "x", b"x", [], {}, [1], ["a", None], {"a": 1}, [[[]]]]
BLOBS = {"links": codec.pack_links(LINKS), "terms": codec.pack_terms(TERMS), "data": codec.pack({"a": b"x", "n": 1.5})}


def packed(fields: object) -> bytes:
    return zstandard.ZstdCompressor().compress(msgpack.packb(fields))


def unpacked(name: str, blob: bytes | None) -> Links | Terms | dict[str, object]:
    """Return links, terms or data."""
    if name == "data":
        return codec.unpack_data("{}", blob)
    return codec.unpack_links(blob) if name == "links" else codec.unpack_terms(blob)


def fields_of(name: str) -> list[object]:
    blob = BLOBS[name]
    assert blob is not None
    found: list[object] = msgpack.unpackb(zstandard.decompress(blob))
    return found


@pytest.mark.parametrize("name", BLOBS)
def test_unpack_rejects_frame_of_huge_size(name: str) -> None:
    bomb = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 2**40)  # the header declares one tebibyte
    assert 2**40 == zstandard.frame_content_size(bomb)
    with pytest.raises(codec.DECODE_ERRORS, match="too much memory"):
        unpacked(name, bomb)


def test_unpack_limits_decompressed_size(monkeypatch: pytest.MonkeyPatch) -> None:
    large = codec.pack({"x": bytes(10_000_000)})
    assert len(large) < 5_000
    assert {"x": bytes(10_000_000)} == codec.unpack(large)
    # Declares 128 MB, but contains an empty last block.
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 2**27) + b"\x01\x00\x00"
    with pytest.raises(codec.DECODE_ERRORS):
        codec.unpack(frame)
    monkeypatch.setattr(codec, "_MAX_BYTES", 5_000_000)
    with pytest.raises(ValueError, match="exceeds 5,000,000 bytes"):
        codec.unpack(large)


@pytest.mark.parametrize("dtype", [",f8", "O", "f8,f8", "__import__('os')", "<f99999", 3])
def test_unpack_rejects_unsafe_dtypes(dtype: object) -> None:
    array = msgpack.ExtType(1, msgpack.packb((dtype, (1,), bytes(8))))
    with pytest.raises(codec.DECODE_ERRORS):
        codec.unpack(packed({"x": array}))


@pytest.mark.parametrize("name", BLOBS)
def test_unpack_detects_flipped_bits(name: str) -> None:
    whole = BLOBS[name]
    assert whole is not None
    sound, noticed = exact(unpacked(name, whole)), 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        try:
            assert sound == exact(unpacked(name, bytes(damaged)))
        except codec.DECODE_ERRORS:
            noticed += 1
    assert noticed > len(whole) * 0.9


@pytest.mark.parametrize("name", ["links", "terms"])
def test_unpack_rejects_fields_of_wrong_type(name: str) -> None:
    fields = fields_of(name)
    assert exact(unpacked(name, BLOBS[name])) == exact(unpacked(name, packed(fields)))
    rng = Random(19)
    for _ in range(400):
        changed = list(fields)
        at = rng.randrange(len(changed))
        changed[at] = rng.choice(WRONG_VALUES)
        try:
            found = unpacked(name, packed(changed[: rng.choice([len(changed), rng.randrange(10)])]))
        except codec.DECODE_ERRORS:
            continue
        if isinstance(found, Links):
            assert len(found.urls) == len(found.anchors) == len(found.positions)
            assert len(found.link_relevances) in (0, len(found.urls))
            assert len(found.paths) in (0, len(found.urls))
            assert {str} >= set(map(type, [*found.urls, *found.anchors, *found.contexts, *found.rels]))
        else:
            assert isinstance(found, Terms)
            assert len(found.ids) == len(found.counts)
            assert {str} >= set(map(type, found.new))


@pytest.mark.parametrize("paths", [([], [0]), (["a"], [-1]), (["a"], [1]), (["a"], [True]), ([1], [0]), (["a"], ["a"])])
def test_unpack_links_rejects_invalid_paths(paths: tuple[list[object], list[object]]) -> None:
    blob = codec.pack_links(Links.to("b"))
    assert blob is not None
    with pytest.raises(ValueError, match="tag path"):
        codec.unpack_links(packed([*msgpack.unpackb(zstandard.decompress(blob))[:7], *paths]))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        log.append(Visit("https://a.example/", "page", "ok", 1, title="Reefs", links=LINKS, terms=TERMS, flags=["x"]))
        log.append(Seed("a", data={"form": b"x"}))
        log.append(Label("a", True))
        log.append(Setting("a", 1))
        log.append(ModelUpdate("a", {"w": np.arange(3.0)}))
        yield log


TEXTS = [
    "x",
    "",
    "[",
    "1",
    "null",
    "[1]",
    '["a", null]',
    '{"a": "b"}',
    '{"a": {}}',
    "[[[]]]",
    '"x"',
    "NaN",
    "[" * 9_000,
]


@pytest.mark.parametrize("column", ["flags", "priority_terms", "data", "kind", "outcome"])
def test_log_rejects_columns_of_wrong_type(log: SqliteLog, column: str) -> None:
    for value in TEXTS:
        log._db.execute(f"UPDATE visit SET {column} = ?", (value,))
        try:
            visit = log.visit(1)
        except DamagedError:
            continue
        assert {str} >= set(map(type, visit.flags))
        assert {int, float} >= set(map(type, visit.priority_terms.values()))
        assert isinstance(visit.data, dict)
        assert (visit.kind, visit.outcome) == ("page", "ok")


@pytest.mark.parametrize("column", ["links", "terms", "binary"])
def test_log_rejects_content_of_wrong_type(log: SqliteLog, column: str) -> None:
    for value in WRONG_VALUES:
        log._db.execute(f"UPDATE content SET {column} = ?", (packed(value),))
        try:
            visit = log.visit(1)
        except DamagedError:
            continue
        assert isinstance(visit.data, dict)
        assert len(visit.links.urls) == len(visit.links.anchors)


@pytest.mark.parametrize(("table", "column"), [("seed", "data"), ("setting", "value"), ("model_update", "binary")])
def test_log_rejects_values_of_wrong_type(log: SqliteLog, table: str, column: str) -> None:
    values = [*map(packed, WRONG_VALUES), b"", b"x"]
    for value in values if column == "binary" else [*TEXTS, *values, 1, 1.5, None]:
        log._db.execute(f"UPDATE {table} SET {column} = ?", (value,))
        try:
            events = [event for event in log if isinstance(event, Seed | ModelUpdate)]
        except DamagedError:
            continue
        assert all(isinstance(event.data, dict) for event in events)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE visit SET kind = 'pagf'",
        "UPDATE visit SET outcome = 'oj'",
        "UPDATE visit SET outcome = CAST(x'6fff' AS TEXT)",
    ],
)
def test_check_rejects_unknown_kinds_and_outcomes(log: SqliteLog, statement: str) -> None:
    log.check()
    log._db.execute(statement)
    with pytest.raises(DamagedError, match=r"(event 1 is of an unknown kind|Could not decode).*lycosa check"):
        log.check()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/b", "..", ".hidden", "a\nb", "x" * 300])
def test_log_rejects_places_outside_archive(tmp_path: Path, name: str) -> None:
    log = SqliteLog(tmp_path / NAME)
    log.append(Visit("https://a.example/", "page", "ok", 1, place=ArchivePlace(name, 0, 9)))
    for read in (log.archived, lambda: list(log)):
        with pytest.raises(DamagedError, match="archive"):
            read()
    log.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON visit BEGIN DELETE FROM visit; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE other (x)",
        "CREATE INDEX more ON visit (title)",
        "ALTER TABLE visit ADD COLUMN god TEXT",
        "ALTER TABLE visit RENAME COLUMN note TO remark",
        "DROP TABLE label",
        "DROP VIEW hosts",
        "DROP VIEW requests; CREATE VIEW requests AS SELECT load_extension('x') AS url",
    ],
)
def test_check_rejects_foreign_schema(tmp_path: Path, statement: str) -> None:
    SqliteLog(tmp_path / NAME).close()
    with closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.executescript(statement)
    with (
        closing(SqliteLog(tmp_path / NAME, readonly=True)) as log,
        pytest.raises(DamagedError, match="is not a crawl of Lycosa: look at its"),
    ):
        log.check()


def test_check_accepts_statistics_of_sqlite(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        log.append(Visit("https://a.example/", "page", "ok", 1))
        log._db.execute("ANALYZE")
        log.check()


def test_read_exchange_limits_record_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "MAX_RECORD_BYTES", 10_000)
    squeezing = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = squeezing.compress(b"WARC/1.1\r\n\r\n" + b"x" * 1_000_000) + squeezing.flush()
    (tmp_path / "a.warc.gz").write_bytes(bomb)
    with pytest.raises(StoreError, match="more than 10,000 bytes"):
        warc.read_exchange(tmp_path / "a.warc.gz", ArchivePlace("a.warc.gz", 0, len(bomb)))


def test_vocabulary_rejects_unknown_word_ids() -> None:
    with pytest.raises(DamagedError, match="words that no visit brought"):
        Vocabulary().learn(
            Visit("a", "page", "ok", 1, terms=Terms(np.array([2**31], np.uint32), np.ones(1, np.uint16)))
        )
