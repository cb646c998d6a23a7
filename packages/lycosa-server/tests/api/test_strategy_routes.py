"""The lists of strategies and judges."""

from __future__ import annotations

from lycosa.strategies import STRATEGIES, WORDS
from site_maker import API, SiteUnderTest

WITH_WORDNET = {name for name, entry in STRATEGIES.items() if entry.needs == WORDS}


def test_lists_offer_only_what_members_can_use(site: SiteUnderTest) -> None:
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
