"""The strategies, judges and detectors that members may choose."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.core.errors import InputError
from lycosa.judges import DEFAULT as AUTOMATIC_JUDGE
from lycosa.revisit.detectors import DEFAULT as DETECTING
from lycosa.revisit.detectors import DETECTORS
from lycosa.strategies import GROUPS, STRATEGIES
from lycosa.text.wordnet import find_wordnet
from lycosa_server.guards import Caller, needs
from lycosa_server.messages import SUMMARIES
from lycosa_server.people.interest_settings import STRATEGY
from lycosa_server.validation import JUDGES, TRAINED_STRATEGIES, UNTRAINED_STRATEGIES

router = APIRouter(tags=["strategies"])


class ChoiceOut(BaseModel):
    name: str
    summary: str
    automatic: bool = Field(description="Whether it is what automatic means.")
    paper: str
    model: str = Field(description="The kind of model of one's own that it uses: rules, browsing; or none.")
    group: str = Field("", description="The heading to list it under.")


@router.get("/strategies")
def list_strategies(person: Caller = needs("read")) -> list[ChoiceOut]:
    """Return strategies, which choose the next page to fetch."""
    groups = {name: title for title, names in GROUPS.items() for name in names}
    offered = {name: STRATEGIES[name] for name in groups if name in UNTRAINED_STRATEGIES or name in TRAINED_STRATEGIES}
    return _choices(offered, [STRATEGY], groups)


@router.get("/judges")
def list_judges(person: Caller = needs("read")) -> list[ChoiceOut]:
    """Return judges, which measure the relevance of pages."""
    return _choices(JUDGES, [AUTOMATIC_JUDGE])


@router.get("/detectors")
def list_detectors(person: Caller = needs("read")) -> list[ChoiceOut]:
    """Return change detectors; several together detect more."""
    return _choices(DETECTORS, DETECTING)


def _choices(
    entries: Mapping[str, Any], automatic: Container[str], groups: Mapping[str, str] = MappingProxyType({})
) -> list[ChoiceOut]:
    return [
        ChoiceOut(
            name=name,
            summary=SUMMARIES.get(name, entry.summary),
            automatic=name in automatic,
            paper=entry.paper,
            model=TRAINED_STRATEGIES.get(name, ""),
            group=groups.get(name, ""),
        )
        for name, entry in entries.items()
        if _is_available(name)
    ]


@cache
def _is_available(name: str) -> bool:
    if name not in ("ehrig", "ssrm", "synset-expansion", "corley-mihalcea"):
        return True
    try:
        find_wordnet()
    except InputError:
        return False
    return True
