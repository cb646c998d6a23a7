"""Serialization of events: columnar msgpack, zstd level 1.

The round trip is exact, `decode(encode(event)) == event` to the last bit, because a resumed crawl learns from decoded
events and a running one from the originals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from typing import Any, get_args

import msgpack
import numpy as np

from lycosa import zstd
from lycosa.core.types import (
    ArchivePlace,
    Event,
    InboundLinks,
    Kind,
    Label,
    LinkBatch,
    Links,
    ModelUpdate,
    Outcome,
    Seed,
    Setting,
    Terms,
    Visit,
)

VERSION = 5  # format version of the log; logs of other versions are refused
# Raised when decoding bytes that are not an event.
DECODE_ERRORS = (
    ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, MemoryError,
    msgpack.UnpackException, zstd.ZstdError,
)  # fmt: skip
KINDS, OUTCOMES = frozenset(get_args(Kind)), frozenset(get_args(Outcome))

_MAX_EVENT_BYTES = 256 * 2**20  # limit of the decompressed size; a page has at most some megabytes of links and words
_PLAIN = [part.name for part in fields(Visit)][:27]
_plain = attrgetter(*_PLAIN)  # fields of a visit that are stored unchanged, in order
_STRICT: dict[str, Any] = {"unicode_errors": "surrogatepass", "strict_map_key": False}


def encode_visit(visit: Visit, level: int = 1) -> bytes:
    """Encode a visit without its place in the archive, which has columns of its own."""
    links, terms = visit.links, visit.terms
    packed: bytes = msgpack.packb(
        (
            *_plain(visit),
            _deltas(terms.ids),
            terms.counts.tobytes(),
            terms.new,
            *_columns(links),
            terms.marks.tobytes(),
            *pack_paths(links.paths),
        ),
        unicode_errors="surrogatepass",
    )
    return zstd.compress(packed, level)


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


def decode_visit(blob: bytes, place: ArchivePlace) -> Visit:
    values: list[Any] = msgpack.unpackb(zstd.decompress(blob, _MAX_EVENT_BYTES), **_STRICT)
    _check(values)
    ids, counts, new = values[27:30]
    urls, anchors, contexts, rels, positions, link_relevances = values[30:36]
    facets = {name: np.frombuffer(column, np.float32) for name, column in values[36].items()}
    marks = np.frombuffer(values[37], np.uint8)
    terms = Terms(
        np.cumsum(np.frombuffer(ids, np.uint32), dtype=np.uint32), np.frombuffer(counts, np.uint16), new, marks
    )
    paths = unpack_paths(values[38], values[39])
    links = Links(urls, anchors, contexts, rels, positions, np.frombuffer(link_relevances, np.float32), facets, paths)
    if len(terms.counts) != len(terms.ids) or len(marks) not in (0, len(terms.ids)):
        raise ValueError(f"the visit has {len(terms.ids)} words, but {len(terms.counts)} counts and {len(marks)} marks")
    _check_links(links)
    parts: list[Any] = [*values[:27], terms, links, place]
    return Visit(*parts)


def _check_links(links: Links) -> None:
    count = len(links.urls)
    is_complete = len(links.anchors) == len(links.contexts) == len(links.rels) == len(links.positions) == count
    lengths = {len(links.link_relevances), len(links.paths), *map(len, links.facets.values())}
    if not is_complete or not lengths <= {0, count}:  # empty if the links were not judged
        raise ValueError(f"the link columns of the visit have different lengths: expected {count} values each")


_REAL = (float, int)
# Types of a visit's fields.
_VISIT_FIELDS: tuple[Any, ...] = (
    str, str, str, int, str, _REAL, int, _REAL, int, str, _REAL, _REAL, str, int, int, str, str, str, str, list, str,
    bytes, int, str, _REAL, str, dict, bytes, bytes, list, list, list, list, list, list, bytes, dict, bytes,
    list, list,
)  # fmt: skip


def _check(values: Any) -> None:
    if not isinstance(values, list) or len(values) != len(_VISIT_FIELDS):
        raise ValueError(f"the record is not a visit: expected a list of {len(_VISIT_FIELDS)} fields")
    for at, (value, kind) in enumerate(zip(values, _VISIT_FIELDS, strict=True)):
        if not isinstance(value, kind):
            expected = getattr(kind, "__name__", "float")
            raise ValueError(f"field {at} of the visit is a {type(value).__name__}: expected {expected}")
    _check_names(values[1], values[2])
    if not set(map(type, chain(values[19], *values[29:34]))) <= {str} or not set(map(type, values[34])) <= {int}:
        raise ValueError("words, links and flags of a visit must be texts, and positions integers")


def _check_names(kind: str, outcome: str) -> None:
    if kind not in KINDS or outcome not in OUTCOMES:
        raise ValueError(f"unknown visit kind {kind[:40]!a} or outcome {outcome[:40]!a}")


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


def encode_other(event: Seed | Label | Setting | ModelUpdate | InboundLinks | LinkBatch) -> bytes:
    if isinstance(event, InboundLinks | LinkBatch) and event.packed:
        return event.packed
    if isinstance(event, LinkBatch):
        return _encode_batch(event)
    values = [getattr(event, part.name) for part in fields(event)]
    if isinstance(event, InboundLinks):
        values[2] = encode_visit(event.visit)
        del values[-1]
    if isinstance(event, ModelUpdate):  # data may contain arrays
        return zstd.compress(msgpack.packb(values, default=_pack_array, unicode_errors="surrogatepass"))
    packed: bytes = msgpack.packb(values, unicode_errors="surrogatepass")
    return packed


def decode_other(kind: str, blob: bytes) -> Event:
    if kind == "link_batch":
        return _decode_batch(blob)
    if kind == "model_update":
        values = msgpack.unpackb(zstd.decompress(blob, _MAX_EVENT_BYTES), ext_hook=_unpack_array, **_STRICT)
    else:
        values = msgpack.unpackb(blob, **_STRICT)
    types = _OTHER_FIELDS[kind]
    if not isinstance(values, list) or len(values) != len(types) or not all(map(isinstance, values, types)):
        raise ValueError(f"the record is not a {kind}")
    if kind == "inbound_links":
        values[2] = decode_visit(values[2], ArchivePlace())
        inbound = InboundLinks(*values)
        inbound.packed = blob
        return inbound
    event: Event = _MAKERS[kind](*values)
    return event


def _encode_batch(batch: LinkBatch) -> bytes:
    """Encode pages without their words, and each distinct tag path once."""
    number: dict[str, int] = {}
    pages = []
    for page in batch.pages:
        links = page.visit.links
        pages.append(
            (
                *_plain(page.visit),
                page.number,
                page.depth,
                page.hops,
                page.seed,
                page.sums,
                *_columns(links),
                [number.setdefault(path, len(number)) for path in links.paths],
            )
        )
    return zstd.compress(msgpack.packb((batch.sender, list(number), pages), unicode_errors="surrogatepass"))


# Types of a batch page's fields.
_PAGE_FIELDS: tuple[Any, ...] = (
    *_VISIT_FIELDS[:27], int, int, int, bool, list, list, list, list, list, list, bytes, dict, list,
)  # fmt: skip
_LINKS = 32  # index of the first link column in _PAGE_FIELDS


def _decode_batch(blob: bytes) -> LinkBatch:
    values: Any = msgpack.unpackb(zstd.decompress(blob, _MAX_EVENT_BYTES), **_STRICT)
    if not isinstance(values, list) or list(map(type, values)) != [int, list, list] or not values[2]:
        raise ValueError("the record is not a link batch")
    sender, paths, pages = values
    for page in pages:
        _check_page(page)
    texts = chain(paths, *(column for page in pages for column in (page[19], *page[_LINKS : _LINKS + 4])))
    numbers = list(chain.from_iterable(page[-1] for page in pages))
    if not set(map(type, texts)) <= {str} or not set(
        map(type, chain(numbers, *(page[_LINKS + 4] for page in pages)))
    ) <= {int}:
        raise ValueError("links, paths and flags of a batch must be texts, and positions integers")
    if numbers and not 0 <= min(numbers) <= max(numbers) < len(paths):
        raise ValueError(f"a link has a tag path number outside 0 to {len(paths) - 1}")
    return LinkBatch([_decode_page(sender, page, paths) for page in pages], blob)


def _check_page(values: Any) -> None:
    types = _PAGE_FIELDS
    if not isinstance(values, list) or len(values) != len(types) or not all(map(isinstance, values, types)):
        raise ValueError("the record is not a page of a link batch")
    _check_names(values[1], values[2])


def _decode_page(sender: int, values: list[Any], paths: list[str]) -> InboundLinks:
    number, depth, hops, seed, sums, urls, anchors, contexts, rels, positions, link_relevances, facets, of = values[27:]
    links = Links(
        urls, anchors, contexts, rels, positions, np.frombuffer(link_relevances, np.float32),
        {name: np.frombuffer(column, np.float32) for name, column in facets.items()},
        [paths[at] for at in of],
    )  # fmt: skip
    _check_links(links)
    parts: list[Any] = [*values[:27], _WORDLESS, links]
    return InboundLinks(sender, number, Visit(*parts), depth, hops, seed, sums)


_WORDLESS = Terms()

# Types of the fields of other events.
_OTHER_FIELDS: dict[str, tuple[Any, ...]] = {
    "seed": (str, _REAL, str, dict),
    "label": (str, bool | None, _REAL, str),
    "setting": (str, object, _REAL),
    "model_update": (str, dict, _REAL),
    "inbound_links": (int, int, bytes, int, int, bool, list),
}

EVENT_KINDS: dict[type, str] = {
    Seed: "seed", Label: "label", Setting: "setting", ModelUpdate: "model_update",
    InboundLinks: "inbound_links", LinkBatch: "link_batch",
}  # fmt: skip

_MAKERS: dict[str, Any] = {
    "seed": Seed, "label": Label, "setting": Setting, "model_update": ModelUpdate, "inbound_links": InboundLinks,
}  # fmt: skip


_ARRAY = 1
_DTYPE = re.compile(r"[<>|=][?bBiufcSUV]\d{0,4}", re.ASCII)


def _pack_array(value: Any) -> Any:
    """Pack a NumPy array as an extension type and a NumPy scalar as a plain value."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return msgpack.ExtType(_ARRAY, msgpack.packb((value.dtype.str, value.shape, value.tobytes())))
    raise TypeError(f"a model update cannot hold a {type(value).__name__}, only plain values, bytes and arrays")


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
