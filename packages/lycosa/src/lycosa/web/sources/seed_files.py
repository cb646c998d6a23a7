"""Seed files: URL lists, bookmarks, feeds, OPML, sitemaps and saved web pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.web.html import extract
from lycosa.web.sources import MAX_SOURCE_BYTES, decode, read_source, unpack
from lycosa.web.sources.lists import MAX_LINE, read_list, seed_lines, starts_with_link
from lycosa.web.sources.source import Source
from lycosa.web.urls import check_seed, host

MAX_QUOTED_LINES = 5  # skipped lines quoted in a message
_PLACEHOLDER_URL = "http://nowhere.invalid/"


def read_seed_file(path: Path) -> Source:
    """Read a seed file in any format that `read_source` knows, a saved web page, or a plain list.

    The lines of a plain list (one URL per line, `#` for comments) are returned as written in `lines`, since they may be
    bare host names. Invalid lines are skipped and quoted in the note; InputError if there are no valid ones.
    """
    return read_seeds(_read_file(path), path)


def read_seeds(body: bytes, path: Path | str) -> Source:
    """Read seeds from bytes; `path` is used in messages only."""
    source = _read(path, body)
    if not (source.lines or source.nested or len(source.links)):
        skipped = f" ({source.skipped} entries skipped: {', '.join(source.left_out)})" if source.skipped else ""
        remark = f", but is {source.note}" if source.note else ""
        raise InputError("no-seeds", f"{path} contains no seeds{skipped}{remark}: write one URL per line")
    return source


def read_lines(path: Path, check: Callable[[str], object | None], notes: list[str]) -> list[str]:
    """Read a plain list of seeds that are not URLs; lines that `check` maps to None are skipped and noted."""
    lines, _, remark = _read_plain(path, _read_file(path), check)
    if remark:
        notes.append(f"{path}: {remark}, skipped")
    if not lines:
        raise InputError("no-seeds", f"{path} contains no seeds: write one per line")
    return lines


def _read_file(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read the seeds in {path}: {error.strerror}") from error


def _read(path: Path | str, body: bytes) -> Source:
    body, note = unpack(body)
    text = decode(body)
    head = text.lstrip()[:1]
    if head in ("<", "{") or "<?xml" in text[:1_000]:
        source = read_source(body, "") or (_saved_page(body) if head == "<" else None)
        if source is None:
            raise InputError("bad-file", f"{path} is not a list of seeds: write one URL per line, or export OPML")
    elif any(starts_with_link(line) for line in text.split("\n")):
        source = Source("list")
        read_list(text, source, markdown=True)
    else:
        lines, bad, remark = _read_plain(path, body, check_seed)
        source = Source("list", lines=lines, note=remark)
        source.left_out.update({"not a web URL": bad} if bad else {})
    source.note = "; ".join(filter(None, (source.note, note)))
    return source


def _read_plain(path: Path | str, body: bytes, check: Callable[[str], object | None]) -> tuple[list[str], int, str]:
    """Return the valid lines, the number of invalid ones and a remark quoting them; InputError if all are invalid."""
    encoding = "utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    good: list[str] = []
    bad: list[tuple[int, str]] = []
    for number, line in seed_lines(body.decode(encoding, "replace")):
        if "\ufffd" not in line and len(line) <= MAX_LINE and _passes(line, check):
            good.append(line)
        else:
            bad.append((number, line))
    if not bad:
        return good, 0, ""
    if not good and all("\ufffd" in line for _, line in bad):
        raise InputError("bad-file", f"the seeds in {path} are not text: write one URL per line")
    more = f" and {len(bad) - MAX_QUOTED_LINES:,} more" if len(bad) > MAX_QUOTED_LINES else ""
    remark = f"{', '.join(f'line {number} ({_brief(line)})' for number, line in bad[:MAX_QUOTED_LINES])}{more}"
    if not good:
        hint = "write one per line, as https://example.org/page"
        raise InputError("no-seeds", f"{path} contains no seeds, {remark} can't be read: {hint}")
    return good, len(bad), f"{remark} can't be read"


def _passes(line: str, check: Callable[[str], object | None]) -> bool:
    try:
        return check(line) is not None
    except InputError:
        return False


def _brief(line: str) -> str:
    return ascii(line if len(line) <= 60 else f"{line[:57]}...")


def _saved_page(body: bytes) -> Source:
    page = extract(body, _PLACEHOLDER_URL)
    source = Source("html page", title=page.title)
    for url, anchor, context in zip(page.links.urls, page.links.anchors, page.links.contexts, strict=True):
        source.add("" if host(url) == host(_PLACEHOLDER_URL) else url, anchor, context)
    return source
