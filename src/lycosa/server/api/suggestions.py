"""Seeds, words and pages that a person might like to add to an interest; and what they say to that."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.core.errors import InputError
from lycosa.people import interests, suggestions
from lycosa.people.accounts import preferences
from lycosa.people.typed import line
from lycosa.server.api import Body
from lycosa.server.guards import InterestAccess, interest_to
from lycosa.server.suggesting import Suggested, suggest
from lycosa.server.validation import checked

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


class Answer(Body):
    """What the person says to a suggestion."""

    kind: Literal["seed", "term", "page"]
    value: str = Field(min_length=1, max_length=4_000, description="The address, or the word, as it was suggested.")
    answer: Literal["accepted", "dismissed"]


@router.get("/interests/{interest}/suggestions")
def get_suggestions(access: InterestAccess = interest_to("read", "read")) -> Suggestions:
    """Suggestions for the person who asks: from this interest, its feedback, and what is their own."""
    return Suggestions.model_validate(_suggested(access), from_attributes=True)


@router.post("/interests/{interest}/suggestions", status_code=204)
def answer_suggestion(body: Answer, access: InterestAccess = interest_to("edit", "feedback")) -> None:
    """Accept or dismiss a suggestion; it does not come again.

    An accepted seed or page becomes a seed of the interest, an accepted word joins its words: the next crawl goes by
    them.
    """
    site, interest = access.site, access.interest["id"]
    value = line(body.value, "the suggestion", 4_000, 1)
    suggested = _suggested(access)
    offered = {
        "seed": {idea.url for idea in suggested.seeds},
        "term": {idea.term for idea in suggested.terms},
        "page": {page.url for page in suggested.pages},
    }
    if value not in offered[body.kind]:
        raise InputError(f"{value[:200]!r} is not suggested as a {body.kind} now: look at the suggestions again")
    with site.database.transaction():
        row = site.database.get("interest", interest, locked=True)
        if row is not None and body.answer == "accepted":
            wishes = asdict(interests.wishes_of(row))
            if body.kind == "term":
                wishes["words"] = f"{wishes['words']} {value}".strip()
            else:
                wishes["seeds"] = list(dict.fromkeys([*wishes["seeds"], value]))
            wished = checked(wishes, site.database, max(site.settings.max_budget, wishes["budget"]))
            interests.change(site.database, site.clock(), interest, wishes=wished)
        suggestions.answer(site.database, site.clock(), interest, access.person.id, body.kind, value, body.answer)


def _suggested(access: InterestAccess) -> Suggested:
    """What there is to suggest, if the person wants suggestions."""
    wanted = preferences(access.site.database, access.person.id)
    if wanted.get("suggestions", True) is False:
        return Suggested(allowed=False)
    return suggest(access.site, access.interest, access.person.id, wanted.get("history", True) is not False)
