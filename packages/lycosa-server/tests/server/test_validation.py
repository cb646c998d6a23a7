"""Validation of interest settings."""

import pytest

from input_errors import raises_input_error
from lycosa_server.people.database import Database
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.validation import validate_settings, web_address

SEEDS = ["https://reefs.example/"]


def test_web_url_is_canonical() -> None:
    assert "https://reefs.example/a" == web_address("HTTPS://Reefs.example/a#top")
    for text in ("coral reefs", "file:///etc/passwd", "javascript:alert(1)", ""):
        with raises_input_error("bad-url", match="the seed"):
            web_address(text, "the seed ")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (InterestSettings("coral", seeds=SEEDS, strategy="unknown"), "unknown-name"),
        (InterestSettings("coral", seeds=SEEDS, judge="regex"), "unknown-name"),
        (InterestSettings("coral", seeds=SEEDS, preferences=["unknown"]), "unknown-name"),
        (InterestSettings("coral", seeds=SEEDS, hosts=["other.example"]), "no-seed"),
        (InterestSettings("coral", seeds=SEEDS, judge="keyword", examples=SEEDS), "conflicting-options"),
        (InterestSettings("coral", seeds=SEEDS, strategy="rules"), "missing-model"),
        (InterestSettings("coral", seeds=SEEDS, strategy_model="m"), "conflicting-options"),
        (InterestSettings("coral", seeds=SEEDS, model="m"), "conflicting-options"),
    ],
)
def test_validate_settings_refuses_invalid_values(database: Database, settings: InterestSettings, code: str) -> None:
    with raises_input_error(code):
        validate_settings(settings, database, 10_000)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_validate_settings_leaves_its_argument_unchanged(database: Database) -> None:
    given = InterestSettings("coral", seeds=["reefs.example"])
    assert SEEDS == validate_settings(given, database, 10_000).seeds
    assert ["reefs.example"] == given.seeds
