"""Checks of judges: every shipped one passes, broken ones fail the right check."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from check_samples import BROWSED, REEFS, named, two_classes
from learning_judge import Learning
from lycosa.checks import CHECKS, CheckFailed, check_judge
from lycosa.checks.failing import run_check
from lycosa.checks.judges import JUDGE_CHECKS, ten_thousand_links
from lycosa.core.protocols import Judge
from lycosa.core.types import Judgement, ModelUpdate, Page, Visit
from lycosa.judges.base import FACETS, LanguageJudge, StatelessJudge, with_labels
from lycosa.judges.browsing_judge import BrowsingJudge
from lycosa.judges.counting import KeywordJudge, WordFrequencyJudge
from lycosa.judges.meaning import CorleyMihalceaJudge, EhrigJudge, SsrmJudge, SynsetExpansionJudge
from lycosa.judges.model_judge import ModelJudge
from lycosa.judges.pattern import RegexJudge
from lycosa.judges.space_judge import SpaceJudge
from lycosa.judges.vector_judge import VectorJudge, WeightedContentJudge


def with_facets(topic: StatelessJudge) -> StatelessJudge:
    """Return a judge that provides all link facets."""
    topic.facets = FACETS
    return topic


JUDGES: dict[str, Callable[[], Judge]] = {
    "words": lambda: VectorJudge("coral reef bleaching"),
    "weighted": lambda: VectorJudge({"coral reef": 2.0, "weather": 0.5, "the sea": 0.0}),
    "stems": lambda: VectorJudge({"coral": 0.7, "サンゴ礁の白化現象は": 0.1}, stemmed=True),
    "pattern": lambda: RegexJudge(r"\bcoral\w*"),
    "given": SpaceJudge,
    "browsing": lambda: with_facets(BrowsingJudge(BROWSED)),
    "ehrig": lambda: EhrigJudge("coral reef bleaching", ontology=REEFS),
    "ssrm": lambda: SsrmJudge("coral reef bleaching", ontology=REEFS),
    "synset-expansion": lambda: SynsetExpansionJudge("coral reef bleaching", ontology=REEFS),
    "corley-mihalcea": lambda: CorleyMihalceaJudge("coral reef bleaching", ontology=REEFS),
    "contexts": lambda: with_facets(VectorJudge("coral reef bleaching", tf="max", idf="none", link="context")),
    "keyword": lambda: with_facets(KeywordJudge("coral reef", match="anywhere")),
    "word-frequency": lambda: with_facets(WordFrequencyJudge("coral", count="lines", match="anywhere")),
    "weighted-content": lambda: with_facets(WeightedContentJudge("coral reef", title=7.5, body=0.5)),
    "model": lambda: with_facets(ModelJudge(two_classes(), ["Sea"])),
    "in-language": lambda: LanguageJudge(with_labels(VectorJudge("coral reef"))),
}


@pytest.mark.paper("gouriten-alpha-beta")
@pytest.mark.parametrize("name", JUDGES)
def test_check_judge_passes_for_shipped_judges(name: str) -> None:
    assert list(CHECKS["judge"]) == check_judge(JUDGES[name])


class BaseJudge:
    """Base of judges with one error each."""

    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        pass


class NoThreshold(BaseJudge):
    threshold: Any = None


class NanRelevance(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        with np.errstate(all="ignore"):
            return Judgement(float(np.float64(0) / len(page.text)), np.zeros(len(page.links), np.float32))


class NumpyRelevance(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(np.float32(0.5), np.zeros(len(page.links), np.float32))  # type: ignore[arg-type]


class TooFew(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.array([0.5 for anchor in page.links.anchors if anchor.strip()], np.float32))


class IntegerRelevances(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.int64))


class AsciiOnly(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        page.text.encode("ascii")
        return super().judge(page, reading)


class Counting(BaseJudge):
    def __init__(self) -> None:
        self.judged = 0

    def judge(self, page: Page, reading: Any) -> Judgement:
        self.judged += 1
        return Judgement(self.judged / 100, np.zeros(len(page.links), np.float32))


class Unseeded(BaseJudge):
    def __init__(self) -> None:
        self.relevance = random.random()

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(self.relevance, np.zeros(len(page.links), np.float32))


class ChangesPage(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        page.data["seen"] = True
        return super().judge(page, reading)


class ArrayData(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32), {"vector": np.zeros(3)})


class TupleData(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(len(page.links), np.float32), {"pair": (1, 2)})


class OkOnly(BaseJudge):
    def learn(self, visit: Visit) -> None:
        if visit.outcome != "ok":
            raise KeyError(visit.outcome)


class WithFacets(BaseJudge):
    """Wrapper that adds the requested facets."""

    facets: tuple[str, ...] = ()

    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.facets = {name: self.column(page) for name in self.facets}
        return judgement

    def column(self, page: Page) -> Any:
        return np.ones(len(page.links), np.float32)


class OneFacet(WithFacets):
    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.facets.pop("url", None)
        return judgement


class NanFacet(WithFacets):
    def column(self, page: Page) -> Any:
        return np.array([np.nan if not anchor.strip() else 1.0 for anchor in page.links.anchors], np.float32)


class MovingRelevance(WithFacets):
    def judge(self, page: Page, reading: Any) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.relevance += len(self.facets)
        return judgement


def test_check_judge_passes_with_facets() -> None:
    assert list(CHECKS["judge"]) == check_judge(WithFacets)


class ReefLearner(Learning):
    def __init__(self) -> None:
        super().__init__("coral reef")


class MissingRelevance(ReefLearner):
    def relevances_now(self) -> Any:
        return super().relevances_now()[1:]


class LearnsInUpdate(ReefLearner):
    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        update = super().next_update(now, force)
        self.asked = set()
        return update


class LossyUpdate(ReefLearner):
    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        self.next = -1
        return super().next_update(now, force)

    def adopt(self, update: ModelUpdate) -> None:
        super().adopt(ModelUpdate(update.judge, {**update.data, "common": [] if self.next < 0 else ["coral", "reef"]}))


def test_check_judge_passes_for_learning_judge() -> None:
    assert list(CHECKS["judge"]) == check_judge(ReefLearner)


class CountsMarkers(BaseJudge):
    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.5, np.zeros(page.marked.count("\x01"), np.float32))


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (NoThreshold, "threshold_is_a_number"),
        (NanRelevance, "empty_page"),
        (NumpyRelevance, "page_with_links"),
        (TooFew, "links_without_anchors"),
        (IntegerRelevances, "page_with_links"),
        (AsciiOnly, "other_scripts"),
        (CountsMarkers, "unpaired_markers"),
        (Counting, "judging_is_pure"),
        (ChangesPage, "judging_is_pure"),
        (Unseeded, "fresh_judges_agree"),
        (OkOnly, "fresh_judges_agree"),
        (ArrayData, "data_can_be_stored"),
        (TupleData, "data_can_be_stored"),
        (OneFacet, "page_with_links"),
        (NanFacet, "links_without_anchors"),
        (MovingRelevance, "page_with_links"),
        (MissingRelevance, "model_updates_are_exact"),
        (LearnsInUpdate, "model_updates_are_exact"),
        (LossyUpdate, "model_updates_are_exact"),
    ],
)
def test_judge_checks_fail_for_broken_judge(make: Callable[[], Judge], check: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        run_check(named(check, JUDGE_CHECKS), make)
    assert check == failure.value.check


def test_ten_thousand_links_limits_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.checks.judges.SECONDS", 0.0)
    with pytest.raises(CheckFailed, match="took"):
        run_check(ten_thousand_links, lambda: VectorJudge("coral"))
