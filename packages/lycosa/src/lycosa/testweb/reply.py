"""Turn a document into a response: content coding, validators and conditional requests."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

import brotli

from lycosa import zstd

CODECS = ("gzip", "br", "zstd", "deflate")


@dataclass(frozen=True, slots=True)
class ServedDocument:
    """The content of a URL, independent of a request's headers."""

    body: bytes
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    codec: str = "gzip"  # preferred coding; "" for none
    tag: str = ""  # validator without quotes; "" for none
    modified: int = 0  # seconds since the epoch; 0 for no Last-Modified
    delay: float = 0.0
    cut: int | None = None
    chunked: bool = False
    weak: bool = False  # true if the validator is weak


ALLOW_ALL = ServedDocument(b"User-agent: *\nAllow: /\n", "text/plain; charset=utf-8", codec="")


@dataclass(frozen=True, slots=True)
class ServedResponse:
    """A response, and how the server misbehaves while sending it.

    `body` has its content coding applied but no transfer coding. The server waits `delay` seconds before the first
    byte. With `cut` it closes the connection after so many bytes of the body, with a negative `cut` before any byte;
    with `chunked` it sends the body in chunks.
    """

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    delay: float = 0.0
    cut: int | None = None
    chunked: bool = False

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def compress(body: bytes, codec: str) -> bytes:
    """Apply a content coding, optimised for speed."""
    if codec == "gzip":
        return gzip.compress(body, 1, mtime=0)
    if codec == "br":
        return bytes(brotli.compress(body, quality=1))
    if codec == "zstd":
        return zstd.compress(body)
    if codec == "deflate":
        return zlib.compress(body, 1)
    return body


def _accepted(offer: str) -> set[str]:
    result = set()
    for part in offer.split(","):
        name, _, quality = part.partition(";")
        if quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            result.add(name.strip().lower())
    return result


def _unchanged(document: ServedDocument, headers: Mapping[str, str]) -> bool:
    """Return whether a conditional request gets a 304; If-None-Match takes precedence over If-Modified-Since."""
    matches = headers.get("if-none-match")
    if matches is not None:
        tags = [tag.strip().removeprefix("W/").strip('"').split("-")[0] for tag in matches.split(",")]
        return bool(document.tag) and (document.tag in tags or matches.strip() == "*")
    since = headers.get("if-modified-since")
    if since is None or not document.modified:
        return False
    try:
        return document.modified <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False


def finish(document: ServedDocument, headers: Mapping[str, str]) -> ServedResponse:
    """Respond to a request with a document; header names are case-insensitive."""
    request_headers = {key.lower(): value for key, value in headers.items()}
    codec = document.codec if document.status == 200 else ""
    if codec:
        accepted = _accepted(request_headers.get("accept-encoding", ""))
        if codec not in accepted and "*" not in accepted:
            codec = "gzip" if "gzip" in accepted else ""
    out: list[tuple[str, str]] = []
    if document.tag:
        tag = f'"{document.tag}-{codec}"' if codec else f'"{document.tag}"'
        out.append(("ETag", f"W/{tag}" if document.weak else tag))
    if document.modified:
        out.append(("Last-Modified", formatdate(document.modified, usegmt=True)))
    if document.status == 200 and _unchanged(document, request_headers):
        return ServedResponse(304, out + list(document.headers), b"", document.delay)
    if document.type:
        out.append(("Content-Type", document.type))
    if codec:
        out.append(("Content-Encoding", codec))
    if document.codec:
        out.append(("Vary", "Accept-Encoding"))
    out.extend(document.headers)
    body = compress(document.body, codec)
    return ServedResponse(document.status, out, body, document.delay, document.cut, document.chunked)
