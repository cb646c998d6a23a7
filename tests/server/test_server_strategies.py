"""What a member may choose, by the API."""

from __future__ import annotations

from contextlib import suppress

import pytest

from lycosa.core.errors import InputError
from lycosa.core.spec import spell
from lycosa.estimators import STRATEGIES, WORDS, describe
from lycosa.server.validation import GUIDES, TAUGHT, check_strategy
from site_maker import API, SiteUnderTest

WITH_WORDNET = {name for name, entry in STRATEGIES.items() if entry.needs == WORDS}


def test_the_list_is_of_what_needs_no_file(site: SiteUnderTest) -> None:
    """Strategies that need true scores and judges that need an expression are not offered; what has to be taught says
    by what kind of model.
    """
    rita = site.sign_up("Rita", "reader")
    names = {one["name"]: one for one in rita.get(f"{API}/strategies").json()}
    judges = {one["name"]: one for one in rita.get(f"{API}/judges").json()}
    assert {"oracle", "craw4llm"} == set(STRATEGIES) - set(names) - set(WITH_WORDNET)
    taught = {name: one["model"] for name, one in names.items() if one["model"]}
    browsing = ("hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph")
    assert {"rules": "rules", **dict.fromkeys(browsing, "browsing")} == taught
    assert not {"regex", "model", "given"} & set(judges)
    assert ["scent"] == [name for name, one in names.items() if one["automatic"]]
    assert ["probability"] == [name for name, one in judges.items() if one["automatic"]]
    assert "without" not in names["scent"]["parameters"]
    assert "max or sum or mean or last" == names["best-first"]["parameters"]["merge"]


def test_no_number_breaks_a_strategy() -> None:
    """Whatever number a parameter is told, the strategy is made, or the number is refused in words."""
    for name in (name for name, entry in GUIDES.items() if entry.needs != WORDS):
        for key in describe(name):
            for value in ("0", "-1", "1e4", "-10000", "1e-300", "nan", "inf", "1e308", "x"):
                with suppress(InputError):
                    check_strategy(spell(name, {key: value}))


def test_what_is_not_offered_is_refused() -> None:
    """A strategy that is not on the list can't be chosen by its name either."""
    for name in set(STRATEGIES) - set(GUIDES) - set(TAUGHT):
        with pytest.raises(InputError, match="there is no strategy"):
            check_strategy(name)
    for name in TAUGHT:
        with pytest.raises(InputError, match="has no parameter 'file'"):
            check_strategy(f"{name},file=/etc/passwd")
