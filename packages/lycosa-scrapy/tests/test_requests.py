"""Requests as stored data."""

import datetime
from decimal import Decimal
from typing import Any

import msgpack
import pytest
import scrapy
from scrapy import Request

from lycosa_scrapy.requests import NotStorable, RequestSerializer, address, hint_of, node_of, number_of


class Item(scrapy.Item):
    name = scrapy.Field()


class Walker(scrapy.Spider):
    name = "walker"

    def parse(self, response: Any, **more: Any) -> None:
        pass


@pytest.fixture
def serializer() -> RequestSerializer:
    return RequestSerializer(Walker())


def restored(serializer: RequestSerializer, request: Request) -> Request:
    return serializer.make(serializer.keep(request), request.url)


def test_serializer_restores_attributes(serializer: RequestSerializer) -> None:
    meta = {
        "tuple": (1, {"x"}), "large": 2**70, "day": datetime.date(2026, 1, 2), "span": datetime.timedelta(1, 2, 3),
        "moment": datetime.datetime(2026, 1, 2, 3), "price": Decimal("1.10"), "item": Item(name="reef"),
    }  # fmt: skip
    request = Request(
        "http://a.example/", serializer.spider.parse, "POST", {"X-A": ["1", "2"]}, b"\0", {"c": "1"}, meta,
        priority=3, dont_filter=True, flags=["f"], cb_kwargs={"n": 1},
    )  # fmt: skip
    again = restored(serializer, request)
    assert again.to_dict(spider=serializer.spider) == request.to_dict(spider=serializer.spider)
    assert isinstance(again.meta["item"], Item)


def test_serializer_keeps_request_class(serializer: RequestSerializer) -> None:
    request = scrapy.http.JsonRequest("http://a.example/", data={"a": [1]})
    assert type(restored(serializer, request)) is scrapy.http.JsonRequest


def test_serializer_omits_relevance_and_defaults(serializer: RequestSerializer) -> None:
    request = Request("http://a.example/", meta={"relevance": 0.5, "x": 1})
    assert msgpack.unpackb(serializer.keep(request)) == {"meta": {"x": 1}}
    assert msgpack.unpackb(serializer.keep(Request("http://a.example/"))) == {}


@pytest.mark.parametrize(
    "more", [{"callback": lambda response: None}, {"meta": {"file": object()}}, {"body": b"x" * 4_000_001}]
)
def test_serializer_raises_for_other_values(serializer: RequestSerializer, more: dict[str, Any]) -> None:
    with pytest.raises(NotStorable):
        serializer.keep(Request("http://a.example/", **more))


@pytest.mark.parametrize("values", [{"callback": "removed"}, {"_class": "os.system"}, {"_class": "no.such.Request"}])
def test_make_raises_for_unknown_names(serializer: RequestSerializer, values: dict[str, str]) -> None:
    with pytest.raises(NotStorable):
        serializer.make(msgpack.packb(values), "http://a.example/")


def test_node_of_distinguishes_method_and_body() -> None:
    url = "http://a.example/?b=2&a=1"
    nodes = {node_of(Request(url, method=method, body=body)) for method in ("GET", "POST") for body in (b"", b"x")}
    assert len(nodes) == 4
    assert "http://a.example/?a=1&b=2" in nodes
    assert "#" in node_of(Request(url, meta={"verbatim_url": True}))


def test_request_url_sorts_parameters() -> None:
    assert address("http://a.example/?b=2&a=1#x") == "http://a.example/?a=1&b=2"
    assert address("mailto:ann@a.example") is None


def test_number_of_accepts_numbers_and_bools() -> None:
    assert [number_of(value) for value in (True, 0, 0.5, 1.5, -1, "1", None)] == [1.0, 0.0, 0.5, None, None, None, None]
    assert hint_of(Request("http://a.example/", meta={"relevance": 0.25})) == 0.25
    assert hint_of(Request("http://a.example/")) == 0.0
