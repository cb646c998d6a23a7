"""Tests of the round trip of events through the log, exact to the last bit."""

import json
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lycosa.core.types import ArchivePlace, Event, Label, Links, ModelUpdate, Seed, Setting, Terms, Visit
from lycosa.store import codec
from lycosa.store.log import NAME, SqliteLog
from stored import exact, stored

COLUMN = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)  # SQLite stores UTF-8
TEXT = st.text(max_size=20)  # includes lone surrogates, which occur in pages
REAL = st.floats(allow_nan=False, width=64)
NUMBER = REAL.map(lambda number: number + 0.0)  # SQLite stores -0.0 as 0.0
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | REAL | TEXT | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.integers(0, 99), inner, max_size=3),
    max_leaves=5,
)
COUNTS = st.integers(0, 2**31 - 1)


@st.composite
def links(draw: st.DrawFn) -> Links:
    n = draw(st.integers(0, 6))
    column = st.lists(TEXT, min_size=n, max_size=n)
    return Links(
        draw(column), draw(column), draw(column), draw(column), draw(st.lists(COUNTS, min_size=n, max_size=n)),
        draw(arrays.arrays(np.float32, n, elements=st.floats(width=32, allow_nan=False))),
        paths=draw(st.just([]) | column),
    )  # fmt: skip


@st.composite
def terms(draw: st.DrawFn) -> Terms:
    """Return sorted, unique word ids and their counts."""
    ids = np.array(sorted(draw(st.sets(st.integers(0, 2**32 - 1), max_size=8))), np.uint32)
    counts = draw(arrays.arrays(np.uint16, len(ids), elements=st.integers(0, 65535)))
    marks = draw(st.just(np.zeros(0, np.uint8)) | arrays.arrays(np.uint8, len(ids)))
    return Terms(ids, counts, draw(st.lists(TEXT, max_size=3)), marks)


PLACES = st.builds(ArchivePlace, st.sampled_from(["", "a-00001.warc.gz"]), COUNTS, COUNTS)
VISITS = st.builds(
    Visit,
    node=COLUMN,
    kind=st.sampled_from(["page", "redirect", "robots", "example"]),
    outcome=st.sampled_from(["ok", "gone", "timeout", "crashed"]),
    pick=COUNTS,
    arm=COLUMN,
    priority=NUMBER,
    attempt=COUNTS,
    retry_at=NUMBER,
    hops=COUNTS,
    origin=COLUMN,
    started=NUMBER,
    ended=NUMBER,
    address=COLUMN,
    status=COUNTS,
    size=st.integers(0, 2**63 - 1),
    title=COLUMN,
    language=COLUMN,
    etag=COLUMN,
    modified=COLUMN,
    flags=st.lists(COLUMN, max_size=3),
    note=COLUMN,
    digest=st.binary(max_size=32),
    simhash=st.integers(0, 2**64 - 1),
    judge=COLUMN,
    relevance=NUMBER.filter(math.isfinite),
    same_as=COLUMN,
    data=st.dictionaries(TEXT, DATA, max_size=3),
    terms=terms(),
    links=links(),
    place=PLACES,
    parent=COLUMN,
    anchor=COLUMN,
    depth=COUNTS,
    priority_terms=st.dictionaries(COLUMN, st.integers(-9999, 9999).map(lambda number: number / 1000), max_size=3),
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteLog]:
    with closing(SqliteLog(tmp_path_factory.mktemp("log") / NAME)) as log:
        yield log


def through(log: SqliteLog, event: Event) -> Event:
    """Append an event; return it as a reader of the log sees it."""
    seq = log.append(event)
    ((found, again),) = log.events(seq - 1, seq)
    assert seq == found
    return again


@settings(max_examples=50, deadline=None)
@given(VISITS)
def test_visit_round_trip(log: SqliteLog, visit: Visit) -> None:
    assert exact(visit) == exact(through(log, visit))


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(
        st.builds(Seed, COLUMN, NUMBER, COLUMN, st.dictionaries(TEXT, DATA, max_size=3)),
        st.builds(Label, COLUMN, st.none() | st.booleans(), NUMBER, COLUMN),
        st.builds(Setting, COLUMN, DATA, NUMBER),
        st.builds(ModelUpdate, COLUMN, st.dictionaries(TEXT, DATA, max_size=3), NUMBER),
    )
)
def test_other_events_round_trip(log: SqliteLog, event: Seed | Label | Setting | ModelUpdate) -> None:
    assert exact(event) == exact(through(log, event))


def test_model_update_with_arrays_round_trip(log: SqliteLog) -> None:
    data = {"w": np.array([[0.1, -0.0], [np.nan, 3]], np.float32), "more": [np.arange(3, dtype=np.uint32), {"b": b"x"}]}
    found = through(log, ModelUpdate("judge", data, 1.5))
    assert isinstance(found, ModelUpdate)
    assert (exact(data), (2, 2)) == (exact(found.data), found.data["w"].shape)
    with pytest.raises(TypeError, match="cannot hold a set"):
        log.append(ModelUpdate("judge", {"s": set()}))


@pytest.mark.parametrize(
    "value",
    [b"", b"\xff\0", {"a": [b"x"]}, {3: 0.5}, {"3": 1, 3: 2}, {None: 1}, {True: "x"}, "\ud800", ["\udfff\0"],
     math.inf, {"worst": [-math.inf]}, -0.0, 5e-324, 0.1, 2**63, 2**64 - 1, -(2**63), True, 1, 1.0, None, "", [], {},
     "1", "null", '"', "a\u2028\0b"],
    ids=ascii,
)  # fmt: skip
def test_value_of_any_type_is_exact(log: SqliteLog, value: Any) -> None:
    setting, seed = through(log, Setting("s", value)), through(log, Seed("s", data={"a": value}))
    visit = through(log, Visit("a", "page", "ok", 1, data={"value": value, "type": "text/html"}))
    assert isinstance(setting, Setting)
    assert isinstance(seed, Seed)
    assert isinstance(visit, Visit)
    assert exact([value] * 3) == exact([setting.value, seed.data["a"], visit.data["value"]])
    assert "text/html" == visit.data["type"]


def test_nan_in_data_is_exact(log: SqliteLog) -> None:
    visit = through(log, Visit("a", "page", "ok", 1, data={"deep": [{"nan": math.nan}]}))
    assert isinstance(visit, Visit)
    assert math.isnan(visit.data["deep"][0]["nan"])
    setting = through(log, Setting("s", math.nan))
    assert isinstance(setting, Setting)
    assert math.isnan(setting.value)


def test_tuples_become_lists(log: SqliteLog) -> None:
    for value in ((1, 2), ("a", [b"x", (3,)])):
        setting = through(log, Setting("s", value))
        assert isinstance(setting, Setting)
        assert json.loads(json.dumps(value, default=list)) == json.loads(json.dumps(setting.value, default=list))
        assert isinstance(setting.value, list)


def test_keys_that_could_not_be_read_are_refused(log: SqliteLog) -> None:
    end = log.end()
    for data in ({(1, 2): 3}, {"deep": [{(1,): b"x"}]}):
        for event in (Setting("s", data), Visit("a", "page", "ok", 1, data=data), ModelUpdate("j", data)):  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="cannot hold the key"):
                log.append(event)
    assert end == log.end()


def test_integer_keys_round_trip(log: SqliteLog) -> None:
    visit = through(log, Visit("a", "page", "ok", 1, data={"clusters": {3: 0.5}}))
    assert isinstance(visit, Visit)
    assert {"clusters": {3: 0.5}} == visit.data


def test_pack_data_keeps_plain_items_readable() -> None:
    text, binary = codec.pack_data({"type": "text/html", "body": b"x", "clusters": {3: 0.5}, "widths": [0.5, 1]})
    assert {"type": "text/html", "widths": [0.5, 1]} == json.loads(text)
    assert binary is not None
    assert {"body": b"x", "clusters": {3: 0.5}} == codec.unpack(binary)


def test_tag_paths_are_stored_once() -> None:
    links = Links.to(*(f"http://a.test/{n}" for n in range(60)))
    links.paths = ["html body ul.nav li a"] * 40 + ["html body p a"] * 20
    blob = codec.pack_links(links)
    assert blob is not None
    parts = msgpack.unpackb(zstandard.decompress(blob))
    assert [["html body ul.nav li a", "html body p a"], [0] * 40 + [1] * 20] == parts[7:]
    assert links.paths == codec.unpack_links(blob).paths


def test_infinite_priority_round_trip(log: SqliteLog) -> None:
    visit = through(log, Visit("a", "page", "ok", 1, priority=math.inf))
    assert isinstance(visit, Visit)
    assert math.inf == visit.priority


def test_visit_with_sixty_links_is_small() -> None:
    names = [f"https://www.example.org/section/article-{n}.html" for n in range(60)]
    ids = np.arange(0, 40_000, 40, dtype=np.uint32)
    blobs = codec.pack_links(Links.to(*names, anchors=names)), codec.pack_terms(Terms(ids, np.ones(1000, np.uint16)))
    assert sum(len(blob or b"") for blob in blobs) < 5_000


def test_unpack_works_in_threads() -> None:
    blobs = [codec.pack(f"{number}" * 5_000 * number) for number in range(8)]

    def read(number: int) -> list[str]:
        return [codec.unpack(blobs[number]) for _ in range(60)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(8)))
    assert [[f"{number}" * 5_000 * number] * 60 for number in range(8)] == found


def test_stored_events_keep_their_order(tmp_path: Path) -> None:
    events: list[Event] = [Seed("a"), Visit("a", "page", "ok", 1), Label("a", None), Seed("b"), Setting("x", 1)]
    assert exact(events) == exact(stored(events))
