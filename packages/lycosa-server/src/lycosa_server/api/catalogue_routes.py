"""The seed catalogue: read by everyone, maintained by admins."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa_server.api import Body
from lycosa_server.guards import Caller, needs
from lycosa_server.people import catalogue
from lycosa_server.people.permissions import NotFound
from lycosa_server.validation import web_address

router = APIRouter(tags=["catalogue"])


class CatalogueSeed(BaseModel):
    id: str
    url: str
    title: str
    note: str


class Preference(BaseModel):
    preference: str
    seeds: list[CatalogueSeed]


class CatalogueOut(BaseModel):
    preferences: list[Preference]


class CatalogueEntry(CatalogueSeed):
    preference: str


class NewCatalogueEntry(Body):
    preference: str = Field(min_length=1, max_length=200)
    url: str = Field(min_length=1, max_length=4_000)
    title: str = Field("", max_length=400)
    note: str = Field("", max_length=2_000)


@router.get("/catalogue")
def get_catalogue(person: Caller = needs("read")) -> CatalogueOut:
    """Return every preference with its seeds."""
    preferences: dict[str, Preference] = {}
    for row in catalogue.entries(person.site.database):
        name = row["preference"]
        preferences.setdefault(name, Preference(preference=name, seeds=[])).seeds.append(CatalogueSeed(**row))
    return CatalogueOut(preferences=list(preferences.values()))


@router.post("/catalogue", status_code=201)
def add_entry(body: NewCatalogueEntry, person: Caller = needs("admin")) -> CatalogueEntry:
    """Add a seed to the catalogue."""
    given = {**body.model_dump(), "url": web_address(body.url)}
    row = catalogue.add(person.site.database, person.site.clock(), **given)
    person.record("catalogue entry added", row["id"], f"{row['preference']}: {row['url']}")
    return CatalogueEntry(**row)


@router.delete("/catalogue/{entry}", status_code=204)
def remove_entry(entry: str, person: Caller = needs("admin")) -> None:
    """Remove a seed from the catalogue."""
    if not person.site.database.delete("catalogue", entry):
        raise NotFound("no such entry")
    person.record("catalogue entry removed", entry)
