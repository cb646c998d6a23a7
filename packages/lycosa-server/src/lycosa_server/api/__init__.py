"""The REST API, version 1. Each module has the `router` of one resource."""

from __future__ import annotations

from typing import Annotated, Any

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
