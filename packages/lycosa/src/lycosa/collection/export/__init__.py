"""What a crawl has gathered, for other tools: tables, a web archive, a corpus of plain text.

One format, one file, all of the same form: `write(pages, out)` streams a selection of pages into a binary file. A
million pages need as much memory as a thousand, but for a few dozen bytes a page, which each file accounts for.

A file goes where it is to go whole or not at all. It grows as FILE.part and takes its name when it is complete and on
disk; an older FILE stays until then. A failure or Ctrl-C removes the part. One that a killed process left behind is
taken over, unless someone still writes it.
"""

from __future__ import annotations

import fcntl
import gzip
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import at_least
from lycosa.collection.export import tables, text, wacz, warc_export
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import sync
from lycosa.core.plugins import named
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.drawing.formats import many
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME


@dataclass(frozen=True)
class ExportFormat:
    name: str
    write: Callable[[Selection, IO[bytes]], Written]
    suffixes: tuple[str, ...]
    opened_by: str  # how to open it; `{}` is the file
    streams: bool = False  # may go to the output
    archive: bool = False  # needs the archive
    versions: str = "current"  # versions of a page by default: "current" or "all"
    either: bool = False  # `versions` may be chosen


FORMATS = {
    form.name: form
    for form in (
        ExportFormat(
            "jsonl", tables.write_jsonl, (".jsonl", ".jsonl.gz"), "pandas.read_json({!r}, lines=True)",
            streams=True, either=True,
        ),
        ExportFormat(
            "csv", tables.write_csv, (".csv", ".csv.gz"), "a spreadsheet, or pandas.read_csv({!r})",
            streams=True, either=True,
        ),
        ExportFormat("parquet", tables.write_parquet, (".parquet",), "pandas.read_parquet({!r})", either=True),
        ExportFormat("warc", warc_export.write, (".warc.gz",), "any WARC tool, as in: warcio index {}", False, True, "all", True),
        ExportFormat(
            "wacz", wacz.write, (".wacz",), "https://replayweb.page: choose the file there", False, True, "all", True,
        ),
        ExportFormat("text", text.write, (".txt", ".txt.gz"), "any editor", streams=True, archive=True),
        ExportFormat("markdown", text.write_markdown, (".md", ".md.gz"), "any editor", streams=True, archive=True),
        ExportFormat("records", text.write_records, (".tsv", ".tsv.gz"), "any editor, or lycosa crawl --seeds {}", True),
    )
}  # fmt: skip


@dataclass(slots=True)
class Exported:
    """What was written, where, and how to open it."""

    form: str
    pages: int
    path: Path | None
    size: int
    opened_by: str
    remarks: list[str] = field(default_factory=list)
    versions: bool = False  # `pages` counts every version of each


def export(
    directory: Path,
    out: Path | str | None = None,
    form: str = "",
    *,
    everything: bool = False,
    copies: bool = False,
    versions: str = "",
    whole_text: bool = False,
    threshold: float | None = None,
    excel: bool = False,
    respect: str = "",
    stdout: IO[bytes] | None = None,
    progress: ProgressCallback = no_progress,
) -> Exported:
    """Write the pages of a crawl to `out`, or to `stdout` if there is none; `progress` hears of the progress.

    Of a page that has changed, `versions` are those that count: `current` or `all`. By default a web archive keeps
    all of them, and everything else is what the pages are now. Relevant is what is worth the crawl's threshold, or
    another one that is given. With `excel`, a CSV file begins with the mark by which Excel knows that it is UTF-8.
    """
    path = None if out is None or str(out) == "-" else Path(out)
    kind = choose(form, "" if path is None else str(out))
    if path is None and (stdout is None or not kind.streams):
        raise InputError(f"{kind.name} needs a file to go to: --out FILE{kind.suffixes[0]}")
    if excel and kind.name != "csv":
        raise InputError(f"--excel is for CSV, not for {kind.name}: leave it out, or choose a FILE.csv with --out")
    chosen = _versions(versions, kind)
    if path is not None:
        _spare(path.resolve(), directory.resolve())
    with CrawlDirectory(directory, threshold, whole_text=whole_text) as collection:
        pages = Selection(
            collection,
            everything=everything,
            copies=copies,
            versions=chosen == "all",
            respect=respect,
            progress=progress,
        )
        if kind.archive and pages.total and not pages.archived:
            raise InputError(
                f"{directory} has no archive of these pages (a crawl with --no-archive keeps none), and {kind.name} "
                "is made from it: choose jsonl, csv or parquet"
            )
        mark = BOM_UTF8 if excel else b""
        if path is None:
            assert stdout is not None
            stdout.write(mark)
            done = kind.write(pages, stdout)
            stdout.flush()
        else:
            with whole_file(path) as file:
                done = _write(kind, pages, path, file, mark)
        done.remarks += _missing(pages, everything)
    size = 0 if path is None else path.stat().st_size
    return Exported(kind.name, done.pages, path, size, kind.opened_by.format(str(path)), done.remarks, pages.versions)


def _missing(pages: Selection, everything: bool) -> list[str]:
    """What a user may miss in an export, and why it is not there."""
    remarks = []
    if pages.left_out:
        remarks.append(f"left out: {many(pages.left_out, 'page')} whose owners have opted out")
    if not pages.total and not everything:
        remarks.append(f"no page scores {at_least(pages.collection.threshold)}: --all takes all pages")
    return remarks


def _versions(asked: str, kind: ExportFormat) -> str:
    if asked not in ("", "current", "all"):
        raise InputError(f"--versions {asked!r} is unknown: choose all or current")
    if asked and asked != kind.versions and not kind.either:
        able = ", ".join(form.name for form in FORMATS.values() if form.either)
        raise InputError(
            f"{kind.name} contains only the current version of each page: for --versions {asked} choose from {able}"
        )
    return asked or kind.versions


def choose(form: str, name: str) -> ExportFormat:
    """Return the format that is asked for by its name, or by the file's.

    >>> choose("", "reefs.csv.gz").name, choose("text", "reefs.doc").name, choose("", "").name
    ('csv', 'text', 'jsonl')
    """
    return _by_name(name) if not form else FORMATS.get(form.lower()) or _of_plugin(form)


def _of_plugin(form: str) -> ExportFormat:
    added = named("exporters")
    if form not in added:
        raise InputError(f"unknown format {form!r}: choose one of {', '.join(dict.fromkeys([*FORMATS, *added]))}")
    kind = added[form].load()
    if not isinstance(kind, ExportFormat):
        raise InputError(f"{added[form].value} of the package {added[form].package} is no Format of {__name__}")
    return kind


def _by_name(name: str) -> ExportFormat:
    if not name:
        return FORMATS["jsonl"]
    for kind in FORMATS.values():
        if name.lower().endswith(kind.suffixes):
            return kind
    suffixes, broken = [suffix for kind in FORMATS.values() for suffix in kind.suffixes], ""
    for form in named("exporters").keys() - FORMATS.keys():
        try:
            kind = _of_plugin(form)
        except InputError as error:
            broken += f"; {error}"
            continue
        if name.lower().endswith(kind.suffixes):
            return kind
        suffixes += kind.suffixes
    choice = f"end it with one of {', '.join(suffixes)}, or say --format"
    raise InputError(f"cannot tell the format from the name {name}: {choice}{broken}")


def _spare(path: Path, directory: Path) -> None:
    """A crawl's own files are no place to export to."""
    inside = path.parent == directory and path.name.startswith((NAME, CONFIG, "lock"))
    if inside or path == directory or path.is_relative_to(directory / "archive"):
        raise InputError(f"{path} belongs to the crawl itself: choose another FILE with --out")


def _write(kind: ExportFormat, pages: Selection, path: Path, file: IO[bytes], first: bytes) -> Written:
    """Fill a file, compressed if its name says so; a WARC is already."""
    if path.suffix.lower() != ".gz" or kind.name == "warc":
        file.write(first)
        return kind.write(pages, file)
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        packed.write(first)
        return kind.write(pages, cast(IO[bytes], packed))


# -- where an export goes ------------------------------------------------------------------------------------------


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it has its name when the block is left without an error."""
    with _explaining(path):
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise InputError(f"{path} is a directory: give a file with --out")
            with open(path, "wb") as device:  # a pipe or a device can't be replaced
                yield device
            return
        path = path.resolve()  # what a link points to is replaced, not the link
        part = path.with_name(path.name + ".part")
        file = _claim(part)
        try:
            with file:
                yield file
                file.flush()
                sync(file.fileno())
                part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _claim(part: Path) -> IO[bytes]:
    """Open a part for this process alone, empty."""
    while True:
        file = open(part, "wb", opener=_open)  # noqa: SIM115 - the caller closes it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise InputError(f"another export is writing {part}: wait for it, or choose another FILE") from error
        if part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat()):
            file.truncate()
            return file
        file.close()  # the other export has just been finished: what we opened is its FILE now


def _open(path: str, flags: int) -> int:
    """Open without emptying: it may be someone else's still."""
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        unchanged = " What was there before is unchanged." if path.exists() else ""
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}.{unchanged} Free some space or give access, "
            "or choose another FILE with --out"
        ) from error
