"""Town square of the embedded web: a social network with Mastodon's API."""

from __future__ import annotations

import json
from typing import Any

from lycosa.spaces.mastodon import parse_response
from lycosa.testweb.embedded_web import Web
from lycosa.testweb.square import STATUSES, Square

HOST = "http://town-square.localhost"


def square_json(web: Web, path: str) -> Any:
    """Return the parsed JSON response of the town square."""
    response = web.response(HOST + path)
    assert (200, "application/json; charset=utf-8") == (response.status, response.header("Content-Type"))
    return json.loads(response.body)


def test_document_lists_account_and_statuses() -> None:
    web = Web(seed=3, pages=100, hosts=5, traps=())
    name = web.square.name(6)
    account = square_json(web, f"/api/v1/accounts/lookup?acct={name}")
    assert ("7", name) == (account["id"], account["acct"])
    path = "/api/v1/accounts/7/statuses?limit=40"
    statuses = square_json(web, path)
    numbers = [int(status["id"]) for status in statuses]
    assert (STATUSES, sorted(numbers, reverse=True)) == (len(statuses), numbers)
    assert numbers[3:] == [int(status["id"]) for status in square_json(web, f"{path}&max_id={numbers[2]}")]
    assert len(parse_response(json.dumps(statuses).encode(), HOST + path).statuses) == STATUSES
    assert 404 == web.response(f"{HOST}/api/v1/accounts/lookup?acct=nobody").status
    assert 404 == web.response(f"{HOST}/api/v1/accounts/601/statuses").status


def test_statuses_mention_mostly_same_topic() -> None:
    square = Square(3, people=200)
    mentions = [
        (person, int(each["id"]) - 1)
        for person in range(200)
        for status in square.statuses(person)
        for each in status["mentions"]
    ]
    assert len(mentions) > 500
    assert all(one != other for one, other in mentions)
    assert sum(square.topic(one) == square.topic(other) for one, other in mentions) > len(mentions) / 2


def test_document_lists_statuses_of_hashtags_and_search() -> None:
    web = Web(seed=3, pages=100, hosts=5, traps=())
    tag = square_json(web, "/api/v1/accounts/7/statuses")[0]["content"].rpartition("#")[2].removesuffix("</p>")
    tagged = square_json(web, f"/api/v1/timelines/tag/{tag}?limit=40")
    assert 0 < len(tagged) <= 40
    assert all(f"#{tag}" in status["content"] for status in tagged)
    assert tagged == square_json(web, f"/api/v2/search?q=%23{tag}")["statuses"]
    assert [] == square_json(web, "/api/v2/search?q=")["statuses"]


def test_square_depends_on_seed() -> None:
    one, same, other = Square(1).document, Square(1).document, Square(2).document
    path = "/api/v1/accounts/1/statuses"
    assert one(path) == same(path) != other(path)
