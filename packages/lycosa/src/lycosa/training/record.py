"""Browsing records: visited pages with referrer, time and label."""

from __future__ import annotations

import json
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lycosa.collection.crawl_directory import MAX_BODY_BYTES
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Label, Page, Setting, Visit
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Corpus
from lycosa.training.sources import page_of, read_events, redirect_target
from lycosa.web.html import extract, read_plain_text
from lycosa.web.urls import canonical

MAX_RECORD_BYTES = 2_000_000_000  # a record may contain whole pages
MAX_LINE_BYTES = 20_000_000
MAX_VISITS = 2_000_000
MAX_LISTED_LINES = 5  # malformed lines that are listed by number
POSITIVE_LABELS = frozenset(("yes", "y", "true", "1", "relevant", "positive", "+"))
NEGATIVE_LABELS = frozenset(("no", "n", "false", "0", "irrelevant", "not relevant", "non-relevant", "negative", "-"))
MISSING_LABELS = frozenset(("", "null", "none", "?", "unknown", "unlabelled", "unlabeled"))


class BadLine(Exception):
    """A malformed entry of a record; the message says why."""


@dataclass(slots=True)
class BrowsingVisit:
    """One visit; `relevant` is None without a label."""

    url: str
    relevant: bool | None = None
    referrer: str = ""
    time: float | None = None


@dataclass
class BrowsingRecord:
    """Browsing record: visits in order, and the words of pages as far as it contains them."""

    corpus: Corpus = field(default_factory=Corpus)
    visits: list[BrowsingVisit] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)  # row of a page's words in the corpus
    labels: dict[str, bool] = field(default_factory=dict)  # labels given separately from visits
    steps: list[tuple[str, str]] | None = None  # links if known; if None, steps are derived from the visits
    complete: bool = False  # true if no words or labels have to be loaded from elsewhere

    @property
    def left_out(self) -> Counter[str]:
        return self.corpus.left_out

    @property
    def notes(self) -> list[str]:
        return self.corpus.notes

    def take(self, url: str, page: Page) -> None:
        if url not in self.row_of and self.corpus.add("", url, page):
            self.row_of[url] = len(self.corpus.pages) - 1

    def add(self, visit: BrowsingVisit) -> None:
        if len(self.visits) >= MAX_VISITS:
            raise InputError("too-large", f"the record has more than {MAX_VISITS:,} visits: split it")
        self.visits.append(visit)


def check_file(path: Path, noun: str) -> None:
    """Raise InputError unless the path is a regular file; opening a pipe would block."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {noun} {path}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise InputError("bad-file", f"{noun} {path} is a directory: give a file")
    if not stat.S_ISREG(mode):
        raise InputError("bad-file", f"{noun} {path} is a pipe or a device: save it as a file first")


def read_record(path: Path, language: str = "en") -> BrowsingRecord:
    check_file(path, "the record")
    record = BrowsingRecord(Corpus(Vocabulary(language)))
    broken: list[int] = []
    entries = bad = 0
    first: Exception | None = None
    try:
        for number, entry in _entries(path):
            entries += 1
            try:
                _take(record, entry)
            except BadLine as error:
                bad, first = bad + 1, first or error
                broken += [number] if len(broken) < MAX_LISTED_LINES else []
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read the record {path}: {error.strerror}") from error
    for visit in record.visits:
        visit.relevant = record.labels.get(visit.url, visit.relevant)
    if missing := len(record.labels.keys() - {visit.url for visit in record.visits}):
        record.left_out["labelled, but never visited"] += missing
    numbers = ", ".join(map(str, broken)) + (", ..." if bad > MAX_LISTED_LINES else "")
    if not record.visits:
        why = f" (all of its {entries:,} lines are broken, the first: {first})" if entries else ""
        example = '{"url": "https://example.org/", "relevant": true, "referrer": null}'
        message = f"{path} has no visits{why}: write one page per line as JSON, for example {example}"
        raise InputError("empty-file", message)
    if bad:
        record.left_out["broken lines"] += bad
        record.notes.append(f"{path.name}: broken lines are {numbers}; the first: {first}")
    return record


def _entries(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    size = number = 0
    with open(path, "rb") as file:
        if b"\0" in file.peek(2):
            raise InputError("bad-encoding", f"{path} is not UTF-8 text: save it as UTF-8")
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            size += len(line)
            if size > MAX_RECORD_BYTES:
                raise InputError("too-large", f"{path} has more than {MAX_RECORD_BYTES:,} bytes: split it")
            if len(line) > MAX_LINE_BYTES:
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE_BYTES)
                    size += len(line)
                yield number, BadLine(f"it has more than {MAX_LINE_BYTES:,} bytes")
                continue
            text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip()
            if not text:
                continue
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                yield number, BadLine("it is not JSON")
                continue
            yield number, data if isinstance(data, dict) else BadLine("it is not a JSON object")


def _take(record: BrowsingRecord, entry: Mapping[str, Any] | BadLine) -> None:
    if isinstance(entry, BadLine):
        raise entry
    text, came_from = entry.get("url"), entry.get("referrer")
    if not isinstance(text, str):
        raise BadLine("it has no url")
    relevant = _label(entry.get("relevant"))
    url = canonical(text.strip())
    if url is None:
        record.left_out["not web URLs"] += 1
        return
    if entry.get("visit") is False:  # label given after the visit
        record.labels |= {} if relevant is None else {url: relevant}
        return
    page = _page(entry, url, record)
    referrer = canonical(came_from.strip()) if isinstance(came_from, str) else None
    record.add(BrowsingVisit(url, relevant, referrer or "", parse_time(entry.get("time"))))
    if page is not None:
        record.take(url, page)


def _label(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        word = "1" if value == 1 else "0" if value == 0 else "a number"
    else:
        word = str(value).strip().casefold()
    if word in POSITIVE_LABELS or word in NEGATIVE_LABELS:
        return word in POSITIVE_LABELS
    if word in MISSING_LABELS:
        return None
    raise BadLine(f"its label is {str(value)[:40]!r}, not true, false or null")


def _page(known: Mapping[str, Any], url: str, record: BrowsingRecord) -> Page | None:
    if url in record.row_of:
        return None
    html, text = known.get("html"), known.get("text")
    if isinstance(html, str) and html:
        page = page_of(extract(html.encode("utf-8", "replace")[:MAX_BODY_BYTES], url, "utf-8"))
    elif isinstance(text, str) and text:
        title = known.get("title")
        page = page_of(read_plain_text(text.encode("utf-8", "replace")[:MAX_BODY_BYTES]))
        page.title = title if isinstance(title, str) else ""
    else:
        return None
    language = known.get("language")
    if isinstance(language, str) and language:
        page.language, page.guessed = language.lower()[:20], False
    return page


def parse_time(value: Any) -> float | None:
    """Parse a time as seconds since 1970, from an ISO date or a number; None if it is neither.

    >>> parse_time("1970-01-01T00:01:00Z"), parse_time(60)
    (60.0, 60.0)
    >>> parse_time("yesterday")
    """
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value.strip())
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e11
    return float(value) if number else None


def read_crawl(path: Path, language: str, progress: ProgressCallback) -> BrowsingRecord:
    """Read a crawl as a browsing record: its pages as visits, its links as steps.

    Words come from the log. Labels come from `lycosa label`; unlabelled pages are relevant if they reached the
    threshold.
    """
    record = BrowsingRecord(Corpus(Vocabulary(language)), complete=True)
    stems: list[str] = []
    labels: dict[str, bool] = {}
    redirects: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    relevances: dict[str, float] = {}
    threshold = 0.0
    for event in read_events(path, stems, progress):
        match event:
            case Label():
                labels.pop(event.node, None)
                if event.relevant is not None:
                    labels[event.node] = event.relevant
            case Setting(key="threshold"):
                threshold = float(event.value)
            case Visit(kind="redirect") if event.links.urls:
                redirects[event.node] = event.links.urls[0]
            case Visit(is_page=True):
                links[event.node], relevances[event.node] = event.links.urls, event.relevance
                # the words of the first version count
                if event.node not in record.row_of and record.corpus.add_visit("", event, stems):
                    record.row_of[event.node] = len(record.corpus.pages) - 1
    if not links:
        raise InputError("no-pages", f"the crawl in {path} has no pages: continue with 'lycosa resume {path}'")
    for node, relevance in relevances.items():
        record.add(BrowsingVisit(node, labels.get(node, relevance >= threshold)))
    record.steps = [
        (node, end)
        for node, targets in links.items()
        for target in targets
        if (end := redirect_target(target, redirects)) in links
    ]
    labelled = len(labels.keys() & relevances.keys())
    others = f"of the others, those with {threshold:g} or more count as relevant"
    record.notes.append(f"{labelled:,} pages have labels; {others}")
    return record
