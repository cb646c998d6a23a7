"""Own data, to take along: everything of a person, of an interest, or the pages of a crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, Literal

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import StreamingResponse

from lycosa.collection.export import FORMATS
from lycosa.collection.export.selection import Selection
from lycosa.collection.reading import Collection
from lycosa.people import audit, owndata
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.api.pages import Threshold
from lycosa.server.packing import Packed, folder_of, pack
from lycosa.server.site import Site, site_of
from lycosa.server.streaming import Busy, streamed
from lycosa.server.who import Asked, AskedCrawl, Person, crawl_to, interest_to, needs
from lycosa.store.log import NAME

router = APIRouter(tags=["exports"])

Form = Literal["jsonl", "csv", "warc"]
TYPES = {"jsonl": "application/jsonl", "csv": "text/csv", "warc": "application/warc"}
SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "warc": "warc.gz"}
BUSY = {"description": "Other exports are being sent: the header Retry-After says when to try again"}
ZIP: dict[int | str, dict[str, Any]] = {
    429: BUSY,
    200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}},
}
FILE: dict[int | str, dict[str, Any]] = {
    429: BUSY,
    200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in TYPES.values()}},
}


@router.get("/me/export", response_class=StreamingResponse, responses=ZIP)
def export_everything(request: Request, person: Person = needs("account")) -> StreamingResponse:
    """Everything of a person as a zip: what the database knows of them, and what each of their crawls found."""
    site = site_of(request)
    rows = site.database.rows(
        "SELECT c.id, c.number, c.interest, i.name FROM crawl c JOIN interest i ON i.id = c.interest "
        "WHERE i.owner = ? ORDER BY i.created, c.number",
        person.id,
    )
    _note(request, person, "account exported", person.id)
    return _zip(site, person, owndata.of_person(site.database, person.id), rows, "lycosa")


@router.get("/interests/{interest}/export", response_class=StreamingResponse, responses=ZIP)
def export_interest(request: Request, asked: Asked = interest_to("own", "account")) -> StreamingResponse:
    """The same for one interest."""
    site, interest = site_of(request), asked.interest
    rows = site.database.rows(
        "SELECT id, number, interest FROM crawl WHERE interest = ? ORDER BY number", interest["id"]
    )
    _note(request, asked.person, "interest exported", interest["id"])
    told = owndata.of_interest(site.database, interest["id"])
    return _zip(site, asked.person, told, [{**row, "name": interest["name"]} for row in rows], "lycosa-interest")


@router.get("/crawls/{crawl}/export", response_class=StreamingResponse, responses=FILE)
def export_crawl(
    request: Request,
    form: Form = "jsonl",
    everything: bool = False,
    threshold: Threshold = None,
    asked: AskedCrawl = crawl_to("read", "read"),
) -> StreamingResponse:
    """The pages that were found, or with `everything` all that were fetched, as a table or as a web archive.

    `threshold`: what counts as found, if not as the crawl has it.
    """
    if not (asked.directory / NAME).exists():
        raise HTTPException(404, "this crawl has not fetched anything yet")
    kind = FORMATS[form]

    def write(out: IO[bytes]) -> None:
        with Collection(asked.directory, threshold) as collection:
            kind.write(Selection(collection, everything=everything, versions=kind.versions == "all"), out)

    _note(request, asked.person, "crawl exported", asked.crawl["id"])
    name = f"{folder_of(asked.interest['name'], asked.interest['id'], asked.crawl['number']).replace('/', '-')[10:]}"
    return _sent(site_of(request), asked.person, write, TYPES[form], f"{name}.{SUFFIXES[form]}")


def _zip(site: Site, person: Person, told: dict[str, Any], rows: list[Row], name: str) -> StreamingResponse:
    crawls = [
        Packed(folder_of(row["name"], row["interest"], row["number"]), site.settings.crawl_directory(row["id"]))
        for row in rows
    ]
    now = site.clock()
    return _sent(site, person, lambda out: pack(out, told, crawls, now), "application/zip", f"{name}.zip")


def _sent(site: Site, person: Person, write: Callable[[IO[bytes]], object], kind: str, name: str) -> StreamingResponse:
    def counted(out: IO[bytes]) -> None:
        with site.writers.one(person.id):
            write(out)

    pieces = streamed(counted)
    try:
        first = next(pieces, b"")  # also begins it: only then is it ended, and not counted any more, if nobody reads on
    except Busy:
        told = "other exports are being sent: try again when they are done"
        raise HTTPException(429, told, {"Retry-After": "30"}) from None
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_joined(first, pieces), media_type=kind, headers=headers)


def _joined(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from others


def _note(request: Request, person: Person, action: str, subject: str) -> None:
    site = site_of(request)
    audit.record(
        site.database, site.clock(), person.id, person.name, action, subject, address=address_of(request)
    )  # fmt: skip
