"""Scrapy's requests in the log: plain msgpack data, never pickle.

Stored are all attributes of Scrapy's `to_dict`: callback and errback (methods of the spider, by name), method, headers,
body, cookies, meta, cb_kwargs, encoding, priority, flags, dont_filter, and those of a subclass. Values may be msgpack
types, tuples, sets, dates, decimals, and items (`scrapy.Item`, dataclasses) of imported modules. A request with other
values, such as a lambda as callback or an open file in meta, is kept in memory only, as with Scrapy's own JOBDIR.
"""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import msgpack
from itemadapter import ItemAdapter
from scrapy import Item, Request, Spider
from scrapy.utils.request import fingerprint
from w3lib.url import canonicalize_url

from lycosa.web.urls import canonical
from lycosa_scrapy.space import RELEVANCE

MAX_REQUEST_BYTES = 4_000_000  # maximum size of a stored request
_DEFAULTS: dict[str, Any] = {
    "method": "GET", "body": b"", "cookies": {}, "meta": {}, "encoding": "utf-8", "priority": 0, "dont_filter": False,
    "flags": [], "cb_kwargs": {}, "headers": {}, "callback": None, "errback": None,
}  # fmt: skip

_TUPLE, _SET, _FROZENSET, _MOMENT, _DATE, _SPAN, _DECIMAL, _ITEM, _LARGE = range(1, 10)


class NotStorable(Exception):
    """Raised if a request cannot be stored; the message gives the reason."""


class RequestSerializer:
    """Serialiser for the requests of one spider."""

    def __init__(self, spider: Spider) -> None:
        self.spider = spider
        functions = [(name, getattr(type(spider), name, None)) for name in dir(type(spider))]
        self._names: dict[Any, str] = {function: name for name, function in functions if inspect.isfunction(function)}

    def keep(self, request: Request) -> bytes:
        """Serialise a request without its URL."""
        values: dict[str, Any] = {}
        for name in type(request).attributes:
            value: Any = getattr(request, name, None)
            if name in ("callback", "errback"):
                value = self._name(name, value)
            elif name == "headers":
                value = dict(request.headers)
            elif name == "meta" and RELEVANCE in value:  # relevance of the link, stored separately in the log
                value = {key: item for key, item in value.items() if key != RELEVANCE}
            if name != "url" and value != _DEFAULTS.get(name):
                values[name] = value
        if type(request) is not Request:
            values["_class"] = f"{type(request).__module__}.{type(request).__qualname__}"
        return _packed(values)

    def make(self, form: bytes, url: str) -> Request:
        """Restore a request from its serialised form and URL."""
        values: Any = msgpack.unpackb(form, ext_hook=_unpacked, strict_map_key=False)
        kind = _class(values.pop("_class"), Request) if "_class" in values else Request
        for name in ("callback", "errback"):
            if values.get(name):
                method = getattr(self.spider, str(values[name]), None)
                if not callable(method):
                    raise NotStorable(f"the spider {self.spider.name} no longer has a method {values[name]!r}")
                values[name] = method
        return kind(url, **{name: value for name, value in values.items() if name in kind.attributes and name != "url"})

    def _name(self, attribute: str, function: Callable[..., Any] | str | None) -> str | None:
        if function is None or isinstance(function, str):
            return function
        if getattr(function, "__self__", None) is self.spider:
            name = self._names.get(getattr(function, "__func__", None), getattr(function, "__name__", ""))
            if getattr(self.spider, name, None) == function:
                return name
        raise NotStorable(
            f"its {attribute} {getattr(function, '__qualname__', function)!r} is not a method of the spider"
        )


def _packed(value: Any) -> bytes:
    try:
        packed: bytes = msgpack.packb(value, default=_plain, strict_types=True, unicode_errors="surrogatepass")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotStorable(str(error)) from error
    if len(packed) > MAX_REQUEST_BYTES:
        raise NotStorable(f"it has {len(packed):,} bytes, more than {MAX_REQUEST_BYTES:,}")
    return packed


def _plain(value: Any) -> Any:
    for kind, code, plain in _KINDS:
        if type(value) is kind:
            return msgpack.ExtType(code, _packed(plain(value)))
    if isinstance(value, Item) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        return msgpack.ExtType(_ITEM, _packed([name, dict(ItemAdapter(value))]))
    raise TypeError(f"a {type(value).__qualname__} cannot be stored")


_KINDS: tuple[tuple[type, int, Callable[[Any], Any]], ...] = (
    (tuple, _TUPLE, list),
    (set, _SET, list),
    (frozenset, _FROZENSET, list),
    (datetime.datetime, _MOMENT, datetime.datetime.isoformat),
    (datetime.date, _DATE, datetime.date.isoformat),
    (datetime.timedelta, _SPAN, lambda span: [span.days, span.seconds, span.microseconds]),
    (Decimal, _DECIMAL, str),
    (int, _LARGE, str),
)

_MAKERS: dict[int, Callable[[Any], Any]] = {
    _TUPLE: tuple,
    _SET: set,
    _FROZENSET: frozenset,
    _MOMENT: datetime.datetime.fromisoformat,
    _DATE: datetime.date.fromisoformat,
    _SPAN: lambda parts: datetime.timedelta(*parts),
    _DECIMAL: Decimal,
    _LARGE: int,
    _ITEM: lambda values: _class(values[0], object)(**values[1]),
}


def _unpacked(code: int, packed: bytes) -> Any:
    try:
        return _MAKERS[code](msgpack.unpackb(packed, ext_hook=_unpacked, strict_map_key=False))
    except (KeyError, TypeError, ValueError, InvalidOperation) as error:
        raise NotStorable(f"a value cannot be restored: {error}") from error


def _class(name: str, kind: type) -> Any:
    """Return a class by name, but only from imported modules, because a log may be untrusted."""
    module, _, rest = name.rpartition(".")
    found: Any = getattr(sys.modules.get(module), rest, None)
    fits = isinstance(found, type) and (issubclass(found, Request if kind is Request else Item))
    if not fits and not (kind is not Request and dataclasses.is_dataclass(found)):
        raise NotStorable(f"{name} is not a request or item class of an imported module")
    return found


def node_of(request: Request) -> str:
    """Return the node of a request: its canonical URL, plus a fingerprint as fragment unless it is a plain GET.

    >>> node_of(Request("http://a.example/?b=2&a=1#top"))
    'http://a.example/?a=1&b=2'
    """
    if request.method == "GET" and not request.body and "verbatim_url" not in request.meta:
        node = address(request.url)
        if node is not None:
            return node
    print_of = fingerprint(request).hex()[:16]
    return f"{request.url.partition('#')[0][:1000]}#{request.method.lower()}-{print_of}"


@lru_cache(maxsize=20_000)
def address(url: str) -> str | None:
    """Return the canonical form of a URL with sorted parameters, like Scrapy's filter; None if it is invalid.

    Cached because the pages of a site share most of their links.
    """
    plain = canonical(url)
    return plain if plain is None or "&" not in plain else canonical(canonicalize_url(plain))


def hint_of(request: Request) -> float:
    """Return the relevance of a link set by the spider as `relevance` in the meta of its request, or 0."""
    return number_of(request.meta.get(RELEVANCE)) or 0.0


def number_of(value: Any) -> float | None:
    """Parse a relevance set by the spider: a number or a bool; None for other values."""
    if isinstance(value, bool | int | float) and 0.0 <= value <= 1.0:
        return float(value)
    return None
