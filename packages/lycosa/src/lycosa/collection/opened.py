"""Python API to the pages of a crawl: `lycosa.open("reefs")`.

A `Collection` keeps no file open between calls, so it can be shared between threads and needs no closing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.collection import crawl_directory
from lycosa.collection.export import ExportResult, export
from lycosa.collection.export.selection import Selection
from lycosa.collection.export.tables import COLUMNS, FROM_ARCHIVE, rows
from lycosa.collection.export.text import markdown, prose
from lycosa.collection.searching import Results, Search
from lycosa.collection.tracing import latest_content, visits_of
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Visit
from lycosa.store.directory import Directory

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """Page of a collection; its attributes are the columns of an export."""

    url: str
    title: str
    text: str  # main text, without menus, footers and comments
    relevance: float  # relevance by the current judge
    relevant: bool  # True if the relevance is at or above the threshold
    language: str
    fetched: datetime | None  # UTC; None if a custom space does not report it
    status: int
    content_type: str
    size: int  # number of bytes received
    digest: str
    simhash: str
    canonical: str  # canonical URL declared by the page
    same_as: str  # URL of the original if the page is a copy
    depth: int  # number of links from the nearest seed, when it was fetched
    parent: str  # page with the first link to this one
    anchor: str  # anchor text of that link
    opt_outs: str  # uses that the page or its site forbids, such as training
    outlinks: int
    warc_file: str
    warc_offset: int | None
    warc_length: int | None
    version: int
    versions: int
    changed: datetime | None  # time of the last change of its main text
    standing: str  # state of the page: "stands", "vanished" or "moved"
    author: str  # as declared by the page or document, like the following dates
    published: str
    modified: str
    pages: int | None  # number of pages of a document

    def as_dict(self) -> dict[str, Any]:
        """Return the page as a dict of its columns."""
        return asdict(self)


_NAMES = {item.name for item in fields(CollectedPage)} & set(COLUMNS)


class Collection:
    """Pages of a crawl. Iterating yields the relevant ones, `len()` counts them.

    In all methods, `everything` includes pages that are not relevant and `copies` includes copies of other pages.
    """

    def __init__(self, path: Path, *, threshold: float | None = None, whole_text: bool = False) -> None:
        self.path = path
        self._threshold, self._whole_text = threshold, whole_text
        with self._opened() as collection:
            self.threshold = collection.threshold
            """Minimum relevance of a relevant page."""

    def _opened(self) -> crawl_directory.CrawlDirectory:
        return crawl_directory.CrawlDirectory(self.path, self._threshold, whole_text=self._whole_text)

    def __repr__(self) -> str:
        return f"lycosa.open({str(self.path)!r})"

    def __iter__(self) -> Iterator[CollectedPage]:
        return self.pages()

    def __len__(self) -> int:
        with self._opened() as collection:
            return Selection(collection).total

    @property
    def options(self) -> Options:
        """Options of the crawl."""
        return Directory.read_options(self.path)

    def count(self, *, everything: bool = False, copies: bool = False) -> int:
        """Return the number of pages that `pages` yields."""
        with self._opened() as collection:
            return Selection(collection, everything=everything, copies=copies).total

    def pages(
        self,
        *,
        everything: bool = False,
        copies: bool = False,
        versions: bool = False,
        text: bool = True,
        part: tuple[int, int] = (0, 1),
    ) -> Iterator[CollectedPage]:
        """Yield the pages in log order; with `versions`, earlier versions of changed pages as well.

        With `text=False` the archive is not read, which is faster, but leaves `text`, `content_type` and the declared
        author, dates and page count empty. `part=(2, 8)` yields the third of eight parts, to divide the work between
        processes.
        """
        with self._opened() as collection:
            chosen = Selection(collection, everything=everything, copies=copies, versions=versions)
            chosen.divide(*part)
            for row in rows(chosen, without=() if text else FROM_ARCHIVE):
                yield CollectedPage(**{name: row[name] for name in _NAMES})

    def page(self, url: str) -> CollectedPage:
        """Return the current version of a page by its URL."""
        with self._opened() as collection:
            visit = self._current_version(collection, url)
            chosen = Selection(collection, everything=True, copies=True, only=visit.node)
            return next(CollectedPage(**{name: row[name] for name in _NAMES}) for row in rows(chosen))

    def read(self, url: str) -> str:
        """Return a page's main text as Markdown, with title, URL and headings."""
        with self._opened() as collection:
            visit = self._current_version(collection, url)
            document = collection.document(visit)
            return markdown(visit, document, prose(document))

    def _current_version(self, collection: crawl_directory.CrawlDirectory, url: str) -> Visit:
        visit = latest_content(visits_of(collection, url))
        if visit is None:
            explain = f"lycosa.why({str(self.path)!r}, {url!r})"
            raise InputError("no-page", f"no page was fetched from {url}; {explain} explains why")
        return visit

    def search(
        self,
        words: str,
        *,
        limit: int = 10,
        offset: int = 0,
        hosts: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: str | date = "",
        until: str | date = "",
        threshold: float = 0.0,
        copies: bool = False,
        width: int = 240,
    ) -> Results:
        """Return the pages that match the query best, with snippets of about `width` characters.

        Iterate over the result for hits with `url`, `title`, `snippet`, `match_score` and more. The first search builds
        the index; later ones update it.
        """
        with self._opened() as collection, Search(collection) as index:
            return index.find(
                words,
                limit=limit,
                offset=offset,
                hosts=hosts,
                languages=languages,
                since=since,
                until=until,
                threshold=threshold,
                copies=copies,
                width=width,
            )

    def to_pandas(
        self, *, everything: bool = False, copies: bool = False, versions: bool = False, text: bool = True
    ) -> pandas.DataFrame:
        """Return the pages as a DataFrame; its columns are the attributes of `CollectedPage`."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("missing-package", "a DataFrame needs pandas: pip install 'lycosa[pandas]'") from error
        found = self.pages(everything=everything, copies=copies, versions=versions, text=text)
        names = [item.name for item in fields(CollectedPage)]
        frame = pandas.DataFrame((page.as_dict() for page in found), columns=names)
        for name in ("fetched", "changed"):  # columns without any time have the type object otherwise
            frame[name] = pandas.to_datetime(frame[name], utc=True)
        return frame

    def export(
        self,
        out: str | Path,
        form: str = "",
        *,
        everything: bool = False,
        copies: bool = False,
        versions: str = "",
        excel: bool = False,
    ) -> ExportResult:
        """Export the pages to a file: jsonl, csv, parquet, warc, wacz, text, markdown ...

        The format follows from the file name unless `form` is given. `versions` is "current" or "all".
        """
        return export(
            self.path,
            out,
            form,
            everything=everything,
            copies=copies,
            versions=versions,
            whole_text=self._whole_text,
            threshold=self._threshold,
            excel=excel,
        )
