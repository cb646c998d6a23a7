"""Export of main texts, without near-duplicates, as plain text or Markdown.

Plain text: each line is a paragraph, heading or table row; pages are separated by a blank line. Markdown: each page
starts with title and URL; pages are separated by a rule.

Candidates for near-duplicates are found by fingerprint and confirmed by comparing word trigrams (Broder 1997).
Simhashes that differ in at most 4 of 64 bits are not enough: pages on one topic share their frequent words. Of 85
candidate pairs among 5,462 encyclopedia articles, only 17 were copies. Memory: 16 bytes per page.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO

import numpy as np

from lycosa.collection.export.cleaning import clean, one_line
from lycosa.collection.export.selection import Selection, WriteResult
from lycosa.core.types import Visit
from lycosa.drawing.formats import many
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS
from lycosa.web.html import CLOSE, OPEN, ParsedPage

MIN_SIMILARITY = 0.8  # Jaccard similarity of word trigrams; a copy with 2 % of its words changed has 0.89
MAX_WORDS, MAX_CANDIDATES = 20_000, 5
_LINK = re.compile(f"{OPEN}[^{CLOSE}]*{CLOSE}")
_WORD = re.compile(r"\w")
_SPECIAL = re.compile(r"[\\`*_\[\]<]|^[#>|~]|^[-+=](?=\s|[-=])|(?<=^\d)[.)]|(?<=^\d\d)[.)]")


def write(pages: Selection, out: IO[bytes]) -> WriteResult:
    result = WriteResult()
    for _, _, text in _texts(pages, result):
        out.write((b"\n" if result.pages > 1 else b"") + text.encode() + b"\n")
    return result


def write_markdown(pages: Selection, out: IO[bytes]) -> WriteResult:
    result = WriteResult()
    for visit, document, text in _texts(pages, result):
        out.write((b"\n---\n\n" if result.pages > 1 else b"") + markdown(visit, document, text).encode())
    return result


def markdown(visit: Visit, document: ParsedPage, text: str) -> str:
    """Format a page as Markdown: title, URL, and main text with headings.

    >>> page = ParsedPage("Reefs", main="Where\\n- in the sea", headings="Where")
    >>> markdown(Visit("http://a.test/", "page", "ok", 1), page, page.main)
    '# Reefs\\n\\n<http://a.test/>\\n\\n## Where\\n\\n\\\\- in the sea\\n'
    """
    title = one_line(document.title or visit.title)
    headings = set(clean(document.headings).split("\n"))
    blocks = [f"# {_escaped(title)}"] if title else []
    blocks.append(f"<{clean(visit.node)}>")
    for paragraph in text.split("\n"):
        if paragraph != title or blocks[2:]:
            blocks.append(f"## {_escaped(paragraph)}" if paragraph in headings else _escaped(paragraph))
    return "\n\n".join(blocks) + "\n"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _texts(pages: Selection, result: WriteResult) -> Iterator[tuple[Visit, ParsedPage, str]]:
    """Yield pages with text, without near-duplicates; add remarks on the others to `result`."""
    repeats = NearDuplicates(lambda seq: prose(pages.read(pages.log.visit(seq))[0]))
    empty_count = copy_count = 0
    for seq, visit in pages.pages():
        document = pages.read(visit)[0]
        text = prose(document)
        if not text:
            empty_count += 1
        elif not repeats.is_new(seq, visit.simhash, text):
            copy_count += 1
        else:
            result.pages += 1
            yield visit, document, text
    if copy_count:
        result.remarks.append(f"left out: {many(copy_count, 'near-duplicate')}")
    if empty_count:
        result.remarks.append(f"left out: {many(empty_count, 'page')} without text")


class NearDuplicates:
    """Near-duplicate detection; `text_of` returns an earlier text by its key."""

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self._prints, self._keys = array("Q"), array("q")
        self._earlier = lru_cache(maxsize=8)(lambda key: _trigrams(text_of(key)))

    def is_new(self, key: int, fingerprint: int, text: str) -> bool:
        """Return True if a text is new, and remember it. Texts without a fingerprint are always new."""
        if not fingerprint:
            return True
        if similar := self.similar(fingerprint)[:MAX_CANDIDATES]:
            runs = _trigrams(text)
            # Shorter texts are duplicates only if identical.
            min_similarity = MIN_SIMILARITY if len(text.split()) >= 50 else 1.0
            if any(_resemblance(runs, self._earlier(other)) >= min_similarity for other in similar):
                return False
        self._prints.append(fingerprint)
        self._keys.append(key)
        return True

    def similar(self, fingerprint: int) -> list[int]:
        """Return the keys of texts with a similar fingerprint, nearest first (5 ms for a million texts)."""
        distances = np.bitwise_count(np.array(self._prints, np.uint64) ^ np.uint64(fingerprint))
        similar = np.flatnonzero(distances <= NEAR_DUPLICATE_BITS)
        return [self._keys[at] for at in similar[np.argsort(distances[similar], kind="stable")].tolist()]


def _resemblance(runs: frozenset[int], other: frozenset[int]) -> float:
    return len(runs & other) / len(runs | other) if runs or other else 1.0


def _trigrams(text: str) -> frozenset[int]:
    words = text.lower().split(maxsplit=MAX_WORDS)[:MAX_WORDS]
    if len(words) < 3:
        return frozenset([hash(tuple(words))])
    return frozenset(map(hash, zip(words, words[1:], words[2:], strict=False)))


def prose(document: ParsedPage) -> str:
    """Return the main text of a page, one line per paragraph; empty for a page that consists of links only.

    >>> prose(ParsedPage(marked="\\x01Home\\x02\\n\\n  Reefs   bleach, see \\x01here\\x02. \\n\\n"))
    'Home\\nReefs bleach, see here.'
    """
    if OPEN in document.marked and not _WORD.search(_LINK.sub("", document.marked)):
        return ""
    lines = (" ".join(raw.split()) for raw in clean(document.content).split("\n"))
    return "\n".join(line for line in lines if line)


def write_records(pages: Selection, out: IO[bytes]) -> WriteResult:
    """Write the records found by crawling a search form, each URL once, as URL, tab, title. URLs are kept in memory."""
    addresses: set[str] = set()
    for _, visit in pages.pages():
        for url, title in visit.data.get("records", ()):
            if url not in addresses:
                addresses.add(url)
                out.write(f"{url}\t{one_line(str(title))}\n".encode("utf-8", "replace"))
    remarks = [] if addresses else ["no page has records: only crawls with --space search-form have them"]
    return WriteResult(len(addresses), remarks)
