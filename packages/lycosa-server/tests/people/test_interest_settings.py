"""Interest settings: validation, storage, and conversion to crawl options."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa_server.people.interest_settings import InterestSettings, crawl_options

LEAST: dict[str, Any] = {"words": "coral reefs", "seeds": ["https://reefs.example/"]}


def read(**given: Any) -> InterestSettings:
    settings = InterestSettings(**{**LEAST, **given})
    settings.check()
    return settings


def test_settings_survive_database() -> None:
    settings = read(languages=["EN"], exclude=[" /tag/ ", "/tag/"], threshold=1)
    assert settings == InterestSettings.from_json(settings.as_json())
    assert ["en"] == settings.languages
    assert ["/tag/"] == settings.exclude


def test_empty_texts_become_defaults() -> None:
    assert read() == read(strategy="", judge=" ", frequent="", infrequent="", hosts=["", " "])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"words": ""}, "missing-topic"),
    ({"seeds": []}, "no-seed"),
    ({"words": "coral\x00reefs"}, "bad-text"),
    ({"words": "coral \ud800"}, "valid string"),
    ({"words": 7}, "valid string"),
    ({"words": "x" * 501}, "at most 500 characters"),
    ({"seeds": "https://reefs.example/"}, "valid list"),
    ({"seeds": [f"https://reefs.example/{n}" for n in range(1_001)]}, "at most 1000 items"),
    ({"exclude": ["x" * 2_001]}, "at most 2000 characters|the maximum is 2,000"),
    ({"budget": 0}, "greater than or equal to 1"),
    ({"budget": 10_001}, "out-of-range"),
    ({"budget": True}, "valid integer"),
    ({"threshold": float("nan")}, "finite number"),
    ({"threshold": float("inf")}, "finite number"),
    ({"max_depth": 10**40}, "less than or equal to 1000"),
    ({"languages": ["en-GB"]}, "bad-language"),
]


def test_check_refuses_invalid_values() -> None:
    for given, reason in REFUSED:
        with pytest.raises((InputError, ValidationError)) as caught:
            read(**given)
        code = getattr(caught.value, "code", "")
        assert code == reason or re.search(reason, str(caught.value)), given


def test_settings_have_no_other_crawl_options() -> None:
    for name in {item.name for item in fields(Options)} - {item.name for item in fields(InterestSettings)}:
        with pytest.raises(ValidationError, match="Unexpected keyword argument"):
            read(**{name: ""})


@pytest.mark.paper("personalized-own-seeds")
def test_crawl_options_are_valid() -> None:
    settings = read(exclude=["/a+b?"], budget=30, max_depth=2)
    made = crawl_options(
        settings, ["https://seas.example/", "https://reefs.example/"], budget=40, delay=2.0, contact="a@b.example"
    )
    chosen = Options(**made)
    assert ["https://reefs.example/", "https://seas.example/"] == chosen.seeds
    assert ("scent", "", 40, 2, 2.0) == (chosen.strategy, chosen.judge, chosen.budget, chosen.max_depth, chosen.delay)
    assert [r"/a\+b\?"] == chosen.exclude
    assert not chosen.feeds


def test_crawl_options_without_any_seed_are_refused() -> None:
    with raises_input_error("no-seed"):
        crawl_options(InterestSettings("reefs", preferences=["Seas"]))
