"""Count words in a collection of pages: the statistics for `--background`.

Duplicate pages count once. Words of menus and footers would seem common, so sequences of four words that occur on a
twentieth of the pages are treated as boilerplate and not counted.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import MAX_BODY_BYTES, CrawlDirectory
from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.replay.captures import RESPONSE
from lycosa.replay.records import ArchiveIterator
from lycosa.store.log import NAME
from lycosa.text.background import Background
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.sources import HTML, TEXT, read_file
from lycosa.web.html import ParsedPage, detect_language_code, read_body
from lycosa.web.inflate import BadEncoding, inflate

MAX_TERMS = 30_000  # the most frequent ones are kept; rarer stems count as seen once
# Boilerplate: length of a repeated sequence in words, minimum share and number of pages that contain it.
SEQUENCE_LENGTH, MIN_PAGE_SHARE, MIN_PAGES = 4, 0.05, 20
_MIX = np.uint64(0x9E3779B97F4A7C15)
_WARC = (".warc", ".warc.gz", ".warc.zst")


def measure(sources: Iterable[str], terms: int = MAX_TERMS, source: str = "") -> Background:
    """Return document frequencies of WARC files, crawl directories, directories of HTML and text files, or files.

    Pages that are not in the main language are dropped, since mixed stems are useless for both languages.
    """
    if terms < 1:
        raise InputError("out-of-range", f"'terms' is {terms}: it must be 1 or more")
    sources = list(sources)
    try:
        return _measure(sources, terms, source)
    except OSError as error:
        problem = f"cannot read {error.filename}" if error.filename else "cannot write a temporary file"
        message = f"{problem}: {error.strerror}; free some space, or set TMPDIR to another disk"
        raise InputError("cannot-write", message) from error


def _measure(sources: list[str], terms: int, source: str) -> Background:
    words, seen = Vocabulary(), set()
    pages: list[tuple[str, int]] = []
    rows: dict[str, NDArray[np.uint32]] = {}
    with tempfile.TemporaryFile() as spool:
        for document in (document for name in sources for document in documents(Path(name))):
            text = f"{document.title}\n{document.marked}"
            digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
            if digest in seen:
                continue
            seen.add(digest)
            language = document.language or detect_language_code(document.marked[:1000])
            reading = words.read(document.fill(Page("ok", language=language)))
            ids = reading.ids[reading.ids >= 0].astype(np.int32)
            if not len(ids):
                continue
            page_language = reading.language
            spool.write(ids.tobytes())
            pages.append((page_language, len(ids)))
            if page_language not in rows:
                rows[page_language] = np.zeros(1 << 22, np.uint32)
            rows[page_language][np.unique(_slots(ids))] += 1
        places = ", ".join(sources)
        if len(pages) < 2:  # on a single page all words have the same frequency
            message = f"{places or 'no source'} has {len(pages)} pages with words, too few"
            advice = "give a WARC file, a crawl directory or a directory of HTML or text files with more"
            raise InputError("no-pages", f"{message}: {advice}")
        language, counted_pages = Counter(page_language for page_language, _ in pages).most_common(1)[0]
        spool.seek(0)
        frequent = rows[language] >= max(MIN_PAGES, MIN_PAGE_SHARE * counted_pages)
        frequency = np.zeros(len(words.terms), np.uint32)
        for page_language, length in pages:
            ids = np.frombuffer(spool.read(4 * length), np.int32)
            if page_language == language:
                frequency[np.unique(ids[~_boilerplate(ids, frequent)])] += 1
    # Sorted by frequency and stem, so that the result does not depend on the order of reading.
    counted = ((words.terms[number], int(frequency[number])) for number in np.flatnonzero(frequency).tolist())
    frequencies = dict(sorted(counted, key=lambda item: (-item[1], item[0]))[:terms])
    return Background(counted_pages, frequencies, language, source or ", ".join(Path(name).name for name in sources))


def documents(source: Path) -> Iterator[ParsedPage]:
    """Yield the pages of a WARC file, a crawl directory, a directory of HTML and text files, or a single file."""
    if source.is_dir() and (source / NAME).exists():
        with CrawlDirectory(source) as collection:
            for _, visit in collection.pages():
                yield collection.document(visit)
    elif source.is_dir():
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            yield from _read_file(path)
    elif source.exists():
        if not source.is_file() or not source.name.endswith((*_WARC, *HTML, *TEXT)):
            message = f"cannot read {source}: it is not a WARC (.warc, .warc.gz), HTML or text file (.txt, .md)"
            raise InputError("bad-file", message)
        yield from _read_file(source)
    else:
        message = f"{source} does not exist: give a WARC file, a crawl directory, or a directory of pages"
        raise InputError("missing-file", message)


def _read_file(path: Path) -> Iterator[ParsedPage]:
    if path.name.endswith(_WARC):
        yield from _read_warc(path)
    elif path.name.lower().endswith((*HTML, *TEXT)):
        try:
            yield read_file(path, path.absolute().as_uri())
        except OSError as error:
            raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error


def _read_warc(path: Path) -> Iterator[ParsedPage]:
    try:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, parse_http=True, auto_decode="transfer"):
                if int(record.record_type) != RESPONSE or record.http_headers is None:
                    continue
                headers = record.http_headers
                if headers.status_code != 200:
                    continue
                received, encoding = record.reader.read(MAX_BODY_BYTES), headers.get("content-encoding") or ""
                try:
                    body, _ = inflate(received, encoding, MAX_BODY_BYTES)
                except BadEncoding:
                    continue
                url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
                yield read_body(body, url, headers.get("content-type") or "")
    except (OSError, ValueError) as error:
        raise InputError("bad-file", f"cannot read {path} as a WARC file: {error}") from error


def _slots(ids: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the hash slot of each sequence of SEQUENCE_LENGTH words; collisions are rare."""
    mixed = np.zeros(max(0, len(ids) - SEQUENCE_LENGTH + 1), np.uint64)
    for place in range(SEQUENCE_LENGTH):
        mixed = mixed * _MIX + ids[place : place + len(mixed)].astype(np.uint64) + np.uint64(1)
    return ((mixed * _MIX) >> np.uint64(42)).astype(np.intp)


def _boilerplate(ids: NDArray[np.int32], frequent: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return true for each word that is part of a frequent sequence."""
    starts = frequent[_slots(ids)]
    part = np.zeros(len(ids), bool)
    for place in range(SEQUENCE_LENGTH):
        part[place : place + len(starts)] |= starts
    return part
