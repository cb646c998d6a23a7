"""A crawl's pages for programs: `lycosa.open("reefs")`.

Nothing stays open between two calls, so a collection may be kept, passed to threads and forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.collection import crawl_directory
from lycosa.collection.export import Exported, export
from lycosa.collection.export.selection import Selection
from lycosa.collection.export.tables import COLUMNS, FROM_ARCHIVE, rows
from lycosa.collection.export.text import markdown, prose
from lycosa.collection.searching import Results, Search
from lycosa.collection.tracing import content_of, known
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.store.directory import Directory

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """A page of a collection: the columns of an export."""

    url: str
    title: str
    text: str  # the main part, without menus, footers and comments
    relevance: float  # relevance by the judge's current score
    relevant: bool  # the score reaches the threshold
    language: str
    fetched: datetime | None  # None where a space of your own does not say when
    status: int
    content_type: str
    size: int  # bytes as received
    digest: str
    simhash: str
    canonical: str  # where the page says it really lives
    same_as: str  # the page whose content it repeats
    depth: int  # links from a seed
    parent: str  # the page that first led here
    anchor: str  # words of the link that did
    opt_outs: str  # uses that the page or its site objects to, such as training
    outlinks: int
    warc_file: str
    warc_offset: int | None
    warc_length: int | None
    version: int
    versions: int
    changed: datetime | None  # when it last changed in what a reader comes for
    standing: str  # "stands", "vanished" or "moved"
    author: str  # as the page or the document declares it, like the dates
    published: str
    modified: str
    pages: int | None  # pages of a document

    def as_dict(self) -> dict[str, Any]:
        """By the names of the columns."""
        return asdict(self)


_NAMES = {item.name for item in fields(CollectedPage)} & set(COLUMNS)


class Collection:
    """The pages of a crawl. Iterate over it for the relevant ones; `len()` says how many they are.

    `everything`: all pages, not only the relevant ones. `copies`: also those that repeat another page's content.
    """

    def __init__(self, path: Path, *, threshold: float | None = None, whole_text: bool = False) -> None:
        self.path = path
        self._threshold, self._whole_text = threshold, whole_text
        with self._opened() as collection:
            self.threshold = collection.threshold
            """What a page has to be worth to be relevant."""

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
        """What the crawl goes by."""
        return Directory.read_options(self.path)

    def count(self, *, everything: bool = False, copies: bool = False) -> int:
        """How many pages `pages` gives."""
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
        """The pages in the order of the crawl, one at a time; with `versions` also what they were before they changed.

        Without `text` the archive is not read, which is quicker: `text`, `content_type`, and what a page declares of
        itself are empty then. `part`: (2, 8) are the pages of the third of eight parts, for those who share the work.
        """
        with self._opened() as collection:
            chosen = Selection(collection, everything=everything, copies=copies, versions=versions)
            chosen.divide(*part)
            for row in rows(chosen, without=() if text else FROM_ARCHIVE):
                yield CollectedPage(**{name: row[name] for name in _NAMES})

    def page(self, url: str) -> CollectedPage:
        """One page by its address, in its current version."""
        with self._opened() as collection:
            visit = content_of(known(collection, url))
            if visit is None:
                raise InputError(f"{url} gave no page: lycosa.why({str(self.path)!r}, {url!r}) tells more")
            chosen = Selection(collection, everything=True, copies=True, only=visit.node)
            return next(CollectedPage(**{name: row[name] for name in _NAMES}) for row in rows(chosen))

    def read(self, url: str) -> str:
        """The main part of a page as Markdown, with its title, address and headings."""
        with self._opened() as collection:
            visit = content_of(known(collection, url))
            if visit is None:
                raise InputError(f"{url} gave no page: lycosa.why({str(self.path)!r}, {url!r}) tells more")
            document = collection.document(visit)
            return markdown(visit, document, prose(document))

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
        """The best pages for the words, each with a passage of about `width` characters.

        Iterate over the answer for its hits: `url`, `title`, `snippet`, `score` and more. The first search builds an
        index, later ones bring it up to date.
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
                score=threshold,
                copies=copies,
                width=width,
            )

    def to_pandas(
        self, *, everything: bool = False, copies: bool = False, versions: bool = False, text: bool = True
    ) -> pandas.DataFrame:
        """The pages as a DataFrame, a row each; the columns are those of a `CollectedPage`."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("a DataFrame needs pandas: pip install 'lycosa[pandas]'") from error
        found = self.pages(everything=everything, copies=copies, versions=versions, text=text)
        names = [item.name for item in fields(CollectedPage)]
        frame = pandas.DataFrame((page.as_dict() for page in found), columns=names)
        for name in ("fetched", "changed"):  # also where there is none
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
    ) -> Exported:
        """Write the pages to a file for other tools: jsonl, csv, parquet, warc, wacz, text, markdown ...

        The format follows the file's name, or `form`. Of pages that changed, `versions` are "current" or "all".
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
