"""Seed files: whatever a person has that lists addresses."""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.web.html import extract
from lycosa.web.sources import MOST_BYTES, decode, read_source, unpack
from lycosa.web.sources.lists import read_list, seed_lines, starts_with_link
from lycosa.web.sources.source import Source
from lycosa.web.urls import host

_NOWHERE = "http://nowhere.invalid/"


def read_seed_file(path: Path) -> Source:
    """Read a file of seeds in any form that `read_source` knows, a saved web page, or a plain list.

    A plain list (one URL a line, `#` for comments) is given back as written, in `lines`: a person may have typed bare
    host names, and a line that is no address is worth an error.
    """
    return read_seeds(_body(path), path)


def read_seeds(body: bytes, path: Path | str) -> Source:
    """The same of the bytes of a file; its name is for messages."""
    source = _read(path, body)
    if not (source.lines or source.nested or len(source.links)):
        left = f" ({source.skipped} entries are {', '.join(source.left_out)})" if source.skipped else ""
        told = f", but is {source.note}" if source.note else ""
        raise InputError(f"{path} names no seeds{left}{told}: write one URL a line")
    return source


def read_lines(path: Path) -> list[str]:
    """The lines of a file of seeds that are no addresses but nodes of another space; `#` for comments."""
    lines = _plain(path, _body(path))
    if not lines:
        raise InputError(f"{path} names no seeds: write one a line")
    return lines


def _body(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read the seeds in {path}: {error.strerror}") from error


def _read(path: Path | str, body: bytes) -> Source:
    body, note = unpack(body)
    text = decode(body)
    head = text.lstrip()[:1]
    if head in ("<", "{") or "<?xml" in text[:1_000]:
        source = read_source(body, "") or (_saved_page(body) if head == "<" else None)
        if source is None:
            raise InputError(f"{path} is nothing that lists seeds: write one URL a line, or export bookmarks or OPML")
    elif any(starts_with_link(line) for line in text.split("\n")):
        source = Source("list")
        read_list(text, source, markdown=True)
    else:
        source = Source("list", lines=_plain(path, body))
    source.note = source.note or note
    return source


def _plain(path: Path | str, body: bytes) -> list[str]:
    try:
        text = body.decode("utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"the seeds in {path} are not text: expected one URL a line") from error
    return seed_lines(text)


def _saved_page(body: bytes) -> Source:
    """The links of a web page that someone saved; relative ones lead nowhere."""
    page = extract(body, _NOWHERE)
    source = Source("html page", title=page.title)
    for url, anchor, context in zip(page.links.urls, page.links.anchors, page.links.contexts, strict=True):
        source.add("" if host(url) == host(_NOWHERE) else url, anchor, context)
    return source
