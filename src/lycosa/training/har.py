"""HAR files (HTTP Archive 1.2), as browsers' developer tools save them: the pages that someone opened, as visits."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lycosa.collection.reading import INFLATED
from lycosa.replay.trail import Trail
from lycosa.web.decoding import charset_of, decode

_LOAD = re.compile(r"page_\d+")
_PAGES = ("text/html", "application/xhtml+xml", "text/plain")


def is_har(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("log"), dict) and isinstance(data["log"].get("entries"), list)


def visits(data: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The pages among its requests, in the form of a record's lines, each with its number from 1.

    A page is an answer of HTML or text (200, or 304 where the browser had it) to a GET for a document, not for a frame.
    What a request was for its Sec-Fetch-Dest says; where that is not sent (without TLS it is not), the first document
    of each page load of Chromium or Firefox counts (`page_1`, ...), as the others are its frames. What the file does
    not say, does not count against an entry.

    >>> asked = {"method": "GET", "url": "http://b.example/", "headers": [{"name": "Referer", "value": "http://a.example/"}]}
    >>> got = {"status": 200, "content": {"mimeType": "text/html; charset=utf-8", "text": "<p>Reefs"}}
    >>> for _, visit in visits({"log": {"entries": [{"request": asked, "response": got}]}}):
    ...     print(visit)
    {'url': 'http://b.example/', 'referrer': 'http://a.example/', 'time': None, 'html': '<p>Reefs'}
    """
    trail, opened = Trail(), set[str]()
    for number, entry in enumerate(data["log"]["entries"], 1):
        if not isinstance(entry, dict):
            continue
        asked, got = _part(entry, "request"), _part(entry, "response")
        kind = str(_part(got, "content").get("mimeType", "")).lower()
        if not _is_document(entry, asked, got, kind):
            continue
        url, headers, load = str(asked.get("url", "")), _headers(asked), str(entry.get("pageref", ""))
        if load in opened and "sec-fetch-dest" not in headers and _LOAD.fullmatch(load):
            continue
        opened.add(load)
        referrer = trail.step(url, headers.get("referer", ""))
        visit = {"url": url, "referrer": referrer, "time": entry.get("startedDateTime")}
        if text := _text(_part(got, "content"), kind):
            visit["text" if kind.startswith("text/plain") else "html"] = text
        yield number, visit


def _is_document(entry: Mapping[str, Any], asked: Mapping[str, Any], got: Mapping[str, Any], kind: str) -> bool:
    meant = _headers(asked).get("sec-fetch-dest") or entry.get("_resourceType") or "document"
    answered = asked.get("method") == "GET" and got.get("status") in (200, 304)
    return answered and kind.startswith(_PAGES) and meant == "document"


def _text(content: Mapping[str, Any], kind: str) -> str:
    """What a page says; empty if the file has not kept it, or not whole."""
    text = content.get("text")
    if not isinstance(text, str):
        return ""
    if content.get("encoding") != "base64":
        return text[:INFLATED]
    try:
        return decode(base64.b64decode(text[: INFLATED // 3 * 4], validate=True), charset_of(kind))
    except (binascii.Error, ValueError):
        return ""


def _headers(asked: Mapping[str, Any]) -> dict[str, str]:
    headers = asked.get("headers")
    pairs = [each for each in headers if isinstance(each, dict)] if isinstance(headers, list) else []
    return {str(each.get("name", "")).lower(): str(each.get("value", "")) for each in pairs}


def _part(whole: Any, name: str) -> Mapping[str, Any]:
    part = whole.get(name) if isinstance(whole, dict) else None
    return part if isinstance(part, dict) else {}
