"""What a member may choose: strategies and judges that need no file, no training and no code of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.core.errors import InputError
from lycosa.estimators import describe as strategy_parameters
from lycosa.people.wishes import STRATEGY
from lycosa.server.guards import Person, needs
from lycosa.server.messages import summary
from lycosa.server.validation import GUIDES, JUDGES, choices
from lycosa.text.wordnet import find_wordnet
from lycosa.topics import describe as judge_parameters

router = APIRouter(tags=["strategies"])

JUDGE = "vector"
"""What automatic means for a judge."""

_BY_MEANING = ("ehrig", "ssrm", "synset-expansion", "corley-mihalcea")


class Choice(BaseModel):
    """A strategy or a judge."""

    name: str
    summary: str
    automatic: bool = Field(description="Whether it is what automatic means.")
    paper: str
    parameters: dict[str, str] = Field(description="What it may be told, as in best-first,merge=sum.")


@router.get("/strategies")
def list_strategies(person: Person = needs("read")) -> list[Choice]:
    """How a crawl may choose what to fetch next."""
    return _choices(GUIDES, STRATEGY, strategy_parameters)


@router.get("/judges")
def list_judges(person: Person = needs("read")) -> list[Choice]:
    """How pages may be judged."""
    return _choices(JUDGES, JUDGE, judge_parameters)


def _choices(entries: Mapping[str, Any], automatic: str, parameters: Callable[[str], Any]) -> list[Choice]:
    return [
        Choice(
            name=name,
            summary=summary(name, entry.summary),
            automatic=name == automatic,
            paper=entry.paper,
            parameters=choices(parameters(name)),
        )
        for name, entry in entries.items()
        if _there(name)
    ]


@cache
def _there(name: str) -> bool:
    """Whether this server has what it takes: WordNet, word vectors."""
    if name == "embedding":
        return find_spec("wordllama") is not None
    if name not in _BY_MEANING:
        return True
    try:
        find_wordnet()
    except InputError:
        return False
    return True
