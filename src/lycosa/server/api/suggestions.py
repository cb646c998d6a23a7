"""Seeds, words and pages that a person might like to add to an interest; and what they say to that."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import interests, suggestions
from lycosa.people.typed import line
from lycosa.server.site import Site, site_of
from lycosa.server.suggesting import Suggested, suggest
from lycosa.server.who import Asked, interest_to
from lycosa.server.wishing import checked

router = APIRouter(tags=["suggestions"])


class SeedIdea(BaseModel):
    """A page to start from."""

    url: str
    title: str
    why: str


class TermIdea(BaseModel):
    """A word for the query."""

    term: str
    weight: float
    why: str


class Whose(BaseModel):
    """Another interest of the same person."""

    id: str
    name: str


class PageIdea(BaseModel):
    """A page that another interest of the same person found."""

    url: str
    title: str
    interest: Whose
    score: float
    why: str


class Suggestions(BaseModel):
    """What there is to suggest; nothing where the person does not want any."""

    allowed: bool
    seeds: list[SeedIdea]
    terms: list[TermIdea]
    pages: list[PageIdea]


class Answer(BaseModel):
    """What the person says to a suggestion."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["seed", "term", "page"]
    value: str = Field(min_length=1, max_length=4_000, description="The address, or the word, as it was suggested.")
    answer: Literal["accepted", "dismissed"]


@router.get("/interests/{interest}/suggestions")
def get_suggestions(request: Request, asked: Asked = interest_to("read", "read")) -> Suggestions:
    """Suggestions for the person who asks: from this interest, its feedback, and what is their own."""
    allowed, made = _made(site_of(request), asked)
    return Suggestions(
        allowed=allowed,
        seeds=[SeedIdea(url=idea.url, title=idea.title, why=idea.why) for idea in made.seeds],
        terms=[TermIdea(term=idea.term, weight=idea.weight, why=idea.why) for idea in made.terms],
        pages=[
            PageIdea(
                url=page.url,
                title=page.title,
                interest=Whose(id=page.interest["id"], name=page.interest["name"]),
                score=page.score,
                why=page.why,
            )
            for page in made.pages
        ],
    )


@router.post("/interests/{interest}/suggestions", status_code=204, response_class=Response)
def answer_suggestion(request: Request, body: Answer, asked: Asked = interest_to("edit", "feedback")) -> None:
    """Accept or dismiss a suggestion; it does not come again.

    An accepted seed or page becomes a seed of the interest, an accepted word joins its words: the next crawl goes by
    them.
    """
    site, interest = site_of(request), asked.interest
    value = line(body.value, "the suggestion", 4_000, 1)
    _, made = _made(site, asked)
    offered = {
        "seed": {idea.url for idea in made.seeds},
        "term": {idea.term for idea in made.terms},
        "page": {page.url for page in made.pages},
    }
    if value not in offered[body.kind]:
        raise InputError(f"{value[:200]!r} is not suggested as a {body.kind} now: look at the suggestions again")
    with site.database.transaction():
        told = f"SELECT * FROM interest WHERE id = ?{site.database.lock}"
        row = site.database.row(told, interest["id"])
        if row is not None and body.answer == "accepted":
            wishes = asdict(interests.wishes_of(row))
            if body.kind == "term":
                wishes["words"] = f"{wishes['words']} {value}".strip()
            else:
                wishes["seeds"] = list(dict.fromkeys([*wishes["seeds"], value]))
            wished = checked(wishes, site.database, max(site.settings.max_budget, wishes["budget"]))
            interests.change(site.database, site.clock(), interest["id"], wishes=wished)
        suggestions.answer(site.database, site.clock(), interest["id"], asked.person.id, body.kind, value, body.answer)


def _made(site: Site, asked: Asked) -> tuple[bool, Suggested]:
    """Whether the person wants suggestions, and those there are."""
    row = site.database.row("SELECT preferences FROM person WHERE id = ?", asked.person.id)
    wanted = json.loads(row["preferences"]) if row is not None else {}
    if wanted.get("suggestions", True) is False:
        return False, Suggested()
    return True, suggest(site, asked.interest, asked.person.id, wanted.get("history", True) is not False)
