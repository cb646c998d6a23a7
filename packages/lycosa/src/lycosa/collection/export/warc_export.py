"""Export as WARC 1.1: the records of the exported pages, copied byte for byte.

A revisit record stays one if the record with its body is exported too; otherwise it becomes a response with the body.
Unless only current versions are exported, all versions of a page are copied, and revisits without changes too: a "not
modified" record needs the version that it refers to and is dropped if that is not archived. The warcinfo record of each
source file is copied, since its records refer to it. Requests follow their responses; page assets (`--page-assets`)
come last. robots.txt, redirects and failures are not exported.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO

from zlib_ng import zlib_ng as zlib

from lycosa.collection.export.cleaning import one_line
from lycosa.collection.export.selection import Selection, WriteResult
from lycosa.core.types import ArchivePlace, Visit
from lycosa.drawing.formats import many
from lycosa.store import cdxj
from lycosa.store.cdxj import format_digest, media_type
from lycosa.store.warc import http_head, read_record, warcinfo
from lycosa.version import SOFTWARE

_REVISIT_FIELDS = re.compile(rb"(?:WARC-Profile|WARC-Refers-To[\w-]*): [^\r\n]*\r\n")


@dataclass(slots=True)
class CopiedPage:
    """Copied page, and the position of its records in the new file."""

    visit: Visit
    offset: int
    length: int  # length of the response; the request follows it
    revisit: bool
    kind: str  # content type of the response
    entries: list[cdxj.CdxjEntry]  # for a rendered page: the DOM, the response, and requests of the browser


def write(pages: Selection, out: IO[bytes]) -> WriteResult:
    copied = 0
    for record in copy(pages, out.write, os.path.basename(str(getattr(out, "name", ""))).removesuffix(".part")):
        copied += record.visit.kind != "asset"
    return result_of(pages, copied)


def result_of(pages: Selection, copied: int) -> WriteResult:
    result = WriteResult(pages.archived)
    if missing := pages.total - pages.archived:
        result.remarks.append(f"left out: {many(missing, 'page')} without a record in the archive")
    if pages.versions:
        result.remarks.append(f"and {many(copied - result.pages, 'revisit')} without changes")
    return result


def copy(pages: Selection, put: Callable[[bytes], object], name: str) -> Iterator[CopiedPage]:
    """Copy the records with `put`; yield the position of each page."""
    offset = 0

    def add(record: bytes) -> int:
        nonlocal offset
        put(record)
        offset += len(record)
        return offset - len(record)

    subject = one_line(pages.collection.options.subject)
    options = pages.collection.options
    about = {"software": SOFTWARE, "operator": one_line(options.operator), "contact": one_line(options.contact)}
    about["description"] = f"pages of a crawl, topic: {subject}" if subject else ""
    add(warcinfo(one_line(name), about))
    archive, introduced = pages.collection.path / "archive", set[str]()
    for seq, visit in chain(pages.checked(), pages.page_assets()):
        place = visit.place
        if not place.file or (visit.status == 304 and not _confirmed_version_is_exported(pages, visit)):
            continue
        if place.file not in introduced:
            introduced.add(place.file)
            info, packed, _ = read_record(archive / place.file, ArchivePlace(place.file, 0, 65_536))
            if b"\r\nWARC-Type: warcinfo\r\n" in info:
                add(packed)
        record, response, request = read_record(archive / place.file, place)
        head, _, content = record.partition(b"\r\n\r\n")
        revisit = b"\r\nWARC-Type: revisit\r\n" in head
        if revisit and visit.status != 304 and not _original_is_exported(pages, seq, visit, head):
            exchange = pages.collection.exchange(visit)
            if exchange is not None and exchange.body:
                result_of = content.partition(b"\r\n\r\n")[0] or http_head(exchange).removesuffix(b"\r\n\r\n")
                response, revisit, content = _as_response(head, result_of, exchange.body), False, result_of
        at = add(response)
        add(request)
        entries = list(cdxj.entries_in(response + request, at, "")) if "rendered" in visit.flags else []
        yield CopiedPage(visit, at, len(response), revisit, _content_type(content), entries)


def _original_is_exported(pages: Selection, seq: int, visit: Visit, head: bytes) -> bool:
    """Return True if the record with the body of a revisit is exported."""
    match = re.search(rb"\r\nWARC-Refers-To-Target-URI: ([^\r\n]*)", head)
    if match is None:
        return False
    original = (match[1].decode("utf-8", "replace"), seq)
    for number, other in pages.log.numbered("url = ? AND warc_file != '' AND seq < ?", given=original):
        if other.digest == visit.digest:  # the first record with this digest has the body
            return pages.holds(number)
    return False


def _confirmed_version_is_exported(pages: Selection, visit: Visit) -> bool:
    """Return True if the version that a 304 response confirmed is exported."""
    return any(
        other.started == visit.follows and pages.holds(number)
        for number, other in pages.log.numbered("url = ? AND warc_file != ''", given=(visit.node,))
    )


def _as_response(head: bytes, http: bytes, body: bytes) -> bytes:
    """Turn a revisit record into a response record with the body."""
    block = http + b"\r\n\r\n" + body
    fields = _REVISIT_FIELDS.sub(b"", head + b"\r\n").replace(b"WARC-Type: revisit", b"WARC-Type: response")
    fields = re.sub(rb"(?<=\r\nContent-Length: )\d+", str(len(block)).encode(), fields)
    digest = format_digest(hashlib.sha256(block).digest()).encode()
    if b"\r\nWARC-Block-Digest: " not in fields:
        fields += b"Content-Type: application/http; msgtype=response\r\nWARC-Block-Digest: x\r\n"
    fields = re.sub(rb"(?<=\r\nWARC-Block-Digest: )[^\r\n]+", digest, fields)
    member = zlib.compressobj(6, zlib.DEFLATED, 31)
    return member.compress(fields + b"\r\n" + block + b"\r\n\r\n") + member.flush()


def _content_type(content: bytes) -> str:
    head = content.partition(b"\r\n\r\n")[0]
    match = re.search(rb"\r\ncontent-type:([^\r\n]*)", head, re.IGNORECASE)
    return media_type(match[1].decode("latin-1")) if match else ""
