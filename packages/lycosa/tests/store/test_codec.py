"""Tests of the round trip of events, exact to the last bit."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgpack
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lycosa.core.types import ArchivePlace, Label, Links, ModelUpdate, Seed, Setting, Terms, Visit
from lycosa.store.codec import EVENT_KINDS, decode_other, decode_visit, encode_other, encode_visit

TEXT = st.text(max_size=20)  # includes lone surrogates, which occur in pages
REAL = st.floats(allow_nan=False, width=64)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | REAL | TEXT | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
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


VISITS = st.builds(
    Visit,
    node=TEXT,
    kind=st.sampled_from(["page", "redirect", "robots", "example"]),
    outcome=st.sampled_from(["ok", "gone", "timeout", "crashed"]),
    pick=COUNTS,
    arm=TEXT,
    priority=REAL,
    attempt=COUNTS,
    retry_at=REAL,
    hops=COUNTS,
    origin=TEXT,
    started=REAL,
    ended=REAL,
    address=TEXT,
    status=COUNTS,
    size=st.integers(0, 2**63 - 1),
    title=TEXT,
    language=TEXT,
    etag=TEXT,
    modified=TEXT,
    flags=st.lists(TEXT, max_size=3),
    note=TEXT,
    digest=st.binary(max_size=32),
    simhash=st.integers(0, 2**64 - 1),
    judge=TEXT,
    relevance=REAL,
    data=st.dictionaries(TEXT, DATA, max_size=3),
    terms=terms(),
    links=links(),
    place=st.builds(ArchivePlace, TEXT, COUNTS, COUNTS),
)


def exact(value: Any) -> Any:
    """Return a value that is equal only if all bits are: floats as hex, arrays as type and bytes."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(exact, value)]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: exact(getattr(value, name)) for name in value.__dataclass_fields__}
    return (type(value).__name__, value)


@settings(max_examples=50, deadline=None)
@given(VISITS)
def test_visit_round_trip(visit: Visit) -> None:
    assert exact(visit) == exact(decode_visit(encode_visit(visit), visit.place))


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(
        st.builds(Seed, TEXT, REAL),
        st.builds(Label, TEXT, st.booleans(), REAL, TEXT),
        st.builds(Setting, TEXT, DATA, REAL),
        st.builds(ModelUpdate, TEXT, st.dictionaries(TEXT, DATA, max_size=3), REAL),
    )
)
def test_other_events_round_trip(event: Seed | Label | Setting | ModelUpdate) -> None:
    assert exact(event) == exact(decode_other(EVENT_KINDS[type(event)], encode_other(event)))


def test_model_update_with_arrays_round_trip() -> None:
    data = {"w": np.array([[0.1, -0.0], [np.nan, 3]], np.float32), "more": [np.arange(3, dtype=np.uint32), {"b": b"x"}]}
    decoded = decode_other("model_update", encode_other(ModelUpdate("judge", data, 1.5)))
    assert isinstance(decoded, ModelUpdate)
    assert (exact(data), (2, 2)) == (exact(decoded.data), decoded.data["w"].shape)
    with pytest.raises(TypeError, match="cannot hold a set"):
        encode_other(ModelUpdate("judge", {"s": set()}))


def test_tag_paths_are_stored_once() -> None:
    visit = Visit("a", "page", "ok", 1, links=Links.to(*(f"http://a.test/{n}" for n in range(60))))
    visit.links.paths = ["html body ul.nav li a"] * 40 + ["html body p a"] * 20
    fields = msgpack.unpackb(zstandard.decompress(encode_visit(visit)), strict_map_key=False)
    assert [["html body ul.nav li a", "html body p a"], [0] * 40 + [1] * 20] == fields[38:]
    assert visit.links.paths == decode_visit(encode_visit(visit), ArchivePlace()).links.paths


def test_infinite_priority_round_trip() -> None:
    visit = Visit("a", "page", "ok", 1, priority=math.inf, relevance=-0.0)
    decoded = decode_visit(encode_visit(visit), ArchivePlace())
    assert math.inf == decoded.priority
    assert -1.0 == math.copysign(1.0, decoded.relevance)


def test_visit_with_sixty_links_is_small() -> None:
    names = [f"https://www.example.org/section/article-{n}.html" for n in range(60)]
    ids = np.arange(0, 40_000, 40, dtype=np.uint32)
    visit = Visit("https://www.example.org/", "page", "ok", 1, links=Links.to(*names, anchors=names))
    visit.terms = Terms(ids, np.ones(len(ids), np.uint16), [])
    assert len(encode_visit(visit)) < 5_000


def test_integer_keys_round_trip() -> None:
    visit = Visit("a", "page", "ok", 1, data={"clusters": {3: 0.5}})
    assert visit.data == decode_visit(encode_visit(visit), ArchivePlace()).data


def test_decode_works_in_threads() -> None:
    visits = [
        Visit(f"http://a.example/{number}", "page", "ok", number, title="x" * 5_000 * number) for number in range(8)
    ]
    blobs = [encode_visit(visit) for visit in visits]

    def read(number: int) -> list[str]:
        return [decode_visit(blobs[number], ArchivePlace()).node for _ in range(60)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(8)))
    assert [[visit.node] * 60 for visit in visits] == found
