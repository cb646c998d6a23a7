"""WARC files as a corpus, whoever wrote them: a crawl of ours, Common Crawl, a browser's WACZ.

What can't be read is stepped over and counted: records that are damaged, cut off at the end of a file, of another kind
than pages, with statuses that no page has.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell
from lycosa.lab.indexing import Account, Recorded
from lycosa.replay.captures import RESPONSE
from lycosa.replay.recording import Archive, Recording, Spot
from lycosa.replay.records import Answer, ArchiveIterator, Damaged
from lycosa.replay.scanning import dictionary
from lycosa.spaces.web import TEXT
from lycosa.training.looking import page_in
from lycosa.web.html import HTML
from lycosa.web.inflate import BadEncoding
from lycosa.web.urls import canonical, is_http, resolve

LARGEST_GAP = 64_000_000
"""Bytes between two captures that are looked through for what lies there."""

DAMAGED, TORN = "damaged records", "records cut off at the end of a file"

Keep = Callable[[str], bool]
"""Whether a page of this address is wanted."""


def archive(paths: Sequence[Path], account: Account, keep: Keep, tell: Tell = lambda *_: None) -> Iterator[Recorded]:
    """The pages and redirects of WARC files and directories of them, in the order of the files."""
    with Recording(
        paths, tell=lambda path, at, _: tell(f"looking through {path.name}", at, path.stat().st_size)
    ) as found:
        account.notes += [note for note in found.notes if note.startswith("left out")]
        for held in found.archives:
            account.expected += len(held.index)
        for held in found.archives:
            _state_rest(held, account)
            for row in np.argsort(held.index.columns["offset"], kind="stable").tolist():
                account.read += 1
                try:
                    answer = held.read(row)
                    if answer.revisit:
                        answer = found.answer(answer.url, [Spot(held, row)]) or answer
                except Damaged:
                    account.left_out[DAMAGED] += 1
                    continue
                recorded = recorded_of(answer, account, keep)
                if recorded is not None:
                    yield recorded


def recorded_of(answer: Answer, account: Account, keep: Keep) -> Recorded | None:
    """A recorded answer as a page or a redirect; None, and counted, where it is neither."""
    url = canonical(answer.url)
    if url is None:
        account.left_out["with an address that no crawl would follow"] += 1
        return None
    if not keep(url):
        return None
    if 300 <= answer.status < 400:
        target = resolve(url, [answer.header(b"location")])[0] if answer.header(b"location") else None
        if target is not None:
            return Recorded(url, target=target)
    if not 200 <= answer.status < 300:
        account.left_out[f"recorded with status {answer.status}"] += 1
        return None
    kind = answer.header(b"content-type")
    if kind.partition(";")[0].strip().lower() not in _KINDS:
        account.left_out["neither HTML nor text"] += 1
        return None
    if url.endswith("/robots.txt") and url.count("/") == 3:
        account.left_out["robots.txt"] += 1
        return None
    try:
        return Recorded(url, page_in(answer, url))
    except BadEncoding:
        account.left_out["with a body that can't be unpacked"] += 1
        return None


_KINDS = frozenset({""}) | HTML | TEXT


def _state_rest(held: Archive, account: Account) -> None:
    """Count what the file has beside captures: what is damaged, what has no web address, what is cut off."""
    columns, whole = held.index.columns, held.index.facts["end"]
    if not whole:  # a WACZ: other things lie in between, and a zip knows its own length
        return
    order = np.argsort(columns["offset"], kind="stable")
    starts = [*columns["offset"][order].tolist(), whole]
    ends = [0, *(columns["offset"] + columns["length"])[order].tolist()]
    try:
        with open(held.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            before = dictionary(file.fileno(), 0)
            for begin, end in zip(ends, starts, strict=True):
                if end > begin:
                    prefix = before if begin else b""
                    gap = os.pread(file.fileno(), min(end - begin, LARGEST_GAP), begin)
                    _look_through(prefix + gap, account)
    except OSError as error:
        raise InputError(f"cannot read {held.path}: {error.strerror or error}") from error
    if size > whole:
        account.left_out[TORN] += 1
        account.notes.append(f"{held.path.name}: its last {size - whole:,} bytes are no whole record")


def _look_through(data: bytes, account: Account) -> None:
    records = 0
    try:
        for record in ArchiveIterator(io.BytesIO(data), parse_http=False):
            records += 1
            url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
            if int(record.record_type) == RESPONSE:
                web = is_http(url)
                account.left_out["answers to no GET" if web else "with an address that is not of the web"] += 1
    except (OSError, ValueError):
        account.left_out[DAMAGED] += 1
        return
    if not records and data.strip():
        account.left_out[DAMAGED] += 1
