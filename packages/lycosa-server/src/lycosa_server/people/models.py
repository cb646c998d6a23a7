"""People's models: classifiers, rules between classes, browsing models, web directories.

    queued ──> training ──> ready
                    └────> failed

Uploaded models are ready at once. Metadata is in a row, the content in a file. Models are private to their owner, so
every query names the owner.
"""

from __future__ import annotations

import json
from typing import Any

from lycosa.core.errors import InputError
from lycosa_server.people.database import Conflict, Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.interests import MAX_NAME_LENGTH, check_limit
from lycosa_server.people.text_input import clean_line

JUDGING = ("classifier",)  # kinds that can judge pages
MAX_FILE_BYTES = 64_000_000  # maximum size of a model file
MAX_ABOUT_CHARACTERS = 2_000_000  # maximum characters of its metadata


def create(database: Database, now: float, owner: str, name: str, kind: str, *, max_count: int, **fields: Any) -> Row:
    row: Row = {"id": new_id(), "state": "queued", **fields}
    row["name"] = clean_line(name, "the name", MAX_NAME_LENGTH, 1)
    row["sources"] = _text(fields.get("sources", {}), 250_000)
    row["about"] = _text(fields.get("about", {}), MAX_ABOUT_CHARACTERS)
    with database.transaction():
        check_limit(database, "model", owner, max_count)
        database.insert("model", row, owner=owner, kind=kind, created=now)
        return database.get("model", row["id"]) or row


def of_person(database: Database, person: str) -> list[Row]:
    return database.rows("SELECT * FROM model WHERE owner = :person ORDER BY created DESC, id", person=person)


def ready(database: Database, owner: str, model: str, kinds: tuple[str, ...]) -> Row:
    row = database.find("model", id=model, owner=owner)
    if row is None:
        raise InputError("unknown-model", "this model does not exist, or is not yours: choose another one")
    if row["kind"] not in kinds:
        raise InputError("wrong-kind", f"{row['name']} is a {row['kind']} model: choose a {' or '.join(kinds)}")
    if row["state"] != "ready":
        raise InputError("not-ready", f"the model {row['name']} is {row['state']}: wait until it is ready")
    return row


def remove(database: Database, owner: str, model: str) -> None:
    with database.transaction():
        database.get("person", owner, locked=True)
        for row in database.rows("SELECT * FROM interest WHERE owner = :owner ORDER BY id", owner=owner):
            settings = InterestSettings.from_json(row["settings"])
            if model in (settings.model, settings.strategy_model):
                raise Conflict(f"the interest {row['name']} uses this model: choose another model there first")
        database.delete("model", model)


def take_queued(database: Database) -> Row | None:
    row = database.row("SELECT id FROM model WHERE state = 'queued' ORDER BY created, id LIMIT 1")
    start = "UPDATE model SET state = 'training' WHERE id = :id AND state = 'queued'"
    if row is None or not database.run(start, id=row["id"]):
        return None
    return database.get("model", row["id"])


def end_training(database: Database, now: float, model: str, state: str, facts: dict[str, Any], **fields: Any) -> bool:
    changes = {"state": state, "about": _text(facts, MAX_ABOUT_CHARACTERS), "ended": now, **fields}
    return database.update("model", model, changes) > 0


def model_ids(database: Database) -> set[str]:
    return {row["id"] for row in database.rows("SELECT id FROM model")}


def _text(data: dict[str, Any], max_characters: int) -> str:
    text = json.dumps(data, ensure_ascii=False)
    if len(text) > max_characters:
        raise InputError("too-large", "the names of classes or topics are too long in total: shorten them")
    return text
