"""Strategies compared on what an interest has crawled already."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.core.errors import InputError
from lycosa.core.spec import parse
from lycosa.people import comparisons
from lycosa.people.database import Row
from lycosa.people.wishes import AUTOMATIC, STRATEGY
from lycosa.server.api import Body
from lycosa.server.guards import ComparisonAccess, InterestAccess, comparison_to, interest_to
from lycosa.server.validation import TAUGHT, check_strategy

router = APIRouter(tags=["comparisons"])


class Curve(BaseModel):
    """How much one strategy had found after so many pages."""

    strategy: str
    found: list[int]
    share: list[float] = Field(description="Of the crawl's relevant pages.")


class Result(BaseModel):
    """All curves, over the same numbers of pages."""

    pages: list[int] = []
    curves: list[Curve] = []
    recorded: list[int] = Field([], description="The crawl's own relevant pages.")


class Comparison(BaseModel):
    """One comparison, queued, running, finished or failed."""

    id: str
    crawl: str
    strategies: list[str]
    state: str
    reason: str
    created: float
    ended: float | None
    result: Result


class NewComparison(Body):
    """What to compare, on which crawl."""

    crawl: Annotated[str, Field(max_length=64)]
    strategies: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]],
        Field(min_length=1, max_length=6, description="Names of strategies as a crawl may use them, or automatic."),
    ]


@router.post("/interests/{interest}/comparisons", status_code=202)
def compare(wanted: NewComparison, access: InterestAccess = interest_to("edit", "run")) -> Comparison:
    """Replay a crawl of this interest by some strategies. It is done later: ask for the comparison until it is over."""
    database, interest = access.site.database, access.interest["id"]
    crawl = database.row("SELECT id, pages FROM crawl WHERE id = ? AND interest = ?", wanted.crawl, interest)
    if crawl is None:
        raise InputError("this interest has no such crawl: name one of its crawls")
    names = [STRATEGY if name == AUTOMATIC else name for name in wanted.strategies]
    for name in names:
        check_strategy(name)
        if parse(name)[0] in TAUGHT:
            raise InputError(f"{name} needs a model, and can't be compared here: choose others")
    if not crawl["pages"]:
        raise InputError("this crawl has no pages yet: compare when it has some")
    row = comparisons.ask(database, access.site.clock(), interest, crawl["id"], list(dict.fromkeys(names)))
    access.person.record("compare", row["id"])
    return _read(row)


@router.get("/interests/{interest}/comparisons")
def list_comparisons(access: InterestAccess = interest_to("read", "read")) -> list[Comparison]:
    """All comparisons of an interest, newest first."""
    return [_read(row) for row in comparisons.of_interest(access.site.database, access.interest["id"])]


@router.get("/comparisons/{comparison}")
def show_comparison(access: ComparisonAccess = comparison_to("read", "read")) -> Comparison:
    """One comparison."""
    return _read(access.comparison)


@router.delete("/comparisons/{comparison}", status_code=204)
def delete_comparison(access: ComparisonAccess = comparison_to("edit", "run")) -> None:
    """Delete one; if it is running, it is stopped."""
    access.site.database.delete("comparison", access.comparison["id"])


def _read(row: Row) -> Comparison:
    return Comparison(**row | {name: json.loads(row[name]) for name in ("strategies", "result")})
