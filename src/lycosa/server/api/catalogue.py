"""The seed catalogue: for everyone to choose from, for admins to keep."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import audit, catalogue
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.site import site_of
from lycosa.server.who import Person, needs
from lycosa.web.urls import check_seed

router = APIRouter(tags=["catalogue"])


class CatalogueSeed(BaseModel):
    """A place to start from."""

    id: str
    url: str
    title: str
    note: str


class Preference(BaseModel):
    """What somebody may like, and where that begins."""

    preference: str
    seeds: list[CatalogueSeed]


class Catalogue(BaseModel):
    """All of it."""

    preferences: list[Preference]


class CatalogueEntry(CatalogueSeed):
    """A place, with the preference it stands under."""

    preference: str


class NewEntry(BaseModel):
    """A place to be added."""

    model_config = ConfigDict(extra="forbid")
    preference: str = Field(min_length=1, max_length=200)
    url: str = Field(min_length=1, max_length=4_000)
    title: str = Field("", max_length=400)
    note: str = Field("", max_length=2_000)


class ChangedEntry(BaseModel):
    """What is to be changed of it; what is left out or null stays."""

    model_config = ConfigDict(extra="forbid")
    preference: str | None = Field(None, min_length=1, max_length=200)
    url: str | None = Field(None, min_length=1, max_length=4_000)
    title: str | None = Field(None, max_length=400)
    note: str | None = Field(None, max_length=2_000)


@router.get("/catalogue")
def get_catalogue(request: Request, person: Person = needs("read")) -> Catalogue:
    """Every preference with its seeds."""
    found: dict[str, list[CatalogueSeed]] = {}
    for row in catalogue.entries(site_of(request).database):
        found.setdefault(row["preference"], []).append(
            CatalogueSeed(id=row["id"], url=row["url"], title=row["title"], note=row["note"])
        )
    return Catalogue(preferences=[Preference(preference=name, seeds=seeds) for name, seeds in found.items()])


@router.post("/catalogue", status_code=201, responses={409: {"description": "It is there already"}})
def add_entry(request: Request, body: NewEntry, person: Person = needs("admin")) -> CatalogueEntry:
    """Add a place to start from."""
    site = site_of(request)
    row = catalogue.add(
        site.database, site.clock(), body.preference, _address(body.url), body.title, body.note
    )  # fmt: skip
    _note(request, person, "catalogue entry added", row)
    return _entry(row)


@router.patch("/catalogue/{entry}", responses={409: {"description": "That is there already"}})
def change_entry(request: Request, entry: str, body: ChangedEntry, person: Person = needs("admin")) -> CatalogueEntry:
    """Change a place. Crawls that were started from it before go on as they are."""
    given = {key: value for key, value in body.model_dump().items() if value is not None}
    if "url" in given:
        given["url"] = _address(given["url"])
    row = catalogue.change(site_of(request).database, entry, **given)
    if row is None:
        raise HTTPException(404, "no such entry")
    _note(request, person, "catalogue entry changed", row)
    return _entry(row)


@router.delete("/catalogue/{entry}", status_code=204, response_class=Response)
def remove_entry(request: Request, entry: str, person: Person = needs("admin")) -> None:
    """Take a place out."""
    if not catalogue.remove(site_of(request).database, entry):
        raise HTTPException(404, "no such entry")
    _note(request, person, "catalogue entry removed", {"id": entry})


def _address(text: str) -> str:
    url = check_seed(text)
    if url is None:
        raise InputError(f"{text[:200]!r} is not a web address: write it like https://example.org/page")
    return url


def _entry(row: Row) -> CatalogueEntry:
    return CatalogueEntry(**{key: row[key] for key in ("id", "preference", "url", "title", "note")})


def _note(request: Request, person: Person, action: str, row: Row) -> None:
    site = site_of(request)
    detail = f"{row['preference']}: {row['url']}" if "url" in row else ""
    audit.record(
        site.database, site.clock(), person.id, person.name, action, row["id"], detail, address_of(request)
    )  # fmt: skip
