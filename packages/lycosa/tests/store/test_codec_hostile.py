"""Tests of decoding untrusted logs and archives."""

from __future__ import annotations

import sqlite3
import struct
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
from lycosa.store.log import SqliteLog
from lycosa.text.vocabulary import Vocabulary

VISIT = Visit(
    "https://a.example/", "page", "ok", 1, title="Reefs", links=Links.to("https://b.example/", anchors=["B"]),
    terms=Terms(np.array([0, 1], np.uint32), np.array([1, 2], np.uint16), ["reef", "coral"]),
)  # fmt: skip
WRONG_VALUES = [None, True, -1, 2**63, 1.5, "x", b"x", [], {}, [1], ["a", None], {"a": 1}, [[[]]]]


def packed(fields: object) -> bytes:
    return zstandard.ZstdCompressor().compress(msgpack.packb(fields))


def fields_of(visit: Visit) -> list[object]:
    found: list[object] = msgpack.unpackb(zstandard.decompress(codec.encode_visit(visit)), strict_map_key=False)
    return found


def test_decode_rejects_frame_of_huge_size() -> None:
    bomb = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 2**40)  # the header declares one tebibyte
    assert 2**40 == zstandard.frame_content_size(bomb)
    with pytest.raises(codec.DECODE_ERRORS, match="too much memory"):
        codec.decode_visit(bomb, ArchivePlace())
    with pytest.raises(codec.DECODE_ERRORS, match="too much memory"):
        codec.decode_other("model_update", bomb)


def test_decode_limits_decompressed_size(monkeypatch: pytest.MonkeyPatch) -> None:
    large = codec.encode_other(ModelUpdate("a", {"x": bytes(10_000_000)}))
    assert len(large) < 5_000
    assert ModelUpdate("a", {"x": bytes(10_000_000)}) == codec.decode_other("model_update", large)
    # Declares 128 MB, but contains an empty last block.
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 2**27) + b"\x01\x00\x00"
    with pytest.raises(codec.DECODE_ERRORS):
        codec.decode_other("model_update", frame)
    monkeypatch.setattr(codec, "_MAX_EVENT_BYTES", 5_000_000)
    with pytest.raises(ValueError, match="exceeds 5,000,000 bytes"):
        codec.decode_other("model_update", large)


@pytest.mark.parametrize("dtype", [",f8", "O", "f8,f8", "__import__('os')", "<f99999", 3])
def test_decode_rejects_unsafe_dtypes(dtype: object) -> None:
    array = msgpack.ExtType(1, msgpack.packb((dtype, (1,), bytes(8))))
    with pytest.raises(codec.DECODE_ERRORS):
        codec.decode_other("model_update", packed(["a", {"x": array}, 1.0]))


def test_decode_visit_detects_flipped_bits() -> None:
    whole = codec.encode_visit(VISIT)
    noticed = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        try:
            assert whole == codec.encode_visit(codec.decode_visit(bytes(damaged), ArchivePlace()))
        except codec.DECODE_ERRORS:
            noticed += 1
    assert noticed > len(whole) * 0.9


def test_decode_visit_rejects_fields_of_wrong_type() -> None:
    fields = fields_of(VISIT)
    assert codec.decode_visit(packed(fields), ArchivePlace()).links.urls == VISIT.links.urls
    rng = Random(19)
    for _ in range(600):
        changed = list(fields)
        at = rng.randrange(len(changed))
        changed[at] = rng.choice(WRONG_VALUES)
        try:
            visit = codec.decode_visit(packed(changed[: rng.choice([len(changed), rng.randrange(40)])]), ArchivePlace())
        except codec.DECODE_ERRORS:
            continue
        assert type(visit.node) is type(visit.title) is type(visit.same_as) is str
        assert isinstance(visit.relevance, float | int)
        assert len(visit.links.urls) == len(visit.links.anchors) == len(visit.links.positions)
        assert len(visit.links.link_relevances) in (0, len(visit.links.urls))
        assert len(visit.links.paths) in (0, len(visit.links.urls))
        assert len(visit.terms.ids) == len(visit.terms.counts)
        assert {str} >= set(map(type, [*visit.links.urls, *visit.links.contexts, *visit.terms.new, *visit.flags]))


@pytest.mark.parametrize("paths", [([], [0]), (["a"], [-1]), (["a"], [1]), (["a"], [True]), ([1], [0]), (["a"], ["a"])])
def test_decode_visit_rejects_invalid_paths(paths: tuple[list[object], list[object]]) -> None:
    visit = Visit("a", "page", "ok", 1, links=Links.to("b"))
    with pytest.raises(ValueError, match="tag path"):
        codec.decode_visit(packed([*fields_of(visit)[:38], *paths]), ArchivePlace())


@pytest.mark.parametrize("kind", ["seed", "label", "setting", "model_update"])
def test_decode_other_rejects_fields_of_wrong_type(kind: str) -> None:
    good = {
        "seed": Seed("a"),
        "label": Label("a", True),
        "setting": Setting("a", 1),
        "model_update": ModelUpdate("a", {}),
    }[kind]
    assert good == codec.decode_other(kind, codec.encode_other(good))
    for value in WRONG_VALUES:
        for fields in ([value], [value, value, value], ["a", 1, 2, 3, 4, 5], value):
            blob = packed(fields) if kind == "model_update" else msgpack.packb(fields)
            try:
                event = codec.decode_other(kind, blob)
            except codec.DECODE_ERRORS:
                continue
            assert isinstance(getattr(event, {"setting": "key", "model_update": "judge"}.get(kind, "node")), str)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/b", "..", ".hidden", "a\nb", "x" * 300])
def test_log_rejects_places_outside_archive(tmp_path: Path, name: str) -> None:
    log = SqliteLog(tmp_path / "log.sqlite")
    log.append(Visit("https://a.example/", "page", "ok", 1, place=ArchivePlace(name, 0, 9)))
    for read in (log.archived, log.check, lambda: list(log)):
        with pytest.raises(DamagedError, match=r"archive|kept"):
            read()
    log.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE other (x)",
        "ALTER TABLE event ADD COLUMN god",
    ],
)
def test_check_rejects_foreign_schema(tmp_path: Path, statement: str) -> None:
    SqliteLog(tmp_path / "log.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as database:
        database.execute(statement)
    with (
        closing(SqliteLog(tmp_path / "log.sqlite", readonly=True)) as log,
        pytest.raises(DamagedError, match="is not a Lycosa log"),
    ):
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
