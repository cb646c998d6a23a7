"""Serialisation of the parts of events that are no plain columns: msgpack, zstd level 1.

The round trip is exact, to the last bit, because a resumed crawl learns from decoded events and a running one from the
originals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from typing import Any, get_args

import msgpack
import numpy as np

from lycosa import zstd
from lycosa.core.types import InboundLinks, Kind, LinkBatch, Links, Outcome, Terms, Visit

# Raised when decoding bytes that are not a part of an event.
DECODE_ERRORS = (
    ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, MemoryError,
    msgpack.UnpackException, zstd.ZstdError,
)  # fmt: skip
KINDS, OUTCOMES = frozenset(get_args(Kind)), frozenset(get_args(Outcome))

_MAX_BYTES = 256 * 2**20  # limit of the decompressed size; a page has at most some megabytes of links and words
_STRICT: dict[str, Any] = {"unicode_errors": "surrogatepass", "strict_map_key": False}


def pack(value: Any) -> bytes:
    """Encode plain values, bytes and arrays."""
    return zstd.compress(msgpack.packb(value, default=_pack_array, unicode_errors="surrogatepass"))


def unpack(blob: bytes) -> Any:
    return msgpack.unpackb(zstd.decompress(blob, _MAX_BYTES), ext_hook=_unpack_array, **_STRICT)


def pack_value(value: Any) -> str | bytes:
    """Encode a value as JSON if that is exact, so that SQL can read it, and as msgpack otherwise.

    >>> pack_value({"reason": "stopped"}), type(pack_value({1: 2})), type(pack_value(b""))
    ('{"reason":"stopped"}', <class 'bytes'>, <class 'bytes'>)
    """
    text = _as_json(value)
    return pack(_with_storable_keys(value)) if text is None else text


def _as_json(value: Any) -> str | None:
    """Return a value as JSON; None if that is not exact."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()  # a lone surrogate cannot be stored as text
        return text if json.loads(text) == value else None
    except (TypeError, ValueError, RecursionError):
        return None


def _with_storable_keys(value: Any) -> Any:
    """Return the value; raise TypeError if a key would be a list when read, which cannot be a key."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, tuple):
                raise TypeError(f"a log cannot hold the key {key!r}: use plain values as keys")
            _with_storable_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _with_storable_keys(item)
    return value


def unpack_value(stored: str | bytes) -> Any:
    return json.loads(stored) if isinstance(stored, str) else unpack(stored)


def pack_data(data: Mapping[str, Any]) -> tuple[str, bytes | None]:
    """Encode a visit's data: as JSON, and the items that JSON cannot hold exactly as msgpack.

    >>> pack_data({"type": "text/html"}), pack_data({"type": "text/html", "body": b"x"})[0]
    (('{"type":"text/html"}', None), '{"type":"text/html"}')
    """
    if not data:
        return "{}", None
    plain = {key: value for key, value in data.items() if type(value) is not bytes}
    text = _as_json(plain)
    if text is None:
        plain = {key: value for key, value in plain.items() if _as_json({key: value}) is not None}
        text = _as_json(plain)
    assert text is not None
    others = {key: value for key, value in data.items() if key not in plain}
    return text, pack(_with_storable_keys(others)) if others else None


def unpack_data(text: str, binary: bytes | None) -> dict[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("the data of a visit must be a JSON object")
    return data if binary is None else data | unpack(binary)


def pack_links(links: Links) -> bytes | None:
    return pack((*_columns(links), *pack_paths(links.paths))) if links.urls else None


def _columns(links: Links) -> tuple[Any, ...]:
    facets = {name: column.tobytes() for name, column in links.facets.items()}
    return (
        links.urls,
        links.anchors,
        links.contexts,
        links.rels,
        links.positions,
        links.link_relevances.tobytes(),
        facets,
    )


def unpack_links(blob: bytes | None) -> Links:
    if blob is None:
        return Links()
    urls, anchors, contexts, rels, positions, link_relevances, facets, paths, number_of = unpack(blob)
    return _links((urls, anchors, contexts, rels, positions, link_relevances, facets), paths, number_of)


def _links(columns: Sequence[Any], paths: Sequence[str], number_of: Sequence[int]) -> Links:
    """Return links; raise ValueError if their columns do not fit together."""
    urls, anchors, contexts, rels, positions, link_relevances, facets = columns
    if not set(map(type, chain(urls, anchors, contexts, rels))) <= {str} or not set(map(type, positions)) <= {int}:
        raise ValueError("links must be texts, and their positions integers")
    links = Links(
        urls, anchors, contexts, rels, positions, np.frombuffer(link_relevances, np.float32),
        {name: np.frombuffer(column, np.float32) for name, column in facets.items()}, unpack_paths(paths, number_of),
    )  # fmt: skip
    count = len(urls)
    is_complete = len(anchors) == len(contexts) == len(rels) == len(positions) == count
    lengths = {len(links.link_relevances), len(links.paths), *map(len, links.facets.values())}
    if not is_complete or not lengths <= {0, count}:  # empty if the links were not judged
        raise ValueError(f"the link columns of the visit have different lengths: expected {count} values each")
    return links


def pack_terms(terms: Terms) -> bytes | None:
    if not len(terms.ids) and not terms.new:
        return None
    return pack((_deltas(terms.ids), terms.counts.tobytes(), terms.new, terms.marks.tobytes()))


def unpack_terms(blob: bytes | None) -> Terms:
    if blob is None:
        return Terms()
    deltas, counts, new, marks = unpack(blob)
    if not set(map(type, new)) <= {str}:
        raise ValueError("new words must be texts")
    ids = np.cumsum(np.frombuffer(deltas, np.uint32), dtype=np.uint32)
    terms = Terms(ids, np.frombuffer(counts, np.uint16), new, np.frombuffer(marks, np.uint8))
    if len(terms.counts) != len(ids) or len(terms.marks) not in (0, len(ids)):
        counts_and_marks = f"{len(terms.counts)} counts and {len(terms.marks)} marks"
        raise ValueError(f"the visit has {len(ids)} words, but {counts_and_marks}")
    return terms


def pack_paths(paths: list[str]) -> tuple[list[str], list[int]]:
    """Return the distinct tag paths of a page's links, and the index of each link's path among them.

    >>> pack_paths(["html body a", "html body ul li a", "html body a"])
    (['html body a', 'html body ul li a'], [0, 1, 0])
    """
    number: dict[str, int] = {}
    number_of = [number.setdefault(path, len(number)) for path in paths]
    return list(number), number_of


def unpack_paths(distinct: Sequence[str], number_of: Sequence[int]) -> list[str]:
    """Return the tag path of each link; raise ValueError for an index out of range."""
    if not set(map(type, distinct)) <= {str} or not set(map(type, number_of)) <= {int}:
        raise ValueError("tag paths must be strings, and their numbers integers")
    if number_of and not 0 <= min(number_of) <= max(number_of) < len(distinct):
        raise ValueError(f"a link has a tag path number outside 0 to {len(distinct) - 1}")
    return [distinct[number] for number in number_of]


# Batches of links that shards send each other: a visit's plain fields, its place in the crawl, its links, and each
# distinct tag path once.
_PLAIN = [part.name for part in fields(Visit)][:27]
_plain = attrgetter(*_PLAIN)
_REAL = (float, int)
_PAGE_FIELDS: tuple[Any, ...] = (
    str, str, str, int, str, _REAL, int, _REAL, int, str, _REAL, _REAL, str, int, int, str, str, str, str, list, str,
    bytes, int, str, _REAL, str, dict, int, int, int, bool, list, list, list, list, list, list, bytes, dict, list,
)  # fmt: skip
_LINKS = 32  # index of the first link column in _PAGE_FIELDS


def pack_batch(batch: LinkBatch) -> bytes:
    """Encode pages without their words."""
    if batch.packed:
        return batch.packed
    number: dict[str, int] = {}
    pages = []
    for page in batch.pages:
        links = page.visit.links
        place = page.number, page.depth, page.hops, page.seed, page.sums
        number_of = [number.setdefault(path, len(number)) for path in links.paths]
        pages.append((*_plain(page.visit), *place, *_columns(links), number_of))
    return pack((batch.sender, list(number), pages))


def unpack_batch(blob: bytes) -> LinkBatch:
    values: Any = unpack(blob)
    if not isinstance(values, list) or list(map(type, values)) != [int, list, list] or not values[2]:
        raise ValueError("the record is not a link batch")
    sender, paths, pages = values
    return LinkBatch([_unpack_page(sender, page, paths) for page in pages], blob)


def _unpack_page(sender: int, values: Any, paths: list[str]) -> InboundLinks:
    types = _PAGE_FIELDS
    if not isinstance(values, list) or len(values) != len(types) or not all(map(isinstance, values, types)):
        raise ValueError("the record is not a page of a link batch")
    check_names(values[1], values[2])
    if not set(map(type, values[19])) <= {str}:
        raise ValueError("flags of a visit must be texts")
    number, depth, hops, seed, sums = values[27:_LINKS]
    parts: list[Any] = [*values[:27], Terms(), _links(values[_LINKS:-1], paths, values[-1])]
    visit = Visit(*parts)
    return InboundLinks(sender, number, visit, depth, hops, seed, sums)


def check_names(kind: str, outcome: str) -> None:
    if kind not in KINDS or outcome not in OUTCOMES:
        raise ValueError(f"unknown visit kind {kind[:40]!a} or outcome {outcome[:40]!a}")


_ARRAY = 1
_DTYPE = re.compile(r"[<>|=][?bBiufcSUV]\d{0,4}", re.ASCII)


def _pack_array(value: Any) -> Any:
    """Pack a NumPy array as an extension type and a NumPy scalar as a plain value."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return msgpack.ExtType(_ARRAY, msgpack.packb((value.dtype.str, value.shape, value.tobytes())))
    raise TypeError(f"a log cannot hold a {type(value).__name__}, only plain values, bytes and arrays")


def _unpack_array(code: int, blob: bytes) -> Any:
    if code != _ARRAY:
        raise ValueError(f"unknown extension type {code}")
    dtype, shape, values = msgpack.unpackb(blob)
    # Checked, since NumPy evaluates some dtype strings with Python's parser.
    if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
        raise ValueError(f"unsupported array dtype {str(dtype)[:40]!a}")
    return np.frombuffer(values, dtype).reshape(shape)


def _deltas(ids: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> bytes:
    """Encode sorted ids as differences, which compress better."""
    if not len(ids):
        return b""
    deltas = np.empty_like(ids)
    deltas[0] = ids[0]
    np.subtract(ids[1:], ids[:-1], out=deltas[1:])
    return deltas.tobytes()
