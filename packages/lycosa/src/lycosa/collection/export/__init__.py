"""Export of a crawl's pages: tables, web archives, plain text.

Each format is a function `write(pages, out)` that streams a selection of pages into a binary file. Memory does not grow
with the content, except for a few dozen bytes per page.

Files are written atomically: to FILE.part, which is synced and renamed when complete; an older FILE is kept until then.
On failure or Ctrl-C, FILE.part is removed. That of a killed process is overwritten, unless its lock is held.
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
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.export import tables, text, wacz, warc_export
from lycosa.collection.export.selection import Selection, WriteResult
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
    write: Callable[[Selection, IO[bytes]], WriteResult]
    suffixes: tuple[str, ...]
    how_to_open: str  # hint on opening the file, with a placeholder `{}`
    streams: bool = False  # can be written to stdout
    needs_archive: bool = False  # requires the archive
    default_versions: str = "current"  # versions of a page exported by default: "current" or "all"
    versions_optional: bool = False  # True if other versions can be chosen


FORMATS = {
    form.name: form
    for form in (
        ExportFormat(
            "jsonl", tables.write_jsonl, (".jsonl", ".jsonl.gz"), "pandas.read_json({!r}, lines=True)",
            streams=True, versions_optional=True,
        ),
        ExportFormat(
            "csv", tables.write_csv, (".csv", ".csv.gz"), "a spreadsheet, or pandas.read_csv({!r})",
            streams=True, versions_optional=True,
        ),
        ExportFormat(
            "parquet", tables.write_parquet, (".parquet",), "pandas.read_parquet({!r})", versions_optional=True,
        ),
        ExportFormat(
            "warc", warc_export.write, (".warc.gz",), "any WARC tool, as in: warcio index {}",
            needs_archive=True, default_versions="all", versions_optional=True,
        ),
        ExportFormat(
            "wacz", wacz.write, (".wacz",), "https://replayweb.page: choose the file there",
            needs_archive=True, default_versions="all", versions_optional=True,
        ),
        ExportFormat("text", text.write, (".txt", ".txt.gz"), "any editor", streams=True, needs_archive=True),
        ExportFormat(
            "markdown", text.write_markdown, (".md", ".md.gz"), "any editor", streams=True, needs_archive=True
        ),
        ExportFormat(
            "records", text.write_records, (".tsv", ".tsv.gz"), "any editor, or lycosa crawl --seeds {}", streams=True,
        ),
    )
}  # fmt: skip


@dataclass(slots=True)
class ExportResult:
    form: str
    pages: int
    path: Path | None
    size: int
    how_to_open: str
    remarks: list[str] = field(default_factory=list)
    versions: bool = False  # True if `pages` counts all versions


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
) -> ExportResult:
    """Write the pages of a crawl to `out`, or to `stdout` if there is none.

    `versions` is `current` or `all`; the default is `all` for web archives and `current` otherwise. `threshold`
    defaults to the crawl's own. `excel` starts a CSV file with a byte order mark, by which Excel recognises UTF-8.
    """
    path = None if out is None or str(out) == "-" else Path(out)
    kind = choose_format(form, "" if path is None else str(out))
    if path is None and (stdout is None or not kind.streams):
        raise InputError("missing-option", f"{kind.name} needs an output file: --out FILE{kind.suffixes[0]}")
    if excel and kind.name != "csv":
        raise InputError("conflicting-options", f"--excel applies to CSV, not to {kind.name}: leave it out")
    chosen_versions = _choose_versions(versions, kind)
    if path is not None:
        _check_target(path.resolve(), directory.resolve())
    with CrawlDirectory(directory, threshold, whole_text=whole_text) as collection:
        pages = Selection(
            collection,
            everything=everything,
            copies=copies,
            versions=chosen_versions == "all",
            respect=respect,
            progress=progress,
        )
        if kind.needs_archive and pages.total and not pages.archived:
            message = f"{directory} has no archive of these pages (--no-archive), and {kind.name} is made from it"
            raise InputError("no-archive", f"{message}: choose jsonl, csv or parquet")
        bom = BOM_UTF8 if excel else b""
        if path is None:
            assert stdout is not None
            stdout.write(bom)
            result = kind.write(pages, stdout)
            stdout.flush()
        else:
            with atomic_file(path) as file:
                result = _write(kind, pages, path, file, bom)
        result.remarks += _remarks_on(pages, everything)
    size = 0 if path is None else path.stat().st_size
    return ExportResult(
        kind.name, result.pages, path, size, kind.how_to_open.format(str(path)), result.remarks, pages.versions
    )


def _remarks_on(pages: Selection, everything: bool) -> list[str]:
    remarks = []
    if pages.opted_out:
        remarks.append(f"left out: {many(pages.opted_out, 'page')} whose owners have opted out")
    if not pages.total and not everything:
        threshold = describe_threshold(pages.collection.threshold)
        remarks.append(f"no page with relevance {threshold}: --all exports all pages")
    return remarks


def _choose_versions(wanted: str, kind: ExportFormat) -> str:
    if wanted not in ("", "current", "all"):
        raise InputError("bad-value", f"--versions {wanted!r} is unknown: choose all or current")
    if wanted and wanted != kind.default_versions and not kind.versions_optional:
        versioned = ", ".join(form.name for form in FORMATS.values() if form.versions_optional)
        message = f"{kind.name} has only the current version of a page; --versions {wanted} works with {versioned}"
        raise InputError("conflicting-options", message)
    return wanted or kind.default_versions


def choose_format(form: str, name: str) -> ExportFormat:
    """Return the format of that name, or the one that fits the file name.

    >>> choose_format("", "reefs.csv.gz").name, choose_format("text", "reefs.doc").name, choose_format("", "").name
    ('csv', 'text', 'jsonl')
    """
    return _format_of_file(name) if not form else FORMATS.get(form.lower()) or _plugin_format(form)


def _plugin_format(form: str) -> ExportFormat:
    added = named("exporters")
    if form not in added:
        known = ", ".join(dict.fromkeys([*FORMATS, *added]))
        raise InputError("unknown-format", f"unknown format {form!r}: choose one of {known}")
    kind = added[form].load()
    if not isinstance(kind, ExportFormat):
        plugin = added[form]
        raise InputError("bad-plugin", f"{plugin.value} of the package {plugin.package} is not an ExportFormat")
    return kind


def _format_of_file(name: str) -> ExportFormat:
    if not name:
        return FORMATS["jsonl"]
    for kind in FORMATS.values():
        if name.lower().endswith(kind.suffixes):
            return kind
    suffixes, broken = [suffix for kind in FORMATS.values() for suffix in kind.suffixes], ""
    for form in named("exporters").keys() - FORMATS.keys():
        try:
            kind = _plugin_format(form)
        except InputError as error:
            broken += f"; {error}"
            continue
        if name.lower().endswith(kind.suffixes):
            return kind
        suffixes += kind.suffixes
    choice = f"end it with one of {', '.join(suffixes)}, or give --format"
    raise InputError("unknown-format", f"unknown format of {name}: {choice}{broken}")


def _check_target(path: Path, directory: Path) -> None:
    inside = path.parent == directory and path.name.startswith((NAME, CONFIG, "lock"))
    if inside or path == directory or path.is_relative_to(directory / "archive"):
        raise InputError("protected-file", f"{path} belongs to the crawl itself: choose another FILE with --out")


def _write(kind: ExportFormat, pages: Selection, path: Path, file: IO[bytes], first: bytes) -> WriteResult:
    """Write the file, gzipped if its name says so; WARC is compressed anyway."""
    if path.suffix.lower() != ".gz" or kind.name == "warc":
        file.write(first)
        return kind.write(pages, file)
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        packed.write(first)
        return kind.write(pages, cast(IO[bytes], packed))


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is renamed to `path` when the block ends without an error."""
    with _explain_errors(path):
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise InputError("not-a-file", f"{path} is a directory: give a file with --out")
            with open(path, "wb") as device:  # pipes and devices cannot be replaced
                yield device
            return
        path = path.resolve()  # replace the target of a symbolic link, not the link
        part = path.with_name(path.name + ".part")
        file = _open_part(part)
        try:
            with file:
                yield file
                file.flush()
                sync(file.fileno())
                part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _open_part(part: Path) -> IO[bytes]:
    while True:
        file = open(part, "wb", opener=_open)  # noqa: SIM115 - the caller closes it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise InputError("locked", f"another export is writing {part}: wait, or choose another FILE") from error
        if part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat()):
            file.truncate()
            return file
        file.close()  # another export has just renamed this file to its FILE


def _open(path: str, flags: int) -> int:
    """Open a file without truncating it, since another export may still hold the lock."""
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        unchanged = " What was there before is unchanged." if path.exists() else ""
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}.{unchanged} Free some space or give access, "
            "or choose another FILE with --out"
        ) from error
