"""The REST API, version 1: one file a resource. Each has a `router`; `routers()` is all of them."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict

from lycosa_server.people.database import as_dict

ROUTE_MODULES = (
    "session own_account people interest catalogue strategy model crawl live page search feedback suggestion change "
    "export health"
).split()

JsonColumn = Annotated[dict[str, Any], BeforeValidator(as_dict)]  # empty where it is damaged


class Body(BaseModel):
    """What a client sends: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")


class Named(BaseModel):
    """A person, an interest or a model."""

    id: str
    name: str


def routers() -> list[APIRouter]:
    return [import_module(f"lycosa_server.api.{name}_routes").router for name in ROUTE_MODULES]
