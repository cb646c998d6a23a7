"""The experiment of Guan et al. 2008, and what experiments of papers share: curves and verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.lab.certainty import Difference, paired
from lycosa.lab.corpora.recorded import embedded
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT, Figure, Findings, Table
from lycosa.lab.index import Index
from lycosa.lab.indexing import write_index
from lycosa.lab.measures import Floats
from lycosa.lab.papers import Bench, findings
from lycosa.lab.papers import otie as paper
from lycosa.lab.papers.weighing import (
    HARVEST,
    RECALL,
    Comparison,
    Measure,
    Measured,
    alike,
    all_of,
    better,
    exhausted,
    grid,
    not_better,
    told,
)
from lycosa.lab.results import Outcome, Results
from lycosa.lab.simulation import Trace
from lycosa.lab.subjects import Subject, subjects_of

SUBJECTS = [f"subject {number}" for number in range(6)]
CLASSIFIERS = Measure("by classifiers", lambda *_: np.zeros(0))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """Three hundred pages of the embedded web."""
    out = tmp_path_factory.mktemp("otie") / "index"
    write_index(embedded(7, pages=300, hosts=8), out, source="embedded")
    return Index.open(out)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where crawls are kept."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def made(index: Index, runs: Path) -> Findings:
    """The quick experiment on it."""
    return findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))


def measured(**means: float) -> Measured:
    """Six subjects on which strategies get about these numbers after one, two, three and four pages."""
    spread = np.linspace(-0.001, 0.001, 6)
    return Measured(
        [1, 2, 3, 4],
        SUBJECTS,
        {name.replace("_", "-"): np.repeat(mean + spread[:, None], 4, axis=1) for name, mean in means.items()},
    )


# -- verdicts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (Difference(0.2, 0.1, 0.3, 0.03, 6), "holds"),
        (Difference(0.2, 0.1, 0.3, 0.06, 6), "cannot be tested here"),
        (Difference(0.2, 0.1, 0.3, 0.25, 3), "cannot be tested here"),
        (Difference(-0.2, -0.3, -0.1, 0.03, 6), "does not hold"),
        (Difference(0.0, -0.02, 0.02, 1.0, 6), "does not hold"),
        (Difference(0.1, -0.1, 0.3, 0.4, 6), "cannot be tested here"),
        (Difference(0.1, np.nan, np.nan, 1.0, 1), "cannot be tested here"),
    ],
)
def test_better_takes_an_interval_above_zero_and_enough_subjects(difference: Difference, verdict: str) -> None:
    """Better than .5 are differences surely above 0; below .025, a twentieth of it, there is none worth a name."""
    assert better(difference, 0.5) == verdict


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (Difference(0.01, -0.04, 0.04, 0.5, 6), "holds"),
        (Difference(0.2, 0.1, 0.3, 0.03, 6), "does not hold"),
        (Difference(0.0, -0.2, 0.2, 1.0, 6), "cannot be tested here"),
        (Difference(0.0, 0.0, 0.0, 1.0, 2), "cannot be tested here"),
    ],
)
def test_alike_takes_an_interval_within_a_tenth(difference: Difference, verdict: str) -> None:
    """Two are as good as each other if their difference is surely within .05, a tenth of .5."""
    assert alike(difference, 0.5) == verdict


def test_a_claim_of_several_parts_holds_if_all_do() -> None:
    """One part that does not hold decides, then one that can't be tested."""
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of(["holds", "cannot be tested here", "does not hold"]) == "does not hold"
    assert all_of([]) == "cannot be tested here"


def test_catching_up_is_a_gap_that_shrinks() -> None:
    """A gap of .4 that is .1 at the end was closed, one that stays was not, without a gap there is nothing to say."""
    steady = np.full((6, 4), 0.5)
    gap = np.array([0.4, 0.3, 0.2, 0.1])
    caught, never = (
        Comparison({}, {HARVEST: Measured([1, 2, 3, 4], SUBJECTS, {"ahead": steady, "behind": steady - apart})})
        for apart in (gap, np.full(4, 0.4))
    )
    assert caught.closing("ahead", "behind", HARVEST).verdict == "holds"
    assert never.closing("ahead", "behind", HARVEST).verdict == "does not hold"
    assert caught.closing("behind", "ahead", HARVEST).verdict == "cannot be tested here"


def test_curves_are_drawn_evenly_up_to_the_budget() -> None:
    """The last point is the budget, and none comes twice."""
    assert grid(10, 20) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert grid(1000)[-1] == 1000


def test_runs_on_other_trials_are_not_joined() -> None:
    """What was measured on other subjects can't be compared."""
    other = Measured([1, 2, 3, 4], ["elsewhere"] * 6, {"x": np.zeros((6, 4))})
    with pytest.raises(InputError, match="other trials"):
        measured(a=0.5).joined(other)


# -- claims ----------------------------------------------------------------------------------------------------


@pytest.mark.paper("otie-experiment")
def test_claims_hold_on_numbers_like_the_papers() -> None:
    """OTIE ahead in recall, link context in precision: three claims hold, and nothing was caught up with."""
    harvests = measured(breadth_first=0.1, link_context=0.5, opic=0.2, otie=0.4)
    recalls = measured(breadth_first=0.1, link_context=0.3, opic=0.2, otie=0.6)
    by = {HARVEST: harvests, CLASSIFIERS: harvests, RECALL: recalls}
    claims = [claim(Comparison(paper.CRAWLERS, by), CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["holds", "holds", "does not hold", "holds"] == [claim.verdict for claim in claims]


def test_claims_do_not_hold_on_the_opposite() -> None:
    """OTIE behind OPIC in all: none holds."""
    numbers = measured(breadth_first=0.5, link_context=0.2, opic=0.4, otie=0.1)
    by = dict.fromkeys((HARVEST, CLASSIFIERS, RECALL), numbers)
    claims = [claim(Comparison(paper.CRAWLERS, by), CLASSIFIERS) for claim in paper.CLAIMS]
    assert ["does not hold"] * 4 == [claim.verdict for claim in claims]


# -- the experiment --------------------------------------------------------------------------------------------


@pytest.mark.paper("otie-topics", "otie-figure-1", "otie-figure-2")
def test_both_figures_are_there_with_their_judges(made: Findings) -> None:
    """Figure 1 as published has the same figure by labels beside it; recall is by labels."""
    figures = {part.key: part.mode for part in made.parts if isinstance(part, Figure)}
    assert figures == {
        "otie-figure-1": AS_PUBLISHED,
        "otie-figure-1-labels": INDEPENDENT,
        "otie-figure-2": INDEPENDENT,
    }


@pytest.mark.paper("otie-breadth-first")
def test_every_curve_is_of_a_crawler_and_in_range(made: Findings) -> None:
    """Four crawlers, rates from 0 to 1, bands around the means; recall never falls."""
    for part in made.parts:
        if isinstance(part, Figure):
            assert [curve.label for curve in part.curves] == list(paper.CRAWLERS.values())
            for curve in part.curves:
                assert all(0 <= y <= 1 for y in curve.y)
                assert all(low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True))
                assert part.key != "otie-figure-2" or list(curve.y) == sorted(curve.y)


def test_the_classifiers_are_measured(made: Findings) -> None:
    """Precision and recall of each on pages it has not seen; the neural network is left out when it has to be quick."""
    (table,) = (part for part in made.parts if part.key == "otie-classifiers")
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["SVM", "Naive Bayes"]
    assert any("neural network" in remark for remark in made.remarks)
    assert all(0 < float(value or 0) <= 1 for row in table.rows for value in row[1:])


@pytest.mark.paper("otie-guide")
def test_three_classifiers_learn_from_the_same_pages(index: Index, tmp_path: Path) -> None:
    """Each says of every page whether it is relevant; together they give a share of three, and the first guides."""
    (subject,) = subjects_of(index, ["cooking"])
    topic = paper._topic(index, subject, ["svm", "nb", "nn"], tmp_path, 0)
    assert ["svm", "nb", "nn"] == list(topic.said)
    assert set(np.unique(topic.judged * 3).round(6).tolist()) <= {0.0, 1.0, 2.0, 3.0}
    assert all((said == (subject.truth > 0)).mean() > 0.8 for said in topic.said.values())
    assert topic.subject.model is not None
    assert topic.subject.model.name == "svm"


def test_a_second_call_gives_the_same(made: Findings, index: Index, runs: Path) -> None:
    """Crawls and models are kept, and give the same numbers."""
    again = findings("otie", Bench(index, runs, quick=True, workers=1, topics=3))
    assert made.as_dict()["parts"] == again.as_dict()["parts"]
    assert made.claims == again.claims


def test_a_graph_is_refused(tmp_path: Path) -> None:
    """Classifiers have nothing to read there, and it says so."""
    with pytest.raises(InputError, match="text and classes"):
        findings("otie", Bench(Index.of({"a": ["b"]}, score={"b": 1.0}), tmp_path, quick=True))


def test_a_claim_without_a_verdict_says_why() -> None:
    """Too few topics, or intervals that leave it open; one with a verdict has its evidence only."""
    three, eight = (
        Comparison({}, {HARVEST: Measured([1], [str(topic) for topic in range(many)], {})}) for many in (3, 8)
    )
    few, wide, sure = (
        crawls.ruling(verdict, ["a less b: +1.", "a less c: +2."])  # type: ignore[arg-type]
        for crawls, verdict in ((three, "cannot be tested here"), (eight, "cannot be tested here"), (eight, "holds"))
    )
    assert "a less b: +1.\na less c: +2." == sure.evidence
    assert f"3 topics only: with fewer than 6 no difference can be told from chance.\n{sure.evidence}" == few.evidence
    assert f"These trials can't tell: the intervals leave both open.\n{sure.evidence}" == wide.evidence


def test_no_difference_at_all_is_told_in_words() -> None:
    """Two crawls that were the same have no interval to tell."""
    assert "none in any trial" == told(paired([0.5, 0.25], [0.5, 0.25]))


def spent(values: Floats, other: Floats, exhausted: list[bool]) -> Comparison:
    """Two crawlers on six topics, whose trials are exhausted or not."""
    flags = np.array(exhausted)
    numbers = Measured([1, 2], SUBJECTS, {"a": values, "b": other}, {"a": flags, "b": flags})
    return Comparison({}, {HARVEST: numbers})


def test_crawlers_that_are_the_same_on_exhausted_topics_cannot_be_compared() -> None:
    """Neither better, nor not, nor alike; the same numbers on topics that are not exhausted decide."""
    same = np.full((6, 2), 0.5)
    done, going = (spent(same, same, [exhausted] * 6) for exhausted in (True, False))
    assert ["cannot be tested here"] * 3 == [
        done.ahead([("a", "b")], [HARVEST], criterion=rule).verdict for rule in (better, not_better, alike)
    ]
    assert "a and b are the same on 6 of 6 topics, which are exhausted" in done.ahead([("a", "b")], [HARVEST]).evidence
    assert "nan" not in done.ahead([("a", "b")], [HARVEST]).evidence
    assert ["does not hold", "holds", "holds"] == [
        going.ahead([("a", "b")], [HARVEST], criterion=rule).verdict for rule in (better, not_better, alike)
    ]


def test_a_crawler_that_is_quicker_on_exhausted_topics_is_better() -> None:
    """Both find all there is, the first after half of the pages: they are not the same."""
    quick, slow = np.tile([1.0, 1.0], (6, 1)), np.tile([0.5, 1.0], (6, 1))
    assert "holds" == spent(quick, slow, [True] * 6).ahead([("a", "b")], [HARVEST]).verdict
    assert "any gap closes" in spent(quick, slow, [True] * 6).closing("a", "b", HARVEST).evidence


def test_nearly_nothing_is_not_compared() -> None:
    """Ten times as much as .00001 is printed as 0.000, too."""
    little = np.full((6, 2), 0.00001)
    ruling = spent(10 * little, little, [False] * 6).ahead([("a", "b")], [HARVEST])
    assert ("cannot be tested here", True) == (ruling.verdict, "both found nearly nothing" in ruling.evidence)


def test_one_trial_has_no_interval() -> None:
    """And nothing at all has no figure: no nan is printed."""
    assert "+0.100 (one trial only)" == told(paired([0.5], [0.4]))
    assert "nothing to compare" == told(paired([], []))


@pytest.mark.parametrize(("late", "over"), [(1, True), (2, False)])
def test_a_topic_is_exhausted_when_hardly_anything_is_found_in_the_end(late: int, over: bool) -> None:
    """Of 20 or 21 finds in 40 pages one is in the last ten: a twentieth. Two of 21 are more."""
    truth = np.zeros(41, np.float32)
    truth[[*range(1, 20), *range(35, 35 + late)]] = 1.0
    index = Index.of({str(node): [str(node + 1)] for node in range(40)})
    plan = Bench(index, Path()).plan("one", ["breadth-first"])
    results = Results(plan, index, {"x": Subject("x", truth)})
    crawl = Outcome("breadth-first", "x", 0, 0, Trace(np.arange(41, dtype=np.int32), seeds=1))
    assert over is exhausted(crawl, results, 40)
