"""A person's data as a zip that is sent while it is made: what the database knows, and what each crawl found.

    account.json                              everything in the database about the person
    interests/NAME-ID/crawl-1/pages.jsonl     every page, with its text
    interests/NAME-ID/crawl-1/*.warc.gz       the archive, as it was recorded

A crawl may run meanwhile: of its archive there is what its log knew when its turn came, in whole records.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from lycosa.collection.export import tables
from lycosa.collection.export.selection import Selection
from lycosa.collection.reading import Collection
from lycosa.core.errors import LycosaError
from lycosa.store.log import NAME

PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """A crawl that is to be packed: the folder that it goes into, and where it lies."""

    folder: str
    directory: Path


def folder_of(name: str, interest: str, number: int) -> str:
    """Where a crawl lies in the zip: told by the interest's name, as far as every system can spell it.

    >>> folder_of("Coral reefs / Riffe", "0123456789ab", 2)
    'interests/coral-reefs-riffe-012345/crawl-2'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"interests/{f'{plain}-' if plain else ''}{interest[:6]}/crawl-{number}"


def pack(out: IO[bytes], told: dict[str, Any], crawls: Sequence[Packed], now: float) -> None:
    """Write the zip; a crawl that can't be read has a note in its place, and the others are packed all the same."""
    at = time.gmtime(max(now, 315_532_800.0))[:6]  # a zip knows no time before 1980
    with ZipFile(out, "w", allowZip64=True) as archive:

        @contextmanager
        def entry(name: str, how: int = ZIP_DEFLATED) -> Iterator[IO[bytes]]:
            facts = ZipInfo(name, at)
            facts.compress_type, facts.external_attr = how, 0o600 << 16
            with archive.open(facts, "w", force_zip64=True) as file:
                yield file

        with entry("account.json") as file:
            file.write(json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
        for crawl in crawls:
            if not (crawl.directory / NAME).exists():
                continue  # queued, and not begun yet
            try:
                _pack_crawl(crawl, entry)
            except LycosaError as error:
                with entry(f"{crawl.folder}/problem.txt") as file:
                    # Where the server keeps it is nobody's business.
                    file.write(str(error).replace(str(crawl.directory), crawl.folder).encode("utf-8", "replace"))


def _pack_crawl(crawl: Packed, entry: Callable[..., Any]) -> None:
    with Collection(crawl.directory) as collection:
        with entry(f"{crawl.folder}/pages.jsonl") as file:
            tables.write_jsonl(Selection(collection, everything=True, copies=True, versions=True), file)
        for name, upto in sorted(collection.log.archived().items()):
            with entry(f"{crawl.folder}/{Path(name).name}", ZIP_STORED) as file:  # it is packed already
                _copy(crawl.directory / "archive" / name, file, upto)


def _copy(path: Path, out: IO[bytes], upto: int) -> None:
    """The beginning of a file: what comes behind is still being written."""
    try:
        with open(path, "rb") as file:
            while upto > 0 and (piece := file.read(min(PIECE, upto))):
                out.write(piece)
                upto -= len(piece)
    except OSError as error:
        raise LycosaError(f"cannot read {path.name}: {error.strerror}") from error
