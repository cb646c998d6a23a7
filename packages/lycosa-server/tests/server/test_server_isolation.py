"""Nobody gets at what is another's: every route, from the OpenAPI schema, so that a new one can't be forgotten."""

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
"""What nobody needs to sign in for. The feeds' key is the secret; what a wrong one gets is tested with the feeds."""

GIVEN = {"url": PAGE, "q": "coral", "code": "x", "begins": "al", "form": "jsonl"}
"""Query parameters that have to be given."""

METHODS = ("get", "post", "put", "patch", "delete")
ALLOWED = (403, 404)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One world for all questions that must change nothing."""
    path = tmp_path_factory.mktemp("world")
    made = make_world(str(path / "world.sqlite"), path)
    yield made
    made.site.close()


def operations(schema: dict[str, Any]) -> list[str]:
    """Every operation, as `GET /interests/{interest}`."""
    return [
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in schema["paths"].items()
        for method in methods
        if method in METHODS
    ]


def ask(client: Any, operation: str, world: World) -> Any:
    """The operation on what is Alice's, with an empty body: guards speak before bodies are read."""
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
    """All that the database holds, but for when somebody was last seen."""
    quiet = {"session", "token", "audit", "attempt", "process"}
    return {
        table: sorted(str(sorted(row.items())) for row in world.site.database.rows(f"SELECT * FROM {table}"))
        for table in world.site.database.tables()
        if table not in quiet
    }


def _all(world: World) -> list[str]:
    return operations(world.site.app.openapi())


def guards() -> dict[str, list[tuple[str, str, str]]]:
    """For each operation what guards it has: on what, how far, and the scope."""
    return {
        f"{method} {route.path}": [d.call.access for d in route.dependant.dependencies if hasattr(d.call, "access")]
        for router in routers()
        for route in router.routes
        for method in route.methods
    }


def test_every_route_of_the_api_has_one_guard(world: World) -> None:
    """A route without a guard of its own, or with two, is found here, whoever wrote it; and none is left unsaid."""
    found = guards()
    assert len(found) > 60
    assert {} == {name: several for name, several in found.items() if len(several) != 1}
    assert set(found) == set(_all(world))


def test_only_these_routes_are_open(world: World) -> None:
    """Nobody is let in anywhere but where the list says."""
    let_in = {name for name in _all(world) if ask(world.nobody, name, world).status_code not in ALLOWED}
    assert let_in <= OPEN


def test_a_revoked_token_opens_nothing(world: World) -> None:
    """It was Alice's, and all that is asked for is hers."""
    answers = {name: ask(world.revoked, name, world).status_code for name in _all(world) if name not in OPEN}
    assert {} == {name: status for name, status in answers.items() if status not in ALLOWED}


@pytest.mark.paper("personalized-user-database")
def test_what_is_alices_does_not_exist_for_others(world: World) -> None:
    """Another member, a reader and the admin get 403 or 404 for each thing of hers, and nothing has changed after."""
    theirs = ("{interest}", "{crawl}", "{model}", "{token}", "{session}", "{notice}")
    asked = [name for name in _all(world) if any(part in name for part in theirs)]
    assert len(asked) > 25
    before = everything(world)
    people = {"mallory": world.mallory, "rita": world.rita, "admin": world.admin}
    answers = {(who, name): ask(people[who], name, world).status_code for who in people for name in asked}
    assert {} == {name: status for name, status in answers.items() if status not in ALLOWED}
    assert before == everything(world)


def test_what_is_shared_to_read_can_only_be_read(world: World) -> None:
    """Those with whom she shared it to read get 403 or 404 for whatever would change it."""
    allowed = {
        "POST /interests/{interest}/seen",  # their own mark, not hers
        "POST /interests/{interest}/feed",
        "DELETE /interests/{interest}/feed",
        "POST /crawls/{crawl}/opened",
        "DELETE /interests/{interest}/shares/{person}",  # the guest may leave
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


def test_only_admins_keep_accounts(world: World) -> None:
    """Everything under people, invitations, catalogue and audit that is not for all is the admins'."""
    admins = {name for name, (guard,) in guards().items() if guard[2] in ("admin", "metrics")}
    assert len(admins) > 8
    for who in (world.mallory, world.rita):
        assert {403} == {ask(who, name, world).status_code for name in admins}


@pytest.mark.parametrize("who", ["mallory", "rita", "admin"])
def test_lists_tell_others_nothing_of_her(world: World, who: str) -> None:
    """What anyone signed in may ask for has nothing of hers in it."""
    asked = [name for name in _all(world) if name.startswith("GET ") and "{" not in name]
    assert len(asked) > 10
    client = getattr(world, who)
    told = {name: ask(client, name, world).text for name in asked}
    for known in world.ids.values():  # the audit log names things by their numbers, and nothing else
        told["GET /audit"] = told["GET /audit"].replace(known, "")
    assert {} == {name: word for name, text in told.items() for word in world.secrets() if word in text}


def test_the_owner_gets_what_others_do_not(world: World) -> None:
    """The same questions, asked by Alice, are answered: else the other tests would show nothing."""
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
    """One for questions that change it."""
    made = make_world(database_address, tmp_path)
    yield made
    made.site.close()


def test_the_owner_may_change_what_others_may_not(own_world: World) -> None:
    """Asked by the one who may, no operation is refused, nor fails: on either database."""
    world = own_world
    read = [name for name in _all(world) if name.startswith("GET ") and "events" not in name]
    assert {} == {name: status for name in read if (status := ask(world.alice, name, world).status_code) >= 500}
    last = ("DELETE /interests/{interest}", "DELETE /session", "DELETE /me", "DELETE /me/sessions/{session}")
    mine = [name for name in _all(world) if not name.startswith("GET ") and name not in OPEN]
    gone = (  # what others hang on goes last
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


def test_there_are_no_docs_that_load_scripts(world: World) -> None:
    """The schema is there; pages that would load it from elsewhere are not."""
    client = world.nobody
    assert 200 == client.get(f"{PREFIX}/openapi.json").status_code
    assert {404} == {client.get(path).status_code for path in ("/docs", "/redoc", f"{PREFIX}/docs")}
