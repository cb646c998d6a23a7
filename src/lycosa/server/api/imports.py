"""Addresses out of a file that somebody has: bookmarks, OPML, a list. Nothing of it is kept, nothing is fetched."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, UploadFile
from pydantic import BaseModel, Field

from lycosa.people.typed import line
from lycosa.server.guards import Person, needs
from lycosa.web.sources.files import read_seeds
from lycosa.web.urls import check_seed

router = APIRouter(tags=["interests"])

MOST_BYTES = 5_000_000
MOST_URLS = 1_000
"""As many as an interest can have seeds."""

FORMS = {"sitemap index": "sitemap", "html page": "page"}


class Found(BaseModel):
    """An address, and what the file calls it."""

    url: str
    title: str


class Imported(BaseModel):
    """What the file holds."""

    form: str = Field(description="bookmarks, opml, list, sitemap, feed, or page")
    urls: list[Found]
    skipped: int = Field(description="Entries that are no web addresses, or too many.")
    note: str


@router.post("/imports", responses={413: {"description": "The file is too large"}})
def read_file(file: UploadFile, person: Person = needs("write")) -> Imported:
    """Read the addresses of a file: bookmarks of any browser, OPML, a list, a saved sitemap, feed or page."""
    body = file.file.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise HTTPException(413, f"the file has more than {MOST_BYTES // 1_000_000} MB: split it")
    source = read_seeds(body, _name(file.filename or ""))
    found: dict[str, str] = {}
    skipped = source.skipped
    for text in source.lines:
        url = check_seed(text)
        if url is None:
            skipped += 1
        else:
            found.setdefault(url, "")
    for url, title in zip(source.links.urls, source.links.anchors, strict=True):
        found.setdefault(url, title)
    notes = [source.note] if source.note else []
    if source.nested:
        notes.append(f"{len(source.nested)} further files that it names (feeds, sitemaps) are not read")
    if len(found) > MOST_URLS:
        notes.append(f"the first {MOST_URLS:,} of {len(found):,} addresses are taken")
        skipped += len(found) - MOST_URLS
    urls = [Found(url=url, title=title[:300]) for url, title in list(found.items())[:MOST_URLS]]
    return Imported(form=FORMS.get(source.form, source.form), urls=urls, skipped=skipped, note="; ".join(notes))


def _name(given: str) -> str:
    """What to call the file in a message: as it was called, if that can be shown."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()[:100]
    return line(name, "the name", 100) if name and name.isprintable() else "the file"
