"""Sources of labelled pages: directories of files, tables of URLs and classes, crawls with labels."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from lycosa.collection.crawl_directory import MAX_BODY_BYTES
from lycosa.core.errors import DamagedError, InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Event, Page, Visit
from lycosa.judges.taxonomy import MAX_PATH_LENGTH, path_of
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME, SqliteLog, current_labels
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account, Corpus
from lycosa.web.html import ParsedPage, detect_language_code, extract, read_plain_text
from lycosa.web.urls import canonical, is_http

HTML, TEXT = (".html", ".htm", ".xhtml"), (".txt", ".text", ".md")
RELEVANT, IRRELEVANT = "relevant", "irrelevant"  # classes of labelled pages of a crawl
MARKED = "marked"  # title of the column that marks target topics
MAX_TABLE_BYTES = 500_000_000
MAX_LINE_BYTES = 1_000_000
Rows: TypeAlias = "list[tuple[str, str]]"  # URLs and classes
# yields the pages of given URLs in order, from the web or an archive: see page_loading.py
PageLoader: TypeAlias = "Callable[[Sequence[str], Account, ProgressCallback], Iterator[tuple[str, Page]]]"


def read(
    sources: Iterable[str], load_pages: PageLoader, progress: ProgressCallback, column: str = "", language: str = "en"
) -> Corpus:
    """Return the labelled pages of all sources; `language` is the default for pages that do not declare one."""
    corpus = Corpus(Vocabulary(language))
    for source in sources:
        path = Path(source)
        if not source or not path.exists():
            hint = ": write URLs and their classes into a table" if is_http(source) else ""
            raise InputError("missing-file", f"{source or repr(source)} does not exist{hint}")
        if path.is_dir() and (path / CONFIG).is_file():
            read_crawl(path, corpus)
        elif path.is_dir():
            read_directory(path, corpus, progress)
        else:
            label_of = dict(read_table(path, corpus, column))
            for url, page in load_pages(list(label_of), corpus, progress):
                corpus.add(label_of[url], url, page)
    corpus.spell()
    return corpus


def page_of(document: ParsedPage, declared: str = "") -> Page:
    """Create a page as the web space does; the language is declared by the page or its header, or guessed."""
    page = document.fill(Page("ok"))
    page.language = document.language or declared.lower()[:20]
    page.guessed = not page.language
    page.language = page.language or detect_language_code(page.text[:1000])
    return page


def read_file(path: Path, url: str = "http://example.invalid/") -> ParsedPage:
    """Parse the beginning of an HTML or text file, by its extension."""
    with open(path, "rb") as file:
        body = file.read(MAX_BODY_BYTES)
    return extract(body, url) if path.suffix.lower() in HTML else read_plain_text(body)


def read_directory(root: Path, corpus: Corpus, progress: ProgressCallback) -> None:
    """Add the HTML and text files of each directory; the path below the root is the class."""
    pages = 0
    for directory, file in files_below(root, corpus):
        label = path_of("/".join(directory.relative_to(root).parts))
        if not label:
            corpus.left_out["files outside of class directories"] += 1
            continue
        if len(label) > MAX_PATH_LENGTH:
            corpus.left_out[f"in classes with names of more than {MAX_PATH_LENGTH:,} characters"] += 1
            continue
        if file.suffix.lower() not in HTML + TEXT:
            corpus.left_out["neither HTML nor text"] += 1
            continue
        try:
            document = read_file(file)
        except OSError:
            corpus.left_out["files that can't be read"] += 1
            continue
        pages += 1
        corpus.add(label, str(file), page_of(document))
        progress("reading pages", pages, 0)
    if not pages:
        message = f"{root} has no directories with pages: make one per class, with files in {', '.join(HTML + TEXT)}"
        raise InputError("no-pages", message)


def files_below(root: Path, corpus: Account) -> Iterator[tuple[Path, Path]]:
    """Yield directories and their files in alphabetical order; each directory once, despite symbolic links."""
    seen: set[tuple[int, int]] = set()

    def on_error(error: OSError) -> None:
        if error.filename == str(root):
            raise InputError("unreadable-file", f"cannot read {root}: {error.strerror}") from error
        corpus.left_out["directories that can't be read"] += 1

    for directory, below, names in os.walk(str(root), onerror=on_error, followlinks=True):
        status = os.stat(directory)
        below[:] = sorted(name for name in below if not name.startswith("."))
        if (status.st_dev, status.st_ino) in seen:
            corpus.left_out["directories that are linked twice"] += 1
            below.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        for path in (Path(directory, name) for name in sorted(names) if not name.startswith(".")):
            if path.is_file():
                yield Path(directory), path
            else:
                corpus.left_out["neither files nor directories"] += 1


@contextmanager
def open_unpacked(path: Path) -> Iterator[io.BufferedReader[Any]]:
    with open(path, "rb") as file:
        if not file.peek(2).startswith(b"\x1f\x8b"):
            yield file
            return
        with gzip.GzipFile(fileobj=file) as packed, io.BufferedReader(packed) as inner:
            yield inner


def read_table(path: Path, corpus: Account, column: str = "") -> Rows:
    """Return URLs and classes of a tab-separated table with the URL in the first column.

    The class is in the second column, or in the one that `column` names by title or number. The first line may be
    titles. If a URL has several classes, the first one is used.
    """
    class_of: dict[str, str] = {}
    further_classes = 0
    for url, label in labelled_rows(path, corpus, column):
        further_classes += class_of.setdefault(url, label) != label
    if further_classes:
        ignored = f"{further_classes:,} further classes of pages are ignored"
        corpus.notes.append(f"{path}: {ignored}: the first class is used")
    return list(class_of.items())


def labelled_rows(path: Path, corpus: Account, column: str = "") -> Iterator[tuple[str, str]]:
    names: dict[str, str] = {}  # cache, since most spellings occur often
    at = good = bad = long = 0
    for row in table_rows(path):
        web = is_http(row[0].strip())
        if not at:  # the first row
            at = _column(path, column, [] if web else row)
            if not web:
                continue
        url = canonical(row[0].strip()) if web else None
        written = row[at] if at < len(row) else ""
        if written not in names:
            names[written] = path_of(written) if len(written) <= 4 * MAX_PATH_LENGTH else written
        label = names[written]
        if url is None or not label:
            bad += 1
        elif len(label) > MAX_PATH_LENGTH:
            long += 1
        else:
            good += 1
            yield url, label
    if bad:
        corpus.left_out["rows without a URL or a class"] += bad
    if long:
        corpus.left_out[f"rows with a class of more than {MAX_PATH_LENGTH:,} characters"] += long
    if not good:
        where = f" in column {at + 1}" if column and at else ""
        where = f" of {MAX_PATH_LENGTH:,} characters or fewer" if long else where
        message = f"{path} has no URL with a class{where}: write a URL, a tab and a class on each line"
        raise InputError("empty-file", message)


def marked_topics(path: Path) -> list[str]:
    """Return the topics in the `marked` column of a table: see `lycosa train taxonomy`."""
    rows = table_rows(path)
    titles = [title.strip() for title in next(rows, [])]
    if MARKED not in titles:
        return []
    at = titles.index(MARKED)
    written = dict.fromkeys(row[at] for row in rows if at < len(row) and len(row[at]) <= MAX_PATH_LENGTH)
    return [mark for text in written if (mark := path_of(text))]


def table_rows(path: Path) -> Iterator[list[str]]:
    """Yield the columns of each non-empty line; a table may be larger than memory."""
    size = 0
    try:
        with open(path, "rb") as file:
            stated = os.fstat(file.fileno()).st_size  # 0 for a pipe
            # Read bytes up to newlines, since titles may contain characters that Python treats as line ends.
            while line := file.readline(MAX_LINE_BYTES + 1):
                if not size and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InputError("bad-encoding", f"{path} is not UTF-8 text, but UTF-16: save it as UTF-8")
                size += len(line)
                if len(line) > MAX_LINE_BYTES:
                    message = f"{path} has a line of more than {MAX_LINE_BYTES:,} bytes: is it a table?"
                    raise InputError("too-large", message)
                if max(size, stated) > MAX_TABLE_BYTES:
                    raise InputError("too-large", f"{path} has more than {MAX_TABLE_BYTES:,} bytes: split it")
                text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").rstrip("\r\n")
                if text.strip():
                    yield text.split("\t")
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error


def _column(path: Path, column: str, titles: list[str]) -> int:
    if not column:
        return 1
    if column.isascii() and column.isdigit() and int(column) > 1:
        return int(column) - 1
    names = [title.strip() for title in titles]
    if column not in names[1:]:
        hint = f"available: {', '.join(names[1:])}" if names else "it has no titles: give a number from 2 on"
        raise InputError("unknown-name", f"{path} has no column {column!r}; {hint}")
    return names.index(column)


def open_log(path: Path) -> SqliteLog:
    if not (path / NAME).exists():
        raise InputError("no-pages", f"nothing has been crawled in {path} yet: start with 'lycosa resume {path}'")
    return SqliteLog(path / NAME, readonly=True)


def read_events(path: Path, stems: list[str], progress: ProgressCallback) -> Iterator[Event]:
    """Yield the events of a crawl; before each visit, its new words are appended to `stems`."""
    with closing(open_log(path)) as log:
        for number, event in enumerate(log, 1):
            if isinstance(event, Visit):
                stems += event.terms.new
                if event.is_page and len(event.terms.ids) and event.terms.ids[-1] >= len(stems):
                    raise DamagedError(f"{path / NAME} is damaged: it has unknown term ids; restore it from a backup")
            yield event
            progress("reading the crawl", number, 0)


def redirect_target(target: str, redirects: Mapping[str, str]) -> str:
    """Follow redirects from a URL; return the URL itself if they form a cycle."""
    node, passed = target, {target}
    while node in redirects:
        node = redirects[node]
        if node in passed:
            return target
        passed.add(node)
    return node


def read_crawl(path: Path, corpus: Corpus) -> None:
    """Add the labelled pages of a crawl (`lycosa label`), with words from its log; the last label of a page is used."""
    with closing(open_log(path)) as log:
        labels = current_labels(log)
    if not labels:
        message = f"{path} has no labels yet: add some with 'lycosa label {path} --yes URL --no URL'"
        raise InputError("no-labels", message)
    stems: list[str] = []
    visits: dict[str, Visit] = {}
    for event in read_events(path, stems, no_progress):
        if isinstance(event, Visit) and event.is_page and event.node in labels:
            visits[event.node] = event
    for node, visit in visits.items():
        corpus.add_visit(RELEVANT if labels[node] else IRRELEVANT, visit, stems)
    if len(labels) > len(visits):
        corpus.left_out["labelled, but not fetched"] += len(labels) - len(visits)
