from __future__ import annotations

from lycosa_lab.benchmark import entrants
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import make_trial_strategy


def test_kind_is_known_for_each_entrant() -> None:
    named = entrants.entrants()
    assert {"scent", *entrants.BEST, "disco", "craw4llm", "crawl4ai", "qmin", "tres"} <= set(named)
    kinds = {"oracle": "oracle", "craw4llm": "oracle", "scent": "ours", "disco": "modern", "fl_n": "published"}
    kinds["a:B"] = "own"
    assert kinds == {name: entrants.kind(name) for name in kinds}
    assert not any(entrants.is_rival(name) for name in ("oracle", "craw4llm"))


def test_entrants_accept_facts_of_trial() -> None:
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 1.0})
    subject = HuntSubject("x", index.score, "reef", (1,))
    guide = Judgements.given(index)
    for text in entrants.entrants(full=True):
        assert (
            make_trial_strategy(text, index, subject, guide, budget=9, random_seed=1, description="examples").wants
            is not None
        ), text
