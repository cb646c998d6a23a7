"""Strategies compared on what an interest has crawled already."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lycosa.core.errors import InputError
from lycosa.people import audit, comparisons
from lycosa.people.database import Row
from lycosa.server.address import address_of
from lycosa.server.site import Site, site_of
from lycosa.server.who import Asked, Mode, Person, interest_to, may, needs
from lycosa.server.wishing import AUTOMATIC, STRATEGY, check_strategy

router = APIRouter(tags=["comparisons"])


class Curve(BaseModel):
    """How much one strategy had found after so many pages."""

    strategy: str
    found: list[int]
    share: list[float] = Field(description="Of all that the crawl has found.")


class Result(BaseModel):
    """All curves, over the same numbers of pages."""

    pages: list[int] = []
    curves: list[Curve] = []
    recorded: list[int] = Field([], description="What the crawl itself had found.")


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


class NewComparison(BaseModel):
    """What to compare, on which crawl."""

    model_config = ConfigDict(extra="forbid")

    crawl: Annotated[str, Field(max_length=64)]
    strategies: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]],
        Field(min_length=1, max_length=6, description="Names of strategies as a crawl may use them, or automatic."),
    ]


@router.post("/interests/{interest}/comparisons", status_code=202)
def compare(request: Request, wanted: NewComparison, asked: Asked = interest_to("edit", "run")) -> Comparison:
    """Replay a crawl of this interest by some strategies. It is done later: ask for the comparison until it is over."""
    site = site_of(request)
    if "\0" in wanted.crawl:
        raise InputError("the crawl's name has a NUL character in it")
    crawl = site.database.row(
        "SELECT id, pages FROM crawl WHERE id = ? AND interest = ?", wanted.crawl, asked.interest["id"]
    )
    if crawl is None:
        raise InputError("this interest has no such crawl: name one of its crawls")
    names = [STRATEGY if name == AUTOMATIC else name for name in wanted.strategies]
    for name in names:
        check_strategy(name)
    if not crawl["pages"]:
        raise InputError("this crawl has no pages yet: compare when it has some")
    row = comparisons.ask(site.database, site.clock(), asked.interest["id"], crawl["id"], list(dict.fromkeys(names)))
    person = asked.person
    audit.record(site.database, site.clock(), person.id, person.name, "compare", row["id"], address=address_of(request))
    return _shown(row)


@router.get("/interests/{interest}/comparisons")
def list_comparisons(request: Request, asked: Asked = interest_to("read", "read")) -> list[Comparison]:
    """All of an interest, the newest first."""
    return [_shown(row) for row in comparisons.of_interest(site_of(request).database, asked.interest["id"])]


@router.get("/comparisons/{comparison}")
def show_comparison(request: Request, comparison: str, person: Person = needs("read")) -> Comparison:
    """One of them."""
    return _shown(_of(site_of(request), person, comparison, "read"))


@router.delete("/comparisons/{comparison}", status_code=204)
def delete_comparison(request: Request, comparison: str, person: Person = needs("run")) -> Response:
    """Forget one; if it runs, it is ended."""
    site = site_of(request)
    comparisons.delete(site.database, _of(site, person, comparison, "edit")["id"])
    return Response(status_code=204)


def _of(site: Site, person: Person, comparison: str, mode: Mode) -> Row:
    """One whose interest the person may go so far with."""
    row = None if "\0" in comparison else comparisons.get(site.database, comparison)
    if row is None:
        raise HTTPException(404, "no such comparison")
    try:
        may(site, person, row["interest"], mode)
    except HTTPException as error:
        detail = "no such comparison" if error.status_code == 404 else error.detail
        raise HTTPException(error.status_code, detail) from None
    return row


def _shown(row: Row) -> Comparison:
    result: Any = json.loads(row["result"])
    return Comparison(
        id=row["id"],
        crawl=row["crawl"],
        strategies=json.loads(row["strategies"]),
        state=row["state"],
        reason=row["reason"],
        created=row["created"],
        ended=row["ended"],
        result=Result(**result),
    )
