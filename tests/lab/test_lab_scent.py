"""The experiment on scent: what it chooses, what it measures, and when a claim holds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.drawing.pictures import pictures
from lycosa.lab.certainty import Difference, Interval
from lycosa.lab.corpora.recorded import embedded
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import Curve, Figure, Findings, Table
from lycosa.lab.index import Index
from lycosa.lab.indexing import Recorded, write_index
from lycosa.lab.papers import PAPERS, Bench, findings
from lycosa.lab.papers.scent import (
    FLOORS,
    Compared,
    _own,
    average_precision,
    claims_on,
    compare,
    corpus_name,
    figure_harvest,
    figure_share,
    floor,
    size_of,
    table_lost,
    table_worst,
    without,
)
from lycosa.lab.papers.scent.crawls import (
    DEVELOPMENT,
    KEYWORD,
    ORACLE,
    PUBLISHED,
    QUERY_ON,
    QUICK,
    REPORT,
    SCENT,
    SETTINGS,
    ScentCrawls,
    Setting,
    Size,
    choose,
    half_of,
    keywords,
    topics,
)
from lycosa.lab.results import Outcome, Results, strategy_mark
from lycosa.lab.simulation import Trace
from lycosa.lab.subjects import Subject, subjects_of


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A web of 320 pages with classes."""
    return write_index(embedded(pages=320, hosts=15), tmp_path_factory.mktemp("web") / "index", source="embedded")


@pytest.fixture(scope="module")
def made(web: Index, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    """The findings on it, and where runs are kept."""
    out = tmp_path_factory.mktemp("scent")
    return findings("scent", Bench(web, out, quick=True, workers=1)), out


def counted(path: Path, sizes: dict[str, int]) -> Index:
    """Pages without links, so many of each class."""
    pages = [
        Recorded(f"http://a.example/{name}/{number}", Page("ok", marked=f"a page on {name}"), classes=[name])
        for name, many in sizes.items()
        for number in range(many)
    ]
    return write_index(pages, path, source="test")


def crawls(gains: dict[str, list[list[int]]], setting: Setting = QUERY_ON) -> ScentCrawls:
    """Crawls of two topics, with what each page brought: strategy -> a line for each topic, one seed set each.

    The corpus has the seed, then ten relevant nodes, then ten that are not: a gain is the next relevant one.
    """
    names = ["seed", *(f"good{n}" for n in range(10)), *(f"bad{n}" for n in range(10))]
    index = Index.of({"seed": names[1:]})
    truth = np.array([0.0, *[1.0] * 10, *[0.0] * 10], np.float32)
    subjects = {name: Subject(name, truth, seen=np.zeros(21, np.bool_)) for name in ("one", "two")}
    plan = Experiment("test", "", list(gains), budgets=[2, 4])
    results = Results(plan, index, subjects)
    for strategy, lines in gains.items():
        for topic, line in zip(subjects, lines, strict=True):
            good, bad = iter(range(1, 11)), iter(range(11, 21))
            nodes = [0, *(next(good) if gain else next(bad) for gain in line)]
            results.outcomes.append(Outcome(strategy, topic, 0, 0, Trace(np.array(nodes, np.int32), 1)))
    return ScentCrawls(setting, results)


@pytest.fixture
def known() -> ScentCrawls:
    """Topic one: scent finds 1 of the oracle's 2, then 3 of 4; topic two: 2 of 2, then 2 of 4. fl_n is the reverse."""
    return crawls(
        {
            ORACLE: [[1, 1, 1, 1], [1, 1, 1, 1]],
            SCENT: [[1, 0, 1, 1], [1, 1, 0, 0]],
            "fl_n": [[1, 1, 0, 0], [0, 0, 0, 1]],
            "best-first": [[0, 0, 0, 0], [1, 0, 1, 1]],
        }
    )


# ---- what is chosen


def test_halves_are_by_checksum() -> None:
    """WebKB's classes: course, faculty and student are reported, the others were developed on."""
    names = ["course", "department", "faculty", "project", "staff", "student"]
    assert ["course", "faculty", "student"] == [name for name in names if half_of(name) == REPORT]


def test_topics_of_both_halves_have_nothing_in_common(web: Index) -> None:
    """The same web gives other topics and keywords to develop on than to report; each is of its half."""
    report, develop = (choose(web, half, 2) for half in (REPORT, DEVELOPMENT))
    assert not {*report.topics, *report.keywords} & {*develop.topics, *develop.keywords}
    assert {REPORT} == {half_of(name) for name in (*report.topics, *report.keywords)}
    assert report == choose(web, REPORT, 2)


def test_topics_fill_up_with_larger_ones_and_say_so(tmp_path: Path) -> None:
    """Where few classes have 30 to 600 pages, larger ones follow, smallest first; leftovers and small ones do not."""
    sizes = {"student": 700, "course": 650, "faculty": 40, "staff": 50, "b": 20}
    index = counted(tmp_path / "i", sizes | {f"even{n}": 0 for n in range(3)} | {"department": 800})
    remarks: list[str] = []
    assert ["course", "faculty", "student"] == topics(index, REPORT, 8, 0, remarks)
    assert "has 3 topics, 2 of them with more than 600 pages; 8 of 30 to 600 pages were wanted" in remarks[0]
    assert ["staff"] == topics(index, DEVELOPMENT, 1, 0, remarks)  # department has more than a third of the corpus
    assert 1 == len(remarks)


def test_no_topic_lies_within_another(tmp_path: Path) -> None:
    """Of a class and its branch one is hunted."""
    parent = next(name for name in ("sea", "rail", "sky", "art") if half_of(name) == REPORT)
    child = next(f"{parent}/{n}" for n in range(9) if half_of(f"{parent}/{n}") == REPORT)
    index = counted(tmp_path / "i", {child: 40, parent: 40, "none": 100})
    assert 1 == len([name for name in topics(index, REPORT, 2, 0, []) if name.startswith(parent)])


def test_a_half_without_topics_is_an_error(tmp_path: Path) -> None:
    """Nothing is hunted instead."""
    with pytest.raises(InputError, match="no class of the report half has 30 pages"):
        topics(counted(tmp_path / "i", {"staff": 40}), REPORT, 8, 0, [])


def test_keywords_are_on_a_twentieth_to_a_fifth_of_the_pages(tmp_path: Path) -> None:
    """As written and whole: neither rare nor common words, nor stop words, digits or short ones, are drawn."""
    texts = ["everywhere through twelve99" for _ in range(100)]
    for word, many in {"glacier": 5, "glaciers": 20, "atoll": 4, "reefs": 21, "about": 10, "sea": 10}.items():
        for page in range(many):
            texts[page] += 3 * f" {word}"
    pages = [Recorded(f"http://a.example/{n}", Page("ok", marked=text)) for n, text in enumerate(texts)]
    index = write_index(pages, tmp_path / "i", source="test")
    assert {"glacier": 5, "glaciers": 20} == {
        word: many for half in (REPORT, DEVELOPMENT) for word, many in keywords(index, half, 9, 0).items()
    }


def test_keywords_that_pages_are_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for words that are there three times in the mean, those that are there once are left out."""
    texts = ["everywhere" + (" glacier" * 3 + " dismissed" if n < 10 else "") for n in range(100)]
    pages = [Recorded(f"http://a.example/{n}", Page("ok", marked=text)) for n, text in enumerate(texts)]
    index = write_index(pages, tmp_path / "i", source="test")
    monkeypatch.setattr("lycosa.lab.papers.scent.crawls.OFTEN", 3.0)
    assert {"glacier": 10} == keywords(index, REPORT, 9, 0) | keywords(index, DEVELOPMENT, 9, 0)


def test_remarks_are_of_scent(known: ScentCrawls) -> None:
    """Published strategies above the oracle are told in one line, and nothing is told of scent without a term."""
    above = "Above the oracle, which is greedy, not optimal"
    told = [f"{above}: {name} in 1 of 2 trials." for name in (SCENT, "fl_n", "best-first", "scent,without=page")]
    known.results.remarks = [*told, "one: a note"]
    last = "Above the oracle in some trials, too: fl_n, best-first."
    assert [told[0], "one: a note", last] == _own(known, {"page": "scent,without=page"})


def test_twenty_examples_of_a_large_class(tmp_path: Path) -> None:
    """As many as asked for, but never more than a quarter; an experiment can ask for them, too."""
    index = counted(tmp_path / "i", {"student": 88})
    (ten,), (twenty,), (most,) = (subjects_of(index, ["student"], examples=many) for many in (10, 20, 99))
    assert (10, 20, 88 // 4) == (len(ten.examples), len(twenty.examples), len(most.examples))
    assert set(ten.examples) < set(twenty.examples)
    plan = Experiment("mine", "my.index", ["fl_n"], examples=0)
    with pytest.raises(InputError, match="examples is 0: it must be 1 or more"):
        plan.check()


def test_few_topics_get_more_seed_sets() -> None:
    """Two dozen crawls at least: 8 topics of 5 seed sets, or 3 of 8."""
    assert [(8, 5), (3, 8), (12, 5)] == [(many, Size().sets_for(many)) for many in (8, 3, 12)]


def test_a_kept_crawl_is_of_this_code() -> None:
    """Scent's own code is part of the name of its crawls, as an arm too; that of a single file is not."""
    assert [2, 2, 1] == [len(strategy_mark(text)) for text in ("scent", "mab_var,arms=scent+fl_n", "fl_n")]


def test_budgets_end_at_a_third_of_the_corpus(web: Index, tmp_path: Path) -> None:
    """Of 500 pages 100 are crawled; all published strategies unless it has to be quick."""
    whole, quick = (size_of(Bench(web, tmp_path, quick=quick)) for quick in (False, True))
    assert ((100,), PUBLISHED, (20, 50, 100), QUICK) == (whole.budgets, whole.published, quick.budgets, quick.published)


# ---- what is measured


def test_shares_by_hand(known: ScentCrawls) -> None:
    """After 2 pages scent has 1/2 and 2/2 of the oracle's, after 4 pages 3/4 and 2/4."""
    assert ([0.5, 1.0], [0.75, 0.5]) == (known.share(SCENT, 2).tolist(), known.share(SCENT, 4).tolist())
    assert (0.75, 0.625) == (known.mean(SCENT, 2), known.mean(SCENT, 4))
    assert math.sqrt(0.75 * 0.5) == pytest.approx(known.geometric(SCENT, 4))
    assert {"one": 0.75, "two": 0.5} == known.by_topic(SCENT, 4)


def test_the_best_is_picked_in_each_cell_and_budget(known: ScentCrawls) -> None:
    """After 2 pages fl_n has (1 + 0) / 2 and best-first (0 + 1/2) / 2; after 4 pages both have 3/8: the first is it."""
    assert ["fl_n", "fl_n"] == [known.best(budget) for budget in known.budgets]
    assert (0.75 - 0.5, 0.625 - 0.375) == tuple(known.ahead(SCENT, "fl_n", budget).mean for budget in (2, 4))


def test_the_bound_is_beside_it(known: ScentCrawls) -> None:
    """All ten relevant nodes are one link away: a budget of 4 can have 4, of which scent has 5/8."""
    assert (1.0, 0.625) == (known.of_bound(ORACLE, 4), known.of_bound(SCENT, 4))


def test_a_trial_without_an_oracles_find_has_no_share() -> None:
    """Where there was nothing to be found at a budget, the mean is over the others."""
    one = crawls({ORACLE: [[0, 0, 1, 1], [1, 1, 1, 1]], SCENT: [[0, 0, 1, 0], [1, 0, 1, 0]], "fl_n": [[0] * 4] * 2})
    assert [True, False] == np.isnan(one.share(SCENT, 2)).tolist()
    assert 0.5 == one.mean(SCENT, 2)


def test_a_trial_that_one_strategy_lacks_is_none(known: ScentCrawls) -> None:
    """Strategies are compared on the same trials; without a crawl of scent there is nothing to compare."""
    results = replace(known.results, outcomes=known.results.outcomes[:-1])
    assert [("one", 0)] == [(one.subject, one.seed_set) for one in ScentCrawls(QUERY_ON, results).outcomes[ORACLE]]
    lacking = [one for one in known.results.outcomes if one.strategy != SCENT]
    with pytest.raises(InputError, match="scent has no crawl"):
        _ = ScentCrawls(QUERY_ON, replace(known.results, outcomes=lacking)).outcomes


def test_harvest_by_windows(known: ScentCrawls) -> None:
    """The window is no longer than the crawl; scent has 5 of 8 in it, the oracle all."""
    drawn = {curve.label: list(curve.y) for curve in figure_harvest(known).curves}
    assert ([5 / 8], [1.0]) == (drawn["scent"], drawn["oracle-greedy"])
    shares = figure_share(known).curves[0]
    assert ([4], [0.625]) == (list(shares.x), list(shares.y))  # from ten pages on, or the crawl's end


def test_ticks_of_logarithmic_axes_are_numbers(known: ScentCrawls) -> None:
    """Shares are drawn over a logarithmic axis: its ticks are 10, 100, not the source of a formula."""
    curve = Curve("scent", [10, 100, 1000], [0.01, 0.1, 1.0])
    drawn = pictures(replace(figure_share(known), curves=[curve], log_y=True))["svg"]
    assert (False, True, True) == tuple(text in drawn for text in (b"mathdefault", b"1,000", b"0.01"))


def test_average_precision_does_not_depend_on_the_order_of_equals() -> None:
    """Three pages said to be equal, one of them relevant: 1/3, wherever it stands."""
    assert [1 / 3] * 2 == [average_precision([0.5] * 3, hits) for hits in ([1, 0, 0], [0, 0, 1])]
    assert math.isnan(average_precision([1, 2], [0, 0]))


def test_lost_topics_are_named(known: ScentCrawls, monkeypatch: pytest.MonkeyPatch) -> None:
    """fl_n is ahead of scent on topic one after 2 pages by 1/2, best-first on topic two after 4 by 1/4."""
    monkeypatch.setattr("lycosa.lab.papers.scent.known", lambda crawls, topic: None)
    lost = [tuple(row[place] for place in (1, 4, 6, 8, 9)) for row in table_lost([known]).rows]
    assert [("one", 2, "fl_n", 0.5, 0.5), ("two", 4, "best-first", 0.25, 0.25 - 0.5)] == lost
    # mean over the budgets: one (1/2 + 3/4) / 2, two (1 + 1/2) / 2
    assert ["one", "two"] == [row[1] for row in table_worst([known]).rows]


# ---- claims


def line(scent: float, ahead: float, floor: float | None = 0.6) -> Compared:
    """A cell, an interval of .1 on both sides."""
    sure = Interval(scent, scent - 0.1, scent + 0.1, 8)
    apart = Difference(ahead, ahead - 0.1, ahead + 0.1, 0.5, 8)
    return Compared("query", 100, floor, sure, scent, "fl_n", sure, apart)


def test_one_miss_is_a_miss() -> None:
    """A claim on all cells holds if all reach it; one that is behind or below its floor by a hair makes it fail."""
    good, behind, below = line(0.7, 0.2), line(0.7, -0.001), line(0.5999, 0.2)
    assert ["holds", "holds"] == [claim.verdict for claim in claims_on([good, good], quick=False)]
    best, floors = claims_on([good, behind, below], quick=False)
    assert ("does not hold", "does not hold") == (best.verdict, floors.verdict)
    assert "query, 100 pages: fl_n is ahead, scent less it -0.001 [-0.101, +0.099]." in best.evidence
    assert "Ahead or level in 2 of 3 cells, in 2 with the whole interval above 0" in best.evidence
    assert "0.600, 0.60 was asked for.\nReached in 2 of 3 cells." in floors.evidence


def test_what_cannot_be_claimed() -> None:
    """A number that is none is a miss; a quick run decides nothing; without floors nothing is said of them."""
    assert "does not hold" == claims_on([line(math.nan, math.nan)], quick=False)[0].verdict
    assert ["cannot be tested here"] * 2 == [claim.verdict for claim in claims_on([line(0.7, 0.2)], quick=True)]
    assert 1 == len(claims_on([line(0.7, 0.2, None)], quick=False))


def test_floors_are_known_by_the_corpus_source() -> None:
    """Each of the two corpora has a floor in each cell; another one has none."""
    index = Index.of({"a": ["b"]})
    sources = ("wikispeedia.warc.gz", "webkb.warc.gz", "embedded")
    assert ["Wikispeedia", "WebKB", ""] == [corpus_name(replace(index, facts={"source": name})) for name in sources]
    assert {cell.key for cell in SETTINGS} == set(FLOORS["WebKB"]) == set(FLOORS["Wikispeedia"])
    assert (0.93, None) == (floor("Wikispeedia", "query-on", 500), floor("Wikispeedia", "query-on", 300))


def test_keywords_are_held_to_the_geometric_mean() -> None:
    """In the keyword cell the floor is against the geometric mean, elsewhere against the plain one."""
    gains = {ORACLE: [[1] * 4] * 2, SCENT: [[1, 0, 1, 1], [1, 0, 0, 0]], "fl_n": [[0] * 4] * 2}
    (_, plain) = compare([crawls(gains)], "")
    assert 0.5 == plain.counted
    (_, keyword) = compare([crawls(gains, KEYWORD)], "")
    assert math.sqrt(0.75 * 0.25) == pytest.approx(keyword.counted)


# ---- all of it


def test_all_parts_are_there(made: tuple[Findings, Path]) -> None:
    """The cells, all strategies, the ablation, curves of each cell, failures; each key once."""
    keys = [part.key for part in made[0].parts]
    tables = {f"scent-{name}" for name in ("cells", "all", "ablation", "worst", "lost", "topics")}
    figures = {f"scent-figure-{kind}-{cell.key}" for kind in ("share", "harvest") for cell in SETTINGS}
    assert tables | figures | {"scent-figure-ablation"} == set(keys)
    assert len(keys) == len(set(keys))


def test_the_table_of_cells(made: tuple[Findings, Path]) -> None:
    """Five cells at three budgets, no floors for this corpus; the oracle is within the bound."""
    table = next(part for part in made[0].parts if part.key == "scent-cells")
    assert isinstance(table, Table)
    assert [(cell.title, budget) for cell in SETTINGS for budget in (20, 50, 100)] == [
        tuple(row[:2]) for row in table.rows
    ]
    place = {name: number for number, name in enumerate(table.columns)}
    assert {""} == {row[place["floor"]] for row in table.rows}
    assert all(0 < row[place["scent of reachable"]] <= 1 + 1e-9 for row in table.rows)  # type: ignore[operator]
    assert {row[place["best published"]] for row in table.rows} <= set(QUICK)


def test_ablation_has_a_row_for_each_term(made: tuple[Findings, Path]) -> None:
    """Two terms in a quick run, in both cells of a query."""
    table = next(part for part in made[0].parts if part.key == "scent-ablation")
    assert [*without(2)] * 2 == [row[1] for row in table.rows]  # type: ignore[union-attr]
    figure = next(part for part in made[0].parts if part.key == "scent-figure-ablation")
    assert isinstance(figure, Figure)
    assert list(without(2)) == list(figure.ticks)
    assert len(without()) >= 2


def test_who_is_told_examples_is_told_no_words(made: tuple[Findings, Path]) -> None:
    """Examples are twenty, or a quarter; the query is for other cells."""
    plans = made[0].configuration["experiments"]
    assert {"keyword": 10, "query-on": 10, "query-off": 10, "examples-on": 20, "examples-off": 20} == {
        cell: plan["examples"] for cell, plan in plans.items()
    }
    assert ("keyword", "as-published", "random") == tuple(plans["keyword"][key] for key in ("judge", "mode", "seeds"))
    assert {"independent"} == {plan["mode"] for cell, plan in plans.items() if cell != "keyword"}


def test_a_second_call_runs_nothing_again(made: tuple[Findings, Path], web: Index) -> None:
    """All crawls are kept, and give the same."""
    before = {file: file.stat().st_mtime_ns for file in made[1].rglob("runs/*.npz")}
    again = findings("scent", Bench(web, made[1], quick=True, workers=1))
    assert before == {file: file.stat().st_mtime_ns for file in made[1].rglob("runs/*.npz")}
    assert made[0].as_dict() == again.as_dict()


def test_a_graph_is_refused(tmp_path: Path) -> None:
    """Scent reads words."""
    with pytest.raises(InputError, match="pages with text and classes"):
        findings("scent", Bench(Index.of({"a": ["b"]}), tmp_path))


def test_the_command_takes_the_half(
    tmp_path: Path, web: Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lycosa lab paper scent --develop` hands it on, and the page says so; scent is none of `all`."""
    given: list[Bench] = []

    def stub(bench: Bench) -> Findings:
        given.append(bench)
        return Findings("scent", "Scent", [Table("t", "T", ["a"], [[1]])])

    monkeypatch.setattr("lycosa.lab.papers.scent.findings", stub)
    words = ["--corpus", str(web.path), "--develop", "--out", str(tmp_path)]
    assert 0 == run(monkeypatch, "lab", "paper", "scent", *words), capsys.readouterr()
    assert [True] == [bench.develop for bench in given]
    assert "--develop" in (tmp_path / "scent/index.html").read_text("utf-8")
    assert "scent" not in PAPERS
