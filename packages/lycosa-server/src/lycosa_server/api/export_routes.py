"""Exports of all data of a person or an interest, or of the pages of a crawl.

A person's data are streamed as a zip file of database rows and crawled pages.

    account.json                              all database rows about the person
    models/KIND-ID                            model files, as uploaded
    interests/NAME-ID/crawl-1/pages.jsonl     every page, with its text
    interests/NAME-ID/crawl-1/*.warc.gz       the archive, as recorded

Crawls may be running: their archives are cut after the last record in the log at that moment.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from fastapi import APIRouter, HTTPException
from fastapi.responses import StreamingResponse

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import FORMATS, tables
from lycosa.collection.export.selection import Selection
from lycosa.core.errors import LycosaError
from lycosa.store.log import NAME
from lycosa_server.api.page_routes import Threshold
from lycosa_server.guards import Caller, CrawlAccess, InterestAccess, crawl_to, interest_to, needs
from lycosa_server.people import erasing, models
from lycosa_server.streaming import streamed

router = APIRouter(tags=["exports"])

TYPES = {"jsonl": "application/jsonl", "csv": "text/csv", "warc": "application/warc", "wacz": "application/wacz"}


def _answers(*kinds: str) -> dict[int | str, dict[str, Any]]:
    file = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": dict.fromkeys(kinds, file)}}


@router.get("/me/export", response_class=StreamingResponse, responses=_answers("application/zip"))
def export_everything(person: Caller = needs("account")) -> StreamingResponse:
    """Return all data of a person as a zip file: database rows and crawled pages."""
    database = person.site.database
    person.record("account exported", person.id)
    model_files = {
        f"models/{row['kind']}-{row['id'][:6]}": person.site.settings.model_file(row["id"])
        for row in models.of_person(database, person.id)
        if row["state"] == "ready"
    }
    return _zip(person, erasing.data_of_person(database, person.id), "lycosa", model_files, owner=person.id)


@router.get("/interests/{interest}/export", response_class=StreamingResponse, responses=_answers("application/zip"))
def export_interest(access: InterestAccess = interest_to("own", "account")) -> StreamingResponse:
    """Return all data of an interest as a zip file."""
    interest = access.interest["id"]
    access.person.record("interest exported", interest)
    data = erasing.data_of_interest(access.site.database, interest)
    return _zip(access.person, data, "lycosa-interest", {}, interest=interest)


@router.get("/crawls/{crawl}/export", response_class=StreamingResponse, responses=_answers(*TYPES.values()))
def export_crawl(
    form: Literal["jsonl", "csv", "warc", "wacz"] = "jsonl",
    everything: bool = False,
    threshold: Threshold = None,
    access: CrawlAccess = crawl_to("read", "read"),
) -> StreamingResponse:
    """Return the pages relevant by `threshold`, or with `everything` all pages, as a table or a web archive."""
    if not (access.directory / NAME).exists():
        raise HTTPException(404, "this crawl has not fetched anything yet")
    kind = FORMATS[form]

    def write(out: IO[bytes]) -> None:
        with CrawlDirectory(access.directory, threshold) as collection:
            kind.write(Selection(collection, everything=everything, versions=kind.default_versions == "all"), out)

    access.person.record("crawl exported", access.crawl["id"])
    folder = _folder(access.interest["name"], access.interest["id"], access.crawl["number"])
    name = folder.removeprefix("interests/").replace("/", "-")
    return _sent(access.person, write, TYPES[form], f"{name}{kind.suffixes[0]}")


def _zip(
    person: Caller, account: dict[str, Any], name: str, files: Mapping[str, Path], owner: str = "", interest: str = ""
) -> StreamingResponse:
    settings, now = person.site.settings, person.site.clock()
    rows = person.site.database.rows(
        "SELECT c.id, c.number, c.interest, i.name FROM crawl c JOIN interest i ON i.id = c.interest "
        "WHERE i.owner = :owner OR i.id = :interest ORDER BY i.created, c.number",
        owner=owner,
        interest=interest,
    )
    crawls = [(_folder(it["name"], it["interest"], it["number"]), settings.crawl_directory(it["id"])) for it in rows]
    return _sent(person, lambda out: _pack(out, account, crawls, now, files), "application/zip", f"{name}.zip")


def _sent(person: Caller, write: Callable[[IO[bytes]], object], kind: str, name: str) -> StreamingResponse:
    def counted(out: IO[bytes]) -> None:
        with person.site.writers.one(person.id):
            write(out)

    pieces = streamed(counted)
    # Start the writer now, because only a started generator frees its place in the quota when the client disconnects.
    first = next(pieces, b"")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chain((first,), pieces), media_type=kind, headers=headers)


def _folder(name: str, interest: str, number: int) -> str:
    """Return the folder of a crawl in the zip, named after the interest in portable characters.

    >>> _folder("Coral reefs / Riffe", "0123456789ab", 2)
    'interests/coral-reefs-riffe-012345/crawl-2'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"interests/{f'{plain}-' if plain else ''}{interest[:6]}/crawl-{number}"


def _pack(
    out: IO[bytes], account: dict[str, Any], crawls: Sequence[tuple[str, Path]], now: float, files: Mapping[str, Path]
) -> None:
    """Write the zip. A crawl that cannot be read gets a note in its folder; the others are still packed."""
    at = time.gmtime(max(now, 315_532_800.0))[:6]  # zip files cannot have times before 1980
    with ZipFile(out, "w", allowZip64=True) as archive:

        def entry(name: str, how: int = ZIP_DEFLATED) -> IO[bytes]:
            facts = ZipInfo(name, at)
            facts.compress_type, facts.external_attr = how, 0o600 << 16
            return archive.open(facts, "w", force_zip64=True)

        with entry("account.json") as file:
            file.write(json.dumps(account, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
        for name, path in files.items():
            if path.is_file():
                with entry(name) as file:
                    _copy(path, file, path.stat().st_size)
        for folder, directory in crawls:
            if not (directory / NAME).exists():
                continue  # queued, but not started
            try:
                _pack_crawl(folder, directory, entry)
            except LycosaError as error:
                with entry(f"{folder}/problem.txt") as file:
                    # Clients should not learn the server's path.
                    file.write(str(error).replace(str(directory), folder).encode("utf-8", "replace"))


def _pack_crawl(folder: str, directory: Path, entry: Callable[..., IO[bytes]]) -> None:
    with CrawlDirectory(directory) as collection:
        with entry(f"{folder}/pages.jsonl") as file:
            tables.write_jsonl(Selection(collection, everything=True, copies=True, versions=True), file)
        for name, upto in sorted(collection.log.archived().items()):
            with entry(f"{folder}/{Path(name).name}", ZIP_STORED) as file:  # already compressed
                _copy(directory / "archive" / name, file, upto)


def _copy(path: Path, out: IO[bytes], upto: int) -> None:
    try:
        with open(path, "rb") as file:
            while upto > 0 and (piece := file.read(min(1 << 20, upto))):
                out.write(piece)
                upto -= len(piece)
    except BrokenPipeError:  # the client has disconnected
        raise
    except OSError as error:
        raise LycosaError(f"cannot read {path.name}: {error.strerror}") from error
