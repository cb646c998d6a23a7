"""Dumps of web directories, as taxonomies and training data.

`read_web_directory` reads the formats of public directories (the Open Directory and its successors) into a
`WebDirectory`, which can be browsed, marked with targets, and written as a table for `lycosa train`.

Paper: Altingovde, Ulusoy 2004, "Baseline focused crawler": a canonical topic taxonomy with examples, easily obtained
from such a directory; users browse it and mark one or more topics as the targets.
"""

from __future__ import annotations

import codecs
import gzip
import io
import random
import re
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.parsers import expat

from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.judges.taxonomy import MAX_PATH_LENGTH, MIN_LEAF_PAGES, path_of, resolve_classes
from lycosa.training.corpus import Account
from lycosa.training.record import check_file
from lycosa.training.sources import MARKED, open_unpacked
from lycosa.web.urls import canonical

MAX_BYTES = 8_000_000_000  # unpacked; the largest dump had 2.3 billion
MAX_TOPICS = 2_000_000
MAX_ENTRIES = 10_000_000  # the largest dump had 5 million URLs
MAX_URLS = 6_000_000  # URLs kept in memory
MAX_TOKEN_BYTES = 1_000_000  # limit of a tag or a line
MAX_TEXT_LENGTH = 4 * MAX_PATH_LENGTH  # characters read of an element
MAX_DEPTH = 20  # maximum nesting of elements; dumps have three levels
MAX_LEVELS = 30  # maximum number of parts of a topic's path; the deepest directories have half as many
ROOT = "Top"  # root of the paths of most dumps
COLUMNS = ("url", "class", MARKED)  # titles of the output table
Bytes: TypeAlias = "io.BufferedReader[Any]"

_CHUNK = 1 << 18
# characters that XML forbids but old dumps contain, and at which the parser would stop
_FORBIDDEN = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF])


class TopicBranch(NamedTuple):
    """Topic with its counts, as shown when browsing."""

    name: str  # last part of the path
    path: str
    topics: int  # topics below it
    pages: int  # pages listed under it and all topics below it
    own: int  # pages listed directly under it
    marked: bool  # true if the topic or an ancestor is marked


@dataclass
class WebDirectory(Account):
    """Web directory: topics, and the pages listed under each.

    >>> directory = WebDirectory({"Science/Physics": ["http://a.example/"], "Art": ["http://b.example/"]})
    >>> [(branch.name, branch.topics, branch.pages) for branch in directory.children()]
    [('Art', 0, 1), ('Science', 1, 1)]
    >>> directory.mark(["science"])
    ['Science']
    >>> [(branch.path, branch.marked) for branch in directory.children("Science")]
    [('Science/Physics', True)]
    """

    # URLs by topic; for large topics a random sample
    pages: dict[str, list[str]] = field(default_factory=dict)
    listed: Counter[str] = field(default_factory=Counter)  # numbers of listed pages where they exceed `pages`
    marked: list[str] = field(default_factory=list)  # target topics; a branch includes all topics below it

    @cached_property
    def _totals(self) -> dict[str, tuple[int, int]]:
        """Number of topics and pages of each branch; "" is the whole directory."""
        topics: Counter[str] = Counter()
        pages: Counter[str] = Counter()
        for path in self.pages:
            pages[""] += self.own(path)
            for branch in _branches(path):
                pages[branch] += self.own(path)
        for branch in list(pages):
            if branch:
                topics.update([*_branches(branch)[:-1], ""])
        return {branch: (topics[branch], count) for branch, count in pages.items()}

    def own(self, path: str) -> int:
        return max(self.listed[path], len(self.pages.get(path, ())))

    @property
    def topics(self) -> int:
        return self._totals[""][0] if self._totals else 0

    @property
    def size(self) -> int:
        return self._totals[""][1] if self._totals else 0

    def resolve(self, branch: str) -> str:
        """Return a branch in the spelling of the directory; raise InputError if it is unknown."""
        path = path_of(branch)
        return path if not path or path in self._totals else resolve_classes(self.pages, [branch], "the directory")[0]

    def branch(self, path: str) -> TopicBranch:
        return self._branch(path, frozenset(self.marked))

    def _branch(self, path: str, marked: Set[str]) -> TopicBranch:
        topics, pages = self._totals[path]
        return TopicBranch(path.rpartition("/")[2], path, topics, pages, self.own(path), bool(_mark(path, marked)))

    def children(self, branch: str = "") -> list[TopicBranch]:
        """Return the topics directly below a branch (default: the first level), in alphabetical order."""
        above = self.resolve(branch)
        start = f"{above}/" if above else ""
        below = [path for path in self._totals if path.startswith(start) and path.count("/") == start.count("/")]
        marked = frozenset(self.marked)
        return [self._branch(path, marked) for path in sorted(below) if path]

    def mark(self, branches: Iterable[str]) -> list[str]:
        self.marked = list(dict.fromkeys(self.resolve(branch) for branch in branches if path_of(branch)))
        return self.marked

    def below(self, branch: str) -> WebDirectory:
        path = self.resolve(branch)
        kept = {name: urls for name, urls in self.pages.items() if not path or f"{name}/".startswith(f"{path}/")}
        listed = Counter({name: self.listed[name] for name in kept if self.listed[name]})
        return WebDirectory(kept, listed, [mark for mark in self.marked if f"{mark}/".startswith(f"{path}/")])

    def write(self, out: Path) -> None:
        """Write a table of URLs, classes and target topics for `lycosa train`."""
        marked = frozenset(self.marked)
        try:
            with atomic_write(out) as file:
                file.write("\t".join(COLUMNS).encode() + b"\n")
                for path, urls in sorted(self.pages.items()):
                    mark = _mark(path, marked)
                    file.writelines(f"{url}\t{path}\t{mark}\n".encode() for url in urls)
        except OSError as error:
            raise InputError("cannot-write", f"cannot write {out}: {error.strerror}; choose another --out") from error


def read_web_directory(
    sources: Sequence[Path],
    *,
    below: str = "",
    most: int = MIN_LEAF_PAGES,
    entries: int = 0,
    progress: ProgressCallback = no_progress,
) -> WebDirectory:
    """Read the dump of a web directory: one or several files, gzipped or not.

    Formats, detected by content:

    - RDF, as `content.rdf.u8` (topics with links, and pages with their topic) and `structure.rdf.u8` (topics and
      narrower ones, without pages);
    - a table with a URL, a tab and the path of its topic per line, as `WebDirectory.write` writes it.

    below: Read only this branch.
    most: URLs kept per topic, sampled at random (the paper had about 150; 0: all).
    entries: Maximum number of topics and pages (0: as many as the largest directory had).

    The leading `Top` of paths is dropped. Dumps are untrusted: they are read as a stream, DOCTYPE and entities are
    refused, and size, depth, and numbers of topics and URLs are bounded. Invalid dumps raise InputError; dropped
    entries are counted in `left_out`.
    """
    if not sources:
        raise InputError("missing-option", "no file given: give the dump of a web directory")
    if most < 0:
        raise InputError("out-of-range", f"'most' is {most}: it must be 0 (all) or more")
    collected = _Collected(path_of(below), most, entries or MAX_ENTRIES)
    for source in sources:
        check_file(source, "the dump")
        before = collected.entries
        with _reading(source), open_unpacked(source) as file:
            (_read_rdf if _is_xml(file, source) else _read_table)(file, source, collected, progress)
        if collected.entries == before:
            raise InputError("empty-file", f"{source} has no topics: is it the dump of a web directory?")
    return collected.directory()


class _Collected(Account):
    def __init__(self, below: str, most: int, most_entries: int) -> None:
        super().__init__()
        self.below = below.removeprefix(f"{ROOT}/")
        self.most, self.most_entries = most, most_entries
        self.entries = 0  # topics and pages read so far
        self.pages: dict[str, list[str]] = {}
        self.listed: Counter[str] = Counter()
        self.marked: dict[str, None] = {}
        self.kept = 0
        self._path_cache: dict[str, str] = {}

    def path(self, written: str) -> str:
        """Return the normalised path; empty if it is invalid or outside of the requested branch."""
        written = written[:MAX_TEXT_LENGTH]
        if written not in self._path_cache:
            path = path_of(written)
            path = "" if path == ROOT else path.removeprefix(f"{ROOT}/")
            is_valid = 0 < len(path) <= MAX_PATH_LENGTH and path.count("/") < MAX_LEVELS
            wanted = is_valid and f"{path}/".casefold().startswith(f"{self.below}/".lstrip("/").casefold())
            if len(self._path_cache) > MAX_TOPICS:
                raise InputError("too-large", f"more than {MAX_TOPICS:,} topics: is it the dump of a web directory?")
            self._path_cache[written] = path if wanted else ""
        return self._path_cache[written]

    def topic(self, written: str) -> None:
        self.count()
        if path := self.path(written):
            self.pages.setdefault(path, [])

    def page(self, url: str, written: str) -> None:
        self.count()
        path = self.path(written)
        if not path:
            self.left_out["pages of other branches" if self.below else "pages without a topic"] += 1
            return
        address = canonical(url.strip())
        if address is None:
            self.left_out["not web URLs"] += 1
            return
        self._keep(self.pages.setdefault(path, []), path, address)

    def count(self) -> None:
        self.entries += 1
        if self.entries > self.most_entries:
            raise InputError(
                "too-large", f"the dump has more than {self.most_entries:,} URLs and topics: use a smaller one"
            )

    def _keep(self, urls: list[str], path: str, address: str) -> None:
        """Add a URL by reservoir sampling, so that all URLs of a topic have the same probability."""
        self.listed[path] += 1
        if self.most and len(urls) >= self.most:
            place = random.Random(f"{path} {self.listed[path]}").randrange(self.listed[path])
            if place < self.most:
                urls[place] = address
            return
        self.kept += 1
        if self.kept > MAX_URLS:
            message = f"more than {MAX_URLS:,} URLs to keep: choose a branch, or fewer URLs per topic"
            raise InputError("too-large", message)
        urls.append(address)

    def directory(self) -> WebDirectory:
        if not any(self.pages.values()):
            why = self.why() or "it has only topics: add the file with the pages"
            raise InputError("no-pages", f"no pages{f' in {self.below}' if self.below else ''}: {why}")
        listed = Counter({path: count for path, count in self.listed.items() if count > len(self.pages[path])})
        paths = sorted(f"{path}/" for path in self.pages) if self.marked else []
        # "0" is the character after "/", so this is the range of paths below a branch
        marks = [mark for mark in self.marked if bisect_left(paths, f"{mark}/") < bisect_left(paths, f"{mark}0")]
        return WebDirectory(self.pages, listed, marks, left_out=self.left_out, notes=self.notes)


def _mark(path: str, marked: Set[str]) -> str:
    """Return the nearest target topic that contains the path, or an empty string."""
    return next((branch for branch in reversed(_branches(path)) if branch in marked), "") if marked else ""


def _branches(path: str) -> list[str]:
    return list(accumulate(path.split("/"), "{}/{}".format))


def _is_xml(file: Bytes, path: Path) -> bool:
    start = file.peek(512)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start:
        raise InputError("bad-encoding", f"{path} is not UTF-8 text: unpack it, or save it as UTF-8")
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError("bad-file", f"{path} is damaged or cut short (gzip): download it again") from error
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {path}: {error.strerror or error}") from error


def _read_rdf(file: Bytes, path: Path, collected: _Collected, progress: ProgressCallback) -> None:
    reader = _Rdf(path, collected)
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    fed = size = 0
    while True:
        chunk = file.read(_CHUNK)
        size += len(chunk)
        if size > MAX_BYTES:
            raise InputError("too-large", f"{path} has more than {MAX_BYTES:,} bytes, unpacked: use a smaller dump")
        data = decoder.decode(chunk, final=not chunk).translate(_FORBIDDEN).encode("utf-8", "replace")
        fed += len(data)
        try:
            reader.parser.Parse(data, not chunk)
        except expat.ExpatError as error:
            why = expat.errors.messages[error.code]
            raise InputError("bad-file", f"{path}, line {error.lineno:,}: {why}; is it complete?") from error
        if not chunk:
            return
        if fed - reader.parser.CurrentByteIndex > MAX_TOKEN_BYTES + _CHUNK:
            message = f"{path} has a tag of more than {MAX_TOKEN_BYTES:,} bytes: is it a directory dump?"
            raise InputError("too-large", message)
        progress(f"reading {path.name}", size, 0)


class _Rdf:
    """Streaming parser of RDF dumps; namespace prefixes are ignored."""

    def __init__(self, path: Path, collected: _Collected) -> None:
        self.path, self.collected = path, collected
        self.inside: list[str] = []
        self.topic = self.page = ""
        self.page_topic = ""
        # URLs linked by the previous topic, whose page elements follow and are not new
        self.linked: set[str] = set()
        self.text: list[str] = []
        self.length = 0
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        for refused in ("StartDoctypeDeclHandler", "EntityDeclHandler", "ExternalEntityRefHandler"):
            setattr(self.parser, refused, self.refuse)

    def refuse(self, *_: object) -> None:
        """Raise InputError for a DOCTYPE or entities, which dumps do not have and which can expand or include files."""
        raise InputError("bad-file", f"{self.path} has a DOCTYPE or entities: save it without them")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.inside.append(name.rpartition(":")[2])
        if len(self.inside) > MAX_DEPTH:
            message = f"{self.path} has more than {MAX_DEPTH} nested elements: is it a directory dump?"
            raise InputError("bad-file", message)
        values = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        match self.inside[1:]:
            case ["Topic"]:
                self.topic = values.get("id") or values.get("about", "")
                self.linked = set()
                self.collected.topic(self.topic)
            case ["Topic", narrower] if narrower.startswith("narrow"):
                self.collected.topic(values.get("resource", ""))
            case ["Topic", link] if re.fullmatch(r"(link|pdf|rss|atom)\d*", link) and (url := values.get("resource")):
                self.linked.add(url)
                self.collected.page(url, self.topic)
            case ["ExternalPage"]:
                self.page, self.page_topic = values.get("about", ""), ""
            case ["ExternalPage", "topic"]:
                self.text, self.length = [], 0

    def characters(self, text: str) -> None:
        """Collect the text of topic elements; all other text is ignored."""
        if self.inside[-1] == "topic" and self.length <= MAX_TEXT_LENGTH:
            self.text.append(text)
            self.length += len(text)

    def end(self, _: str) -> None:
        match self.inside[1:]:
            case ["ExternalPage", "topic"]:
                self.page_topic = "".join(self.text).strip()
            case ["ExternalPage"] if not (self.page in self.linked and self.page_topic in ("", self.topic)):
                self.collected.page(self.page, self.page_topic)
        self.inside.pop()


def _read_table(file: Bytes, path: Path, collected: _Collected, progress: ProgressCallback) -> None:
    """Read a URL, a tab and the path of its topic from each line; the first line may be titles."""
    size = number = mark = 0
    while line := file.readline(MAX_TOKEN_BYTES + 1):
        number, size = number + 1, size + len(line)
        if len(line) > MAX_TOKEN_BYTES or size > MAX_BYTES:
            message = f"{path} has a line of more than {MAX_TOKEN_BYTES:,} bytes, or too many: is it a table?"
            raise InputError("too-large", message)
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").rstrip("\r\n")
        row = text.split("\t")
        if number == 1 and (len(row) < 2 or canonical(row[0].strip()) is None):
            if tuple(row[:2]) != COLUMNS[:2]:
                needed = f"a URL, a tab and a topic, or the titles {' and '.join(COLUMNS[:2])}"
                message = f"{path} is neither RDF nor a table of URLs and topics: its first line must have {needed}"
                raise InputError("bad-file", message)
            mark = row.index(MARKED) if MARKED in row else 0
        elif len(row) > 1:
            collected.page(row[0], row[1])
            if 0 < mark < len(row) and (marked := collected.path(row[mark])):
                collected.marked[marked] = None
        elif text.strip():
            collected.left_out["rows that are too short"] += 1
        if not number % 10_000:
            progress(f"reading {path.name}", number, 0)
