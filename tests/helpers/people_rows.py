"""A row in every table, generated from the schema."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from sqlalchemy import Column, Double, Text

from lycosa_server.people.database import Database
from lycosa_server.people.schema import metadata

SAID = {
    "role": "member",
    "password": "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g",
    "scopes": "feedback read",
    "settings": json.dumps({"words": "coral reefs", "seeds": ["https://a.example/"]}),
    "revisit_every": "1d",
    "mode": "read",
    "task": "crawl",
    "wanted": "run",
    "answer": "accepted",
    "judging": "labels",
    ("crawl", "state"): "finished",
    ("suggestion", "kind"): "seed",
    ("notice", "kind"): "changes",
    ("model", "kind"): "classifier",
    ("model", "state"): "queued",
    "revisit_first": '["/news/"]',
}
"""Values of columns with constraints."""


def fill(database: Database, rows: int = 2) -> None:
    """Insert rows into each table, including references."""
    for table in metadata.sorted_tables:
        for number in range(rows):
            database.insert(table.name, {column.name: _value(table.name, column, number) for column in table.columns})


def _value(table: str, column: Column[Any], number: int) -> str | int | float:
    name = column.name
    for reference in column.foreign_keys:
        return f"{reference.column.table.name}-{number}"
    if name == "id":
        return f"{table}-{number}"
    if table == "deleted_crawl" and name == "crawl":
        return f"deleted-{number}"
    if name in ("digest", "feed"):
        return sha256(f"{table} {number}".encode()).hexdigest()
    said = SAID.get((table, name)) or SAID.get(name)
    if said is not None:
        return said
    if isinstance(column.type, Text):
        if (table, name) == ("audit", "person"):
            return f"person-{number}"
        if column.server_default is not None and "{}" in str(column.server_default.arg):
            return '{"a": 1}'
        return f"{'name' if name == 'folded' else name} ä {number}"
    return number + 0.25 if isinstance(column.type, Double) else number + (name in ("budget", "number"))
