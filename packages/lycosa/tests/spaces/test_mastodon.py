"""Mastodon's API: nodes and responses."""

from __future__ import annotations

import json

import pytest

from lycosa.spaces.mastodon import Api, BadResponse, error_message, parse_node, parse_response

ACCOUNT = "https://social.example/api/v1/accounts/7/statuses?limit=40"
ALICE = {"id": "7", "acct": "alice", "display_name": "Alice"}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("@alice", "lookup"),
        ("#jazz", "tag"),
        ("search:modal jazz", "search"),
        (ACCOUNT, "account"),
    ],
)
def test_parse_node_of_accounts_hashtags_and_searches(typed: str, expected: str) -> None:
    assert expected == parse_node(Api("https://social.example").node(typed) or "")[0]


def test_parse_node_of_other_urls_is_empty() -> None:
    assert ("", "") == parse_node("https://social.example/about")


def test_next_page_stays_with_account() -> None:
    api = Api("https://social.example")
    link = '<https://evil.example/api/v1/accounts/9/statuses?max_id=5>; rel="next"'
    assert api.statuses("7", "5") == api.older(ACCOUNT, link)


@pytest.mark.parametrize("visibility", ["unlisted", "private", "direct"])
def test_parse_response_drops_non_public_statuses(visibility: str) -> None:
    statuses = [{"account": ALICE, "visibility": visibility, "content": "<p>secret</p>"}]
    assert "" == parse_response(json.dumps(statuses).encode(), ACCOUNT).text


def test_parse_response_rejects_invalid_json() -> None:
    with pytest.raises(BadResponse):
        parse_response(b"<html>", ACCOUNT)


def test_error_message_is_empty_for_other_responses() -> None:
    assert "Record not found" == error_message(b'{"error": "Record not found"}')
    assert "" == error_message(b"<html>")
