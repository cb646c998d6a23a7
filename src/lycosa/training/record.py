"""Browsing records: which pages someone visited, from which page, when, and which of them were relevant."""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import math
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.collection.reading import INFLATED
from lycosa.core.errors import InputError
from lycosa.core.files import read_whole
from lycosa.core.telling import Tell
from lycosa.core.types import Label, Page, Setting, Visit
from lycosa.replay.trail import Trail
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Corpus
from lycosa.training.sources import HTML, end_of, events_of, page_of, read_table
from lycosa.web.html import extract, plain
from lycosa.web.inflate import charset_of, decode
from lycosa.web.urls import canonical

MOST_RECORD = 2_000_000_000  # bytes of a record of lines, which may hold whole pages
MOST_LINE = 20_000_000
MOST_EXPORT = 200_000_000  # bytes of an export that is parsed as a whole: JSON or CSV
MOST_VISITS = 2_000_000
SHOWN = 5  # broken lines whose numbers are shown
YES = frozenset(("yes", "y", "true", "1", "relevant", "positive", "+"))
NO = frozenset(("no", "n", "false", "0", "irrelevant", "not relevant", "non-relevant", "negative", "-"))
UNSAID = frozenset(("", "null", "none", "?", "unknown", "unlabelled", "unlabeled"))

_URL = ("url", "uri", "address", "href", "link", "page_url")
_REFERRER = ("referrer", "referer", "from_url", "referring_url")
_TIME = ("time", "timestamp", "time_usec", "visit_time", "visittime", "last_visit_time", "lastvisittime", "visit_date",
         "visited", "datetime", "date")  # fmt: skip

_WEBKIT = 11_644_473_600  # seconds from 1601, the start of Chromium's clock, to 1970


class BadLine(Exception):
    """What is wrong with one entry."""


@dataclass(slots=True)
class Visited:
    """One visit: the page, what was said of it (None: nothing), where the visitor came from, when."""

    url: str
    relevant: bool | None = None
    referrer: str = ""
    time: float | None = None


@dataclass
class Record:
    """Visits in their order, and the words of pages as far as the record has them."""

    corpus: Corpus = field(default_factory=Corpus)
    visits: list[Visited] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)  # row of a page's words in the corpus
    labels: dict[str, bool] = field(default_factory=dict)  # labels given apart from visits
    steps: list[tuple[str, str]] | None = None  # links, where known; None: they follow from the visits
    complete: bool = False  # no more words to be had, and every page has a label

    @property
    def left_out(self) -> Counter[str]:
        return self.corpus.left_out

    @property
    def notes(self) -> list[str]:
        return self.corpus.notes

    def take(self, url: str, page: Page) -> None:
        """Keep the words of a page, if it has any."""
        if url not in self.row_of and self.corpus.add("", url, page):
            self.row_of[url] = len(self.corpus.pages) - 1

    def add(self, visit: Visited) -> None:
        if len(self.visits) >= MOST_VISITS:
            raise InputError(f"the record has more than {MOST_VISITS:,} visits: cut it into pieces")
        self.visits.append(visit)


def check_file(path: Path, what: str) -> None:
    """Refuse what can't be read as a file, before it is waited for."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"cannot read {what} {path}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{what} {path} is a directory: name a file")
    if not stat.S_ISREG(mode):
        raise InputError(f"{what} {path} is a pipe or a device: save it as a file first")


def read_record(path: Path, language: str = "en") -> Record:
    """The visits of a file of lines of JSON, of a JSON export, or of a table (CSV or TSV) with titles."""
    check_file(path, "the record")
    record = Record(Corpus(Vocabulary(language)))
    broken: list[int] = []
    entries = bad = 0
    first: Exception | None = None
    try:
        for number, entry in _entries(path):
            entries += 1
            try:
                _take(record, entry, path.parent)
            except BadLine as error:
                bad, first = bad + 1, first or error
                broken += [number] if len(broken) < SHOWN else []
    except OSError as error:
        raise InputError(f"cannot read the record {path}: {error.strerror}") from error
    _apply(record, record.labels)
    numbers = ", ".join(map(str, broken)) + (", ..." if bad > SHOWN else "")
    if not record.visits:
        why = f": all of its {entries:,} lines are broken, the first as {first}" if entries else " in it"
        raise InputError(
            f"{path} has no visits{why}. Write one page per line as JSON, for example "
            '{"url": "https://example.org/", "relevant": true, "referrer": null}'
        )
    if bad:
        record.left_out["broken lines"] += bad
        record.notes.append(f"{path.name}: broken lines are {numbers}; of the first {first}")
    return record


# -- forms of records ------------------------------------------------------------------------------------------


def _entries(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    """What each line or entry says, with its number from 1."""
    with open(path, "rb") as file:
        start = file.read(65536)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start:
        raise InputError(f"{path} is neither UTF-8 text nor a browser's history: save it as UTF-8, or name another")
    lines = [line.strip() for line in start.removeprefix(b"\xef\xbb\xbf").splitlines()]
    lines = [line for line in lines if line][:20]
    objects = [line.startswith(b"{") and line.endswith(b"}") for line in lines]
    if path.suffix in (".jsonl", ".ndjson") or (any(objects) and objects[0] and not _is_export(lines[0])):
        return _json_lines(path)
    if lines and lines[0][:1] in (b"[", b"{"):
        return _json(path)
    return _json_lines(path) if any(objects) else _table(path)


def _is_export(line: bytes) -> bool:
    """Whether a line of JSON is no visit, but has a list of them."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if is_har(data):
        return True
    return isinstance(data, dict) and not data.keys() & set(_URL) and any(isinstance(v, list) for v in data.values())


def _json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    size = number = 0
    with open(path, "rb") as file:
        while line := file.readline(MOST_LINE + 1):
            number += 1
            size += len(line)
            if size > MOST_RECORD:
                raise InputError(f"{path} has more than {MOST_RECORD:,} bytes: cut it into pieces")
            if len(line) > MOST_LINE:
                while line and not line.endswith(b"\n"):
                    line = file.readline(MOST_LINE)
                    size += len(line)
                yield number, BadLine(f"it has more than {MOST_LINE:,} bytes")
                continue
            text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip()
            if not text:
                continue
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                yield number, BadLine("it is not JSON")
                continue
            yield number, data if isinstance(data, dict) else BadLine("it is not an object in braces")


def _json(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    """A list of entries, or an object that has one."""
    try:
        data = json.loads(read_whole(path, MOST_EXPORT).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is broken JSON ({error}): export it again") from error
    if is_har(data):
        yield from visits(data)
        return
    if isinstance(data, dict):
        data = next((part for part in data.values() if isinstance(part, list)), [data])
    if not isinstance(data, list):
        raise InputError(f"{path} has no list of visits in it: write a list of objects with a url each")
    for number, entry in enumerate(data, 1):
        yield number, entry if isinstance(entry, dict) else BadLine("it is not an object in braces")


def _table(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    text = read_whole(path, MOST_EXPORT).decode("utf-8-sig", "replace")
    first = text.lstrip("\n\r").partition("\n")[0]
    separator = max("\t,;", key=first.count)
    csv.field_size_limit(MOST_LINE)
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    titles: list[str] = []
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield rows.line_num, BadLine(f"it is not a row of a table ({error})")
            continue
        if not titles and any(row):
            titles = [_name(title) for title in row]
            if not any(title in _URL for title in titles):
                raise InputError(
                    f"{path} is not a browsing record: it has no lines of JSON, and as a table no column 'url' in its "
                    "first line"
                )
        elif any(row):
            yield rows.line_num, dict(zip(titles, row, strict=False))


def _name(title: str) -> str:
    """A key as we look for it.

    >>> _name(" Visit Time ")
    'visit_time'
    """
    return title.strip().casefold().replace(" ", "_")


# -- one entry -------------------------------------------------------------------------------------------------


def _take(record: Record, entry: Mapping[str, Any] | BadLine, folder: Path) -> None:
    if isinstance(entry, BadLine):
        raise entry
    values = {_name(str(key)): value for key, value in entry.items()}
    written = next((values[name] for name in _URL if values.get(name)), None)
    if not isinstance(written, str):
        raise BadLine("it has no url")
    relevant = _label(values.get("relevant"))
    if relevant is None:
        relevant = _label(values.get("label"))
    url = canonical(written.strip())
    if url is None:
        record.left_out["addresses that are not of the web"] += 1
        return
    if values.get("visit") is False:  # a label that came after the visit
        record.labels |= {} if relevant is None else {url: relevant}
        return
    page = _page(values, url, folder, record)
    referrer = next((values[name] for name in _REFERRER if values.get(name)), "")
    time = next((values[name] for name in _TIME if values.get(name) not in (None, "")), None)
    came_from = canonical(referrer.strip()) if isinstance(referrer, str) else None
    record.add(Visited(url, relevant, came_from or "", seconds(time)))
    if page is not None:
        record.take(url, page)


def _label(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        word = "1" if value == 1 else "0" if value == 0 else "a number"
    else:
        word = str(value).strip().casefold()
    if word in YES or word in NO:
        return word in YES
    if word in UNSAID:
        return None
    raise BadLine(f"its label is {str(value)[:40]!r}, not true, false or null")


def _page(known: Mapping[str, Any], url: str, folder: Path, record: Record) -> Page | None:
    """The content that an entry has, or names; None if it has none."""
    if url in record.row_of:
        return None
    html, text, file = known.get("html"), known.get("text"), known.get("file")
    if isinstance(html, str) and html:
        page = page_of(extract(html.encode("utf-8", "replace")[:INFLATED], url, "utf-8"))
    elif isinstance(text, str) and text:
        title = known.get("title")
        page = page_of(plain(text.encode("utf-8", "replace")[:INFLATED]))
        page.title = title if isinstance(title, str) else ""
    elif isinstance(file, str) and file:
        content = _file(folder, file, url, record)
        if content is None:
            return None
        page = content
    else:
        return None
    language = known.get("language")
    if isinstance(language, str) and language:
        page.language, page.guessed = language.lower()[:20], False
    return page


def _file(folder: Path, name: str, url: str, record: Record) -> Page | None:
    """A page that lies with the record. No other file: what was learned has its words, and may be passed on."""
    path = folder / name
    try:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            record.left_out["files outside of the record's directory"] += 1
            return None
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError
        with open(path, "rb") as opened:
            body = opened.read(INFLATED)
    except (OSError, ValueError):
        record.left_out["files that can't be read"] += 1
        return None
    is_html = path.suffix.lower() in HTML or body.lstrip()[:1] == b"<"
    return page_of(extract(body, url) if is_html else plain(body))


def seconds(value: Any) -> float | None:
    """A time as seconds since 1970: a date in words, or seconds, milliseconds or microseconds (also Chromium's).

    >>> seconds("1970-01-01T00:01:00Z"), seconds(60), seconds("60000000000000"), seconds(13_400_000_000_000_000)
    (60.0, 60.0, 60000000.0, 1755526400.0)
    >>> seconds("yesterday")
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text)
        except ValueError:
            try:
                when = datetime.fromisoformat(text)
                return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
            except (ValueError, OverflowError):
                return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18 or math.isnan(value):
        return None
    if value > 5e15:
        return value / 1e6 - _WEBKIT
    return float(value / 1e6 if value > 1e13 else value / 1e3 if value > 1e11 else value)


# -- labels ----------------------------------------------------------------------------------------------------


def add_labels(record: Record, path: Path) -> None:
    """Take in a table of addresses and labels (yes or no); they count more than what the record says."""
    check_file(path, "the labels")
    labels: dict[str, bool] = {}
    strange = 0
    for url, word in read_table(path, record.corpus):
        try:
            label = _label(word)
        except BadLine:
            label = None
        if label is None:
            strange += 1
        else:
            labels[url] = label
    if not labels:
        raise InputError(f"{path} has no labels: write an address, a tab, and yes or no, one per line")
    if strange:
        record.left_out["labels that are neither yes nor no"] += strange
    _apply(record, labels)


def _apply(record: Record, labels: Mapping[str, bool]) -> None:
    """Labels that count more than what was said with the visits."""
    for visit in record.visits:
        visit.relevant = labels.get(visit.url, visit.relevant)
    missing = len(labels.keys() - {visit.url for visit in record.visits})
    if missing:
        record.left_out["labelled, but never visited"] += missing


# -- crawls -----------------------------------------------------------------------------------------------------


def read_crawl(path: Path, language: str, tell: Tell) -> Record:
    """A crawl as a browsing record: its pages as if someone had visited them, over the links they have.

    Their words are those that the log keeps. A page is relevant if someone has said so (`lycosa label`); of those
    nobody spoke of, if it reached the crawl's threshold.
    """
    record = Record(Corpus(Vocabulary(language)), complete=True)
    stems: list[str] = []
    labels: dict[str, bool] = {}
    moved: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    betas: dict[str, float] = {}
    threshold = 0.0
    for event in events_of(path, stems, tell):
        match event:
            case Label():
                labels.pop(event.node, None)
                if event.relevant is not None:
                    labels[event.node] = event.relevant
            case Setting(key="threshold"):
                threshold = float(event.value)
            case Visit(kind="redirect") if event.links.urls:
                moved[event.node] = event.links.urls[0]
            case Visit(is_page=True):
                links[event.node], betas[event.node] = event.links.urls, event.beta
                # The words of its first version count.
                if event.node not in record.row_of and record.corpus.add_visit("", event, stems):
                    record.row_of[event.node] = len(record.corpus.pages) - 1
    if not links:
        raise InputError(f"the crawl in {path} has no pages: continue with 'lycosa resume {path}'")
    for node, beta in betas.items():
        record.add(Visited(node, labels.get(node, beta >= threshold)))
    record.steps = [
        (node, end) for node, targets in links.items() for target in targets if (end := end_of(target, moved)) in links
    ]
    labelled = len(labels.keys() & betas.keys())
    record.notes.append(
        f"{labelled:,} pages are labelled by a person, of the others those with {threshold:g} or more count as relevant"
    )
    return record


# -- HAR files ---------------------------------------------------------------------------------------------

# HAR files (HTTP Archive 1.2), as browsers' developer tools save them: the pages that someone opened, as visits.

_LOAD = re.compile(r"page_\d+")


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
    return answered and kind.startswith(("text/html", "application/xhtml+xml", "text/plain")) and meant == "document"


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


# -- what browsers keep ------------------------------------------------------------------------------------

MAGIC = b"SQLite format 3\0"

MOST_BYTES = 4_000_000_000

# visits of type 5 and 6 came by a redirect; 4, 7 and 8 are embedded objects, downloads and frames
_FIREFOX = """
SELECT v.id, p.url, v.visit_date / 1e6, v.from_visit, 0, v.visit_type IN (5, 6), v.visit_type IN (4, 7, 8)
FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id ORDER BY v.visit_date, v.id
"""
# its clock starts in 1601; a transition's highest bit is a server redirect; kinds 3 and 4 are frames
_CHROMIUM = """
SELECT v.id, u.url, v.visit_time / 1e6 - 11644473600, v.from_visit, {opener},
       (v.transition & 0x80000000) != 0, (v.transition & 255) IN (3, 4)
FROM visits v JOIN urls u ON u.id = v.url ORDER BY v.visit_time, v.id
"""


class _Visit(NamedTuple):
    number: int
    url: str
    time: object
    from_visit: int
    opener: int  # visit whose page opened this one in a new tab
    redirected: int
    inside: int  # part of another page, or a download


def is_history(path: Path) -> bool:
    """Whether the file is a database."""
    check_file(path, "the record")
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"cannot read the record {path}: {error.strerror}") from error


def read_history(path: Path, language: str = "en") -> Record:
    """The visits in their order, each with the page whose link led there, as far as the browser knows.

    The file is copied first, with what lies beside it: a browser that runs holds a lock on it. Visits that were only
    sent on (redirects) are left out, and what they led to counts as visited from where they were.
    """
    record = Record(Corpus(Vocabulary(language)))
    with tempfile.TemporaryDirectory(prefix="lycosa-") as place:
        copy = Path(place, "history")
        try:
            if path.stat().st_size > MOST_BYTES:
                raise InputError(f"{path} has more than {MOST_BYTES:,} bytes: no browser's history is that large")
            shutil.copyfile(path, copy)
            for ending in ("-wal", "-journal"):  # what a running browser has not merged yet
                beside = path.with_name(path.name + ending)
                if beside.is_file():
                    shutil.copyfile(beside, copy.with_name(copy.name + ending))
        except OSError as error:
            raise InputError(f"cannot copy the history {path}: {error.strerror}") from error
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                database.text_factory = lambda text: text.decode("utf-8", "replace")  # one bad address is not all
                _fill(record, _visits(path, database))
        except sqlite3.Error as error:
            raise InputError(
                f"cannot read the history {path} ({error}): close the browser and copy the file again"
            ) from error
    if not record.visits:
        raise InputError(f"the history {path} has no visits of web pages in it")
    return record


def _visits(path: Path, database: sqlite3.Connection) -> Iterator[_Visit]:
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if {"moz_historyvisits", "moz_places"} <= tables:
        query = _FIREFOX
    elif {"visits", "urls"} <= tables:
        columns = {row[1] for row in database.execute("PRAGMA table_info(visits)")}
        query = _CHROMIUM.format(opener="v.opener_visit" if "opener_visit" in columns else "0")
    else:
        raise InputError(
            f"{path} is a database, but no history that is known here: name Firefox's places.sqlite or the file "
            "History of Chromium and browsers made of it"
        )
    return map(_Visit._make, database.execute(query))


def _fill(record: Record, visits: Iterator[_Visit]) -> None:
    pages: dict[object, tuple[str, object]] = {}  # page of each visit, and the visit it came from
    passed: set[object] = set()  # visits that were redirected
    looked_at: list[_Visit] = []
    lost = 0
    for visit in visits:
        url = canonical(visit.url) if isinstance(visit.url, str) else None
        came_from = visit.from_visit or visit.opener
        pages[visit.number] = (url or "", came_from)
        if visit.redirected and came_from:
            passed.add(came_from)
        if url is None:
            record.left_out["addresses that are not of the web"] += 1
        elif visit.inside:
            record.left_out["frames and downloads"] += 1
        else:
            looked_at.append(visit._replace(url=url))
    for visit in looked_at:
        if visit.number in passed:
            record.left_out["redirects"] += 1
            continue
        origin = _origin(visit, pages, passed)
        lost += bool(origin) and origin not in pages
        referrer = pages.get(origin, ("", 0))[0]
        record.add(Visited(visit.url, None, referrer, visit.time if isinstance(visit.time, float) else None))
    if lost:
        record.notes.append(f"{lost:,} visits came from others that the browser has forgotten: they start a path")


def _origin(visit: _Visit, pages: dict[object, tuple[str, object]], passed: set[object]) -> object:
    """The visit that led to this one, over all that were sent on; 0 where they turn in a circle."""
    origin: object = visit.from_visit or visit.opener
    seen: set[object] = {visit.number}
    while origin in passed and origin in pages and origin not in seen:
        seen.add(origin)
        origin = pages[origin][1]
    return 0 if origin in passed else origin
