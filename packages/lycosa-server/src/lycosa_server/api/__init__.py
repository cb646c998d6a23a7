"""The REST API, version 1. Each module has the `router` of one resource."""

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

JsonColumn = Annotated[dict[str, Any], BeforeValidator(as_dict)]  # {} if damaged


class Body(BaseModel):
    """Base of request bodies; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class Named(BaseModel):
    id: str
    name: str


def routers() -> list[APIRouter]:
    return [import_module(f"lycosa_server.api.{name}_routes").router for name in ROUTE_MODULES]
