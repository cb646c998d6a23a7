"""Wishes: what a person may ask of a crawl, and nothing else."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.people.wishes import Wishes, options

LEAST: dict[str, Any] = {"words": "coral reefs", "seeds": ["https://reefs.example/"]}


def test_wishes_survive_the_database() -> None:
    """What was read is what comes back from the database, field by field."""
    wishes = Wishes.read({**LEAST, "languages": ["EN"], "exclude": [" /tag/ ", "/tag/"], "threshold": 1})
    assert wishes == Wishes.of_json(wishes.as_json())
    assert ["en"] == wishes.languages
    assert ["/tag/"] == wishes.exclude


def test_a_field_that_came_later_has_its_default() -> None:
    """Wishes kept by an older version, or a newer one, can be read."""
    kept = {**LEAST, "something of the future": 1}
    assert Wishes(**LEAST) == Wishes.of_json(json.dumps(kept))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"words": ""}, "nothing to look for"),
    ({"seeds": []}, "no seed"),
    ({"words": "coral\x00reefs"}, "cannot be shown"),
    ({"words": "coral \ud800"}, "cannot be shown"),
    ({"words": 7}, "must be text"),
    ({"words": "x" * 501}, "501 characters"),
    ({"seeds": "https://reefs.example/"}, "must be a list"),
    ({"seeds": [f"https://reefs.example/{n}" for n in range(1_001)]}, "1,001 are given"),
    ({"budget": 0}, "from 1 to 10,000"),
    ({"budget": 10_001}, "from 1 to 10,000"),
    ({"budget": True}, "from 1 to 10,000"),
    ({"threshold": float("nan")}, "must be a number"),
    ({"threshold": float("inf")}, "must be a number"),
    ({"max_depth": 10**40}, "must be a number"),
    ({"languages": ["en-GB"]}, "is not a language"),
]


def test_what_cannot_work_is_refused() -> None:
    """Wrong types, sizes and characters are refused, with what is wrong."""
    for given, told in REFUSED:
        with pytest.raises(InputError, match=told):
            Wishes.read({**LEAST, **given})


def test_no_other_option_can_be_wished() -> None:
    """Every option of a crawl that is not on the list is refused by its name: files, networks, proxies, patterns."""
    for name in {item.name for item in fields(Options)} - {item.name for item in fields(Wishes)}:
        with pytest.raises(InputError, match="there is no wish"):
            Wishes.read({**LEAST, name: ""})


@pytest.mark.paper("personalized-own-seeds")
def test_options_are_those_of_a_crawl() -> None:
    """Wishes become options: automatic is scent, pieces of addresses are no expressions, the operator has his say."""
    wishes = Wishes.read({**LEAST, "exclude": ["/a+b?"], "budget": 30, "max_depth": 2})
    made = options(
        wishes, ["https://seas.example/", "https://reefs.example/"], budget=40, delay=2.0, contact="a@b.example"
    )
    chosen = Options(**made)
    assert ["https://reefs.example/", "https://seas.example/"] == chosen.seeds
    assert ("scent", "", 40, 2, 2.0) == (chosen.strategy, chosen.judge, chosen.budget, chosen.max_depth, chosen.delay)
    assert [r"/a\+b\?"] == chosen.exclude
    assert not chosen.feeds


def test_a_catalogue_that_was_emptied_leaves_nowhere_to_start() -> None:
    """An interest that has only preferences whose seeds are gone says so when its crawl is made."""
    with pytest.raises(InputError, match="no longer have seeds"):
        options(Wishes("reefs", preferences=["Seas"]))
