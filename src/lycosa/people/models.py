"""Models of a person's own: classifiers, rules between classes, browsing, directories of topics.

A row tells of a model, its content is a file of its own. It is its owner's alone: whoever asks for one says whose it
has to be.
"""

from __future__ import annotations

import json
from typing import Any

from lycosa.core.errors import InputError
from lycosa.people.database import Database, Row, Taken
from lycosa.people.interests import LONGEST_NAME, check_room, wishes_of
from lycosa.people.typed import line

JUDGING, GUIDING = ("classifier",), ("rules", "browsing")  # kinds that judge pages, and kinds that strategies go by
LARGEST = 64_000_000  # bytes of one
LONGEST_ABOUT = 2_000_000  # characters of what is told of one


def create(database: Database, now: float, owner: str, name: str, *, most: int, about: Row, **fields: Any) -> Row:
    """A new one of a person, who may have `most` of them; `fields` are those of the row."""
    text = json.dumps(about, ensure_ascii=False)
    if len(text) > LONGEST_ABOUT:
        raise InputError("the names of its classes or topics are too long, all together: shorten them, or take fewer")
    with database.transaction():
        check_room(database, "model", owner, most)
        name = line(name, "the name", LONGEST_NAME, 1)
        return database.insert("model", fields, name=name, about=text, owner=owner, created=now)


def of_person(database: Database, person: str) -> list[Row]:
    return database.rows("SELECT * FROM model WHERE owner = :person ORDER BY created DESC, id", person=person)


def ready(database: Database, owner: str, model: str, kinds: tuple[str, ...]) -> Row:
    """One that can be used, of one of these kinds; an error says what is wrong with it."""
    row = database.find("model", id=model, owner=owner)
    if row is None:
        raise InputError("this model no longer exists, or it is somebody else's: choose another one")
    if row["kind"] not in kinds:
        raise InputError(f"the model {row['name']} is of the kind {row['kind']}: choose one of {' or '.join(kinds)}")
    return row


def remove(database: Database, owner: str, model: str) -> None:
    """Delete the row; its file goes after that. One that an interest goes by stays."""
    with database.transaction():
        database.get("person", owner, locked=True)
        for row in database.rows("SELECT * FROM interest WHERE owner = :owner ORDER BY id", owner=owner):
            wishes = wishes_of(row)
            if model in (wishes.model, wishes.strategy_model):
                raise Taken(f"the interest {row['name']} uses it: choose another model there first")
        database.delete("model", model)


def ids(database: Database) -> set[str]:
    """All there are: what lies among the files and is none of them can go."""
    return {row["id"] for row in database.rows("SELECT id FROM model")}
