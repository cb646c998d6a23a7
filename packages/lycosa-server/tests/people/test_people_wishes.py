"""Wishes: what a person may ask of a crawl, and nothing else."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa_server.people.interest_settings import InterestSettings, crawl_options

LEAST: dict[str, Any] = {"words": "coral reefs", "seeds": ["https://reefs.example/"]}


def read(**given: Any) -> InterestSettings:
    settings = InterestSettings(**{**LEAST, **given})
    settings.check()
    return settings


def test_wishes_survive_the_database() -> None:
    """What was checked is what comes back from the database, field by field."""
    settings = read(languages=["EN"], exclude=[" /tag/ ", "/tag/"], threshold=1)
    assert settings == InterestSettings.from_json(settings.as_json())
    assert ["en"] == settings.languages
    assert ["/tag/"] == settings.exclude


def test_empty_texts_are_the_defaults() -> None:
    """A form sends every field."""
    assert read() == read(strategy="", judge=" ", frequent="", infrequent="", hosts=["", " "])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"words": ""}, "nothing to look for"),
    ({"seeds": []}, "no seed"),
    ({"words": "coral\x00reefs"}, "cannot be shown"),
    ({"words": "coral \ud800"}, "valid string"),
    ({"words": 7}, "valid string"),
    ({"words": "x" * 501}, "at most 500 characters"),
    ({"seeds": "https://reefs.example/"}, "valid list"),
    ({"seeds": [f"https://reefs.example/{n}" for n in range(1_001)]}, "at most 1000 items"),
    ({"exclude": ["x" * 2_001]}, "2,000"),
    ({"budget": 0}, "greater than or equal to 1"),
    ({"budget": 10_001}, "from 1 to 10,000"),
    ({"budget": True}, "valid integer"),
    ({"threshold": float("nan")}, "finite number"),
    ({"threshold": float("inf")}, "finite number"),
    ({"max_depth": 10**40}, "less than or equal to 1000"),
    ({"languages": ["en-GB"]}, "is not a language"),
]


def test_what_cannot_work_is_refused() -> None:
    """Wrong types, sizes and characters are refused, with what is wrong."""
    for given, told in REFUSED:
        with pytest.raises((InputError, ValidationError), match=told):
            read(**given)


def test_no_other_option_can_be_wished() -> None:
    """Every option of a crawl that is not on the list is refused by its name: files, networks, proxies, patterns."""
    for name in {item.name for item in fields(Options)} - {item.name for item in fields(InterestSettings)}:
        with pytest.raises(ValidationError, match="Unexpected keyword argument"):
            read(**{name: ""})


@pytest.mark.paper("personalized-own-seeds")
def test_options_are_those_of_a_crawl() -> None:
    """Wishes become options: automatic is scent, pieces of addresses are no expressions, the operator has his say."""
    settings = read(exclude=["/a+b?"], budget=30, max_depth=2)
    made = crawl_options(
        settings, ["https://seas.example/", "https://reefs.example/"], budget=40, delay=2.0, contact="a@b.example"
    )
    chosen = Options(**made)
    assert ["https://reefs.example/", "https://seas.example/"] == chosen.seeds
    assert ("scent", "", 40, 2, 2.0) == (chosen.strategy, chosen.judge, chosen.budget, chosen.max_depth, chosen.delay)
    assert [r"/a\+b\?"] == chosen.exclude
    assert not chosen.feeds


def test_a_catalogue_that_was_emptied_leaves_nowhere_to_start() -> None:
    """An interest that has only preferences whose seeds are gone says so when its crawl is made."""
    with pytest.raises(InputError, match="no longer have seeds"):
        crawl_options(InterestSettings("reefs", preferences=["Seas"]))
