"""Access control of every route in the OpenAPI schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lycosa_server.api import routers
from lycosa_server.app import PREFIX
from server_world import PAGE, World, make_world

OPEN = {
    "POST /session",
    "POST /invitations/accept",
    "POST /invitations/reset",
    "GET /invitations/check",
    "GET /health",
    "GET /feeds/{key}/changes.atom",
}
"""Routes without sign-in. The key of a feed is its secret; wrong keys are tested with the feeds."""

GIVEN = {"url": PAGE, "q": "coral", "code": "x", "begins": "al", "form": "jsonl"}
"""Values of required query parameters."""

METHODS = ("get", "post", "put", "patch", "delete")
ALLOWED = (403, 404)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return a site for requests that change nothing, shared by the module."""
    path = tmp_path_factory.mktemp("world")
    made = make_world(str(path / "world.sqlite"), path)
    yield made
    made.site.close()


def operations(schema: dict[str, Any]) -> list[str]:
    """Return all operations, such as `GET /interests/{interest}`."""
    return [
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in schema["paths"].items()
        for method in methods
        if method in METHODS
    ]


def ask(client: Any, operation: str, world: World) -> Any:
    """Send an operation on Alice's objects, with an empty body, as guards run before bodies are validated."""
    method, path = operation.split(" ")
    filled = re.sub(r"\{(\w+)\}", lambda part: world.ids[part[1]], path)
    schema = world.site.app.openapi()["paths"][PREFIX + path][method.lower()]
    query = {
        given["name"]: GIVEN[given["name"]]
        for given in schema.get("parameters", ())
        if given["in"] == "query" and given.get("required")
    }
    body = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
    return client.request(method, PREFIX + filled, params=query, **body)


def everything(world: World) -> dict[str, list[str]]:
    """Return all rows, except those of tables that record usage."""
    quiet = {"session", "token", "audit", "attempt", "process"}
    return {
        table: sorted(str(sorted(row.items())) for row in world.site.database.rows(f"SELECT * FROM {table}"))
        for table in world.site.database.tables()
        if table not in quiet
    }


def _all(world: World) -> list[str]:
    return operations(world.site.app.openapi())


def guards() -> dict[str, list[tuple[str, str, str]]]:
    """Return the guards of each operation: kind, mode and scope."""
    return {
        f"{method} {route.path}": [d.call.access for d in route.dependant.dependencies if hasattr(d.call, "access")]
        for router in routers()
        for route in router.routes
        for method in route.methods
    }


def test_routes_have_exactly_one_guard(world: World) -> None:
    found = guards()
    assert len(found) > 60
    assert {} == {name: several for name, several in found.items() if len(several) != 1}
    assert set(found) == set(_all(world))


def test_routes_outside_list_require_sign_in(world: World) -> None:
    let_in = {name for name in _all(world) if ask(world.nobody, name, world).status_code not in ALLOWED}
    assert let_in <= OPEN


def test_revoked_token_is_refused_everywhere(world: World) -> None:
    answers = {name: ask(world.revoked, name, world).status_code for name in _all(world) if name not in OPEN}
    assert {} == {name: status for name, status in answers.items() if status not in ALLOWED}


@pytest.mark.paper("personalized-user-database")
def test_private_things_are_hidden_from_others(world: World) -> None:
    theirs = ("{interest}", "{crawl}", "{model}", "{token}", "{session}", "{notice}")
    asked = [name for name in _all(world) if any(part in name for part in theirs)]
    assert len(asked) > 25
    before = everything(world)
    people = {"mallory": world.mallory, "rita": world.rita, "admin": world.admin}
    answers = {(who, name): ask(people[who], name, world).status_code for who in people for name in asked}
    assert {} == {name: status for name, status in answers.items() if status not in ALLOWED}
    assert before == everything(world)


def test_shared_to_read_refuses_every_change(world: World) -> None:
    allowed = {
        "POST /interests/{interest}/seen",  # marks only the reader's own visit
        "POST /interests/{interest}/feed",
        "DELETE /interests/{interest}/feed",
        "POST /crawls/{crawl}/opened",
        "DELETE /interests/{interest}/shares/{person}",  # guests may leave
    }
    asked = [
        name
        for name in _all(world)
        if ("{interest}" in name or "{crawl}" in name) and not name.startswith("GET ") and name not in allowed
    ]
    assert len(asked) > 10
    before = everything(world)
    people = {"guest": world.guest, "colleague": world.colleague}
    answers = {(who, name): ask(people[who], name, world).status_code for who in people for name in asked}
    assert {} == {name: status for name, status in answers.items() if status not in ALLOWED}
    assert before == everything(world)


def test_admin_routes_refuse_others(world: World) -> None:
    admins = {name for name, (guard,) in guards().items() if guard[2] in ("admin", "metrics")}
    assert len(admins) > 8
    for who in (world.mallory, world.rita):
        assert {403} == {ask(who, name, world).status_code for name in admins}


@pytest.mark.parametrize("who", ["mallory", "rita", "admin"])
def test_lists_exclude_things_of_others(world: World, who: str) -> None:
    asked = [name for name in _all(world) if name.startswith("GET ") and "{" not in name]
    assert len(asked) > 10
    client = getattr(world, who)
    data = {name: ask(client, name, world).text for name in asked}
    for known in world.ids.values():  # ids are permitted in the audit log
        data["GET /audit"] = data["GET /audit"].replace(known, "")
    assert {} == {name: word for name, text in data.items() for word in world.secrets() if word in text}


def test_owner_may_read_everything(world: World) -> None:
    asked = [name for name in _all(world) if name.startswith("GET ") and name not in OPEN]
    answers = {name: ask(world.alice, name, world).status_code for name in asked if "events" not in name}
    refused = {name for name, status in answers.items() if status in ALLOWED}
    admins = {
        "GET /people", "GET /invitations", "GET /audit", "GET /metrics", "GET /server",
    }  # fmt: skip
    assert refused <= admins, refused
    assert {} == {name: status for name, status in answers.items() if status >= 500}


@pytest.fixture
def own_world(database_address: str, tmp_path: Path) -> Iterator[World]:
    """Return a site for requests that change it."""
    made = make_world(database_address, tmp_path)
    yield made
    made.site.close()


def test_owner_may_change_everything(own_world: World) -> None:
    world = own_world
    read = [name for name in _all(world) if name.startswith("GET ") and "events" not in name]
    assert {} == {name: status for name in read if (status := ask(world.alice, name, world).status_code) >= 500}
    last = ("DELETE /interests/{interest}", "DELETE /session", "DELETE /me", "DELETE /me/sessions/{session}")
    mine = [name for name in _all(world) if not name.startswith("GET ") and name not in OPEN]
    gone = (  # operations that delete what others need go last
        "DELETE /models/{model}",
        "DELETE /crawls/{crawl}",
        "DELETE /me/tokens/{token}",
        "DELETE /people/{person}",
    )
    ordered = [name for name in mine if name not in (*last, *gone)] + [name for name in gone if name in mine]
    answers = {}
    for name in [*ordered, "DELETE /interests/{interest}"]:
        client = world.admin if re.match(r"\w+ /(people|invitations|catalogue)", name) else world.alice
        answers[name] = ask(client, name, world).status_code
    refused = {name: status for name, status in answers.items() if status in ALLOWED or status >= 500}
    assert {} == refused


def test_docs_pages_are_disabled(world: World) -> None:
    client = world.nobody
    assert 200 == client.get(f"{PREFIX}/openapi.json").status_code
    assert {404} == {client.get(path).status_code for path in ("/docs", "/redoc", f"{PREFIX}/docs")}
