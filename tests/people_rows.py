"""A row in every table, whatever the schema: made from what the database itself says of its columns."""

from __future__ import annotations

import json
from hashlib import sha256

from lycosa.people.database import Database, scripts, statements

FIRST = ("person", "interest", "crawl")
"""What others refer to, in this order."""


SAID = {
    "role": "member",
    "password": "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g",
    "scopes": "feedback read",
    "wishes": json.dumps({"words": "coral reefs", "seeds": ["https://a.example/"]}),
    "look_again": "1d",
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
    "look_first": '["/news/"]',
}
"""Values of columns that may not hold just anything."""


def fill(database: Database, rows: int = 2) -> None:
    """Some rows in each table but `migration`, references included."""
    kinds = _kinds(database)
    for table in sorted(kinds, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name)):
        for number in range(rows):
            database.insert(
                table, {column: _value(table, column, kind, number) for column, kind in kinds[table].items()}
            )


def _value(table: str, column: str, kind: str, number: int) -> str | int | float:
    if "REFERENCES" in kind:
        return f"{kind.split('REFERENCES')[1].split()[0]}-{number}"
    if column == "id" or (table, column) == ("rubbish", "crawl"):
        return f"{table}-{number}"
    if column in ("digest", "feed"):
        return sha256(f"{table} {number}".encode()).hexdigest()
    said = SAID.get((table, column)) or SAID.get(column)
    if said is not None:
        return said
    if kind.startswith("TEXT"):
        if (table, column) == ("audit", "person"):
            return f"person-{number}"
        name = "name" if column == "folded" else column
        return '{"a": 1}' if "'{}'" in kind else f"{name} ä {number}"
    return number + 0.25 if kind.startswith("DOUBLE") else number + (column in ("budget", "number"))


def _kinds(database: Database) -> dict[str, dict[str, str]]:
    """Each table's columns with what the scripts say of them: only those that are there."""
    found: dict[str, dict[str, str]] = {}
    present = database.tables()
    for statement in (part for script in scripts() for part in statements(script)):
        words = statement.split()
        if words[:2] != ["CREATE", "TABLE"] or words[2] not in present:
            continue
        lines = [line.strip().rstrip(",") for line in statement.splitlines()[1:]]
        columns = dict(line.split(None, 1) for line in lines if " " in line)
        found[words[2]] = {name: kind for name, kind in columns.items() if name in present[words[2]]}
    return found
