"""train_rules: rules between classes from tables, crawls and the web."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.core.errors import DamagedError, InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Links, Page, Terms, Visit
from lycosa.judges.model import TrainedModel, fit_model
from lycosa.store.directory import Directory
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb import Server, Web, serve
from lycosa.text.bags import Bags
from lycosa.training.corpus import Account
from lycosa.training.page_loading import fetched_pages, recorded_pages
from lycosa.training.rules import LearnedRules, RuleReader, train_rules
from lycosa.training.train_model import train

WORDS = {"DH": "owl", "CH": "coral", "PH": "jazz", "SP": "rail"}

TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
"""Table 1 of the paper: for each class of train-0, the classes of the ten pages that its pages link to."""


def small_model(classes: Sequence[str] = tuple(WORDS), **facts: Any) -> TrainedModel:
    """Return a model with one word per class."""
    words = [WORDS.get(name, name.rpartition("/")[2]) for name in classes]
    bags = Bags.of([([number], [5.0]) for number in range(len(classes))])
    return fit_model("nb", bags, np.arange(len(classes)), classes, words, facts=facts)


class Pages:
    """Page loader with pages in memory, which records the requested URLs."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.pages = pages
        self.requested: list[str] = []

    def __call__(self, urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        for url in urls:
            self.requested.append(url)
            if url in self.pages:
                yield url, self.pages[url]
            else:
                account.left_out["nowhere"] += 1


def page(name: str, *links: str) -> Page:
    return Page("ok", marked=f"{WORDS.get(name, name)} " * 5, links=Links.to(*links), language="en")


def paper_web() -> Pages:
    """Return four pages, one of each class, each with ten links to pages as in table 1."""
    pages: dict[str, Page] = {}
    for source, row in TABLE_1.items():
        targets = [
            f"http://{source}.test/{to}/{number}".lower() for to, count in row.items() for number in range(count)
        ]
        pages[f"http://{source}.test/".lower()] = page(source, *targets)
        pages |= {url: page(url.split("/")[3].upper()) for url in targets}
    return Pages(pages)


def table(place: Path, rows: dict[str, str]) -> str:
    place.write_text("".join(f"{url}\t{name}\n" for url, name in rows.items()))
    return str(place)


def paper_table(place: Path) -> str:
    return table(place, {f"http://{name}.test/".lower(): name for name in TABLE_1})


def cases(book: RuleBook) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for rule in book:
        found.setdefault(rule.source, {})[rule.to] = rule.cases
    return found


@pytest.mark.paper("rules-citation-matrix")
def test_train_rules_random_walk_matrix_approaches_shares(tmp_path: Path) -> None:
    """The cells approach the expected shares after 6,000 links.

    a (DH) links to b (CH) and c (DH), and both link to a, where every walk starts. A walk continues with .85 at each
    page, from a half of the time each way. Per visit to a there are .425 links a-b, .425 a-c, and .425 * .85 = .36125
    each of b-a and c-a. From DH .425 (a-b) of .425 + .425 + .36125 = 1.21125 lead to CH; from CH all lead to DH.
    """
    a, b, c = (f"http://walk.test/{name}" for name in "abc")
    pages = Pages({a: page("DH", b, c), b: page("CH", a), c: page("DH", a)})
    source = table(tmp_path / "t.tsv", {a: "DH"})
    learned = train_rules(source, small_model(), pages, walk=6_000)
    assert learned.book.probability("DH", "CH") == pytest.approx(0.425 / 1.21125, abs=0.02)
    assert 1.0 == learned.book.probability("CH", "DH")
    assert 6_000 == sum(rule.cases for rule in learned.book)
    assert ([a, b, c], 3, 3, []) == (sorted(pages.requested), learned.parents, learned.linked, learned.notes)
    assert learned.book == train_rules(source, small_model(), pages, walk=6_000).book
    assert learned.book != train_rules(source, small_model(), pages, walk=6_000, seed=1).book


def test_train_rules_walk_ends_at_page_without_links(tmp_path: Path) -> None:
    pages = Pages({"http://one.test/": page("DH", "http://end.test/"), "http://end.test/": page("CH")})
    pages.pages["http://two.test/"] = page("PH", "http://lost.test/")
    source = table(tmp_path / "t.tsv", {"http://one.test/": "DH", "http://two.test/": "PH"})
    learned = train_rules(source, small_model(), pages, walk=100)
    assert {"DH": {"CH": 100}} == cases(learned.book)
    assert {"nowhere": 1} == learned.left_out
    with raises_input_error("no-pages", "no rule could"):
        train_rules(table(tmp_path / "n.tsv", {"http://two.test/": "PH"}), small_model(), pages, walk=5)


@pytest.mark.paper("rules-generation", "rules-table-1")
def test_train_rules_equals_tables_1_and_2_of_paper(tmp_path: Path) -> None:
    learned = train_rules(paper_table(tmp_path / "t.tsv"), small_model(), paper_web())
    assert TABLE_1 == cases(learned.book)
    assert {
        ("DH", "CH"): 0.8, ("DH", "PH"): 0.1, ("DH", "SP"): 0.1, ("CH", "DH"): 0.2, ("CH", "CH"): 0.4,
        ("CH", "PH"): 0.4, ("PH", "DH"): 0.3, ("PH", "CH"): 0.4, ("PH", "PH"): 0.3, ("SP", "SP"): 1.0,
    } == {(rule.source, rule.to): rule.probability for rule in learned.book}  # fmt: skip
    assert (4, 40, {}, []) == (learned.parents, learned.linked, dict(learned.left_out), learned.notes)
    learned.book.save(tmp_path / "rules.tsv")
    assert learned.book == RuleBook.load(tmp_path / "rules.tsv")


@pytest.mark.paper("rules-train-1")
def test_train_rules_count_page_once_per_class(tmp_path: Path) -> None:
    web = Pages(
        {
            "http://a.test/1": page("DH", "http://c.test/", "http://c.test/", "http://a.test/1"),
            "http://a.test/2": page("DH", "http://c.test/"),
            "http://b.test/": page("CH", "http://c.test/", "http://a.test/1"),
            "http://c.test/": page("PH"),
        }
    )
    rows = {"http://a.test/1": "DH", "http://a.test/2": "DH", "http://b.test/": "CH"}
    learned = train_rules(table(tmp_path / "t.tsv", rows), small_model(), web)
    assert {"DH": {"PH": 1.0}, "CH": {"PH": 1.0, "DH": 1.0}} == cases(learned.book)
    assert (3, 2) == (learned.parents, learned.linked)
    assert [*rows, "http://c.test/"] == web.requested, "what was looked at once is not looked at again"


def test_train_rules_report_unavailable_pages(tmp_path: Path) -> None:
    web = Pages(
        {
            "http://a.test/": page("DH", "http://gone.test/", "http://b.test/", "http://c.test/"),
            "http://b.test/": page("unheard-of"),
            "http://c.test/": page("CH"),
            "http://d.test/": page("SP"),
        }
    )
    rows = {"http://a.test/": "DH", "http://d.test/": "SP", "http://e.test/": "SP", "http://f.test/": "Football"}
    learned = train_rules(table(tmp_path / "t.tsv", rows), small_model(), web)
    assert {"DH": {"CH": 1.0}} == cases(learned.book)
    assert (1, 1) == (learned.parents, learned.linked)
    assert {
        "nowhere": 1, "in classes that the model does not have": 1, "linked pages that are not available": 1,
        "linked pages without known words": 1,
    } == dict(learned.left_out)  # fmt: skip


@pytest.mark.parametrize("most", [0, 3, 9, 10])
def test_train_rules_samples_linked_pages_by_seed(tmp_path: Path, most: int) -> None:
    learned = [
        train_rules(paper_table(tmp_path / "t.tsv"), small_model(), paper_web(), most=most, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert {most or 10} == {sum(row.values()) for some in learned for row in cases(some.book).values()}
    assert learned[0].book == learned[1].book
    if most == 3:
        assert learned[0].book != learned[2].book


def test_class_named_finds_merged_classes_and_spellings(tmp_path: Path) -> None:
    reader = RuleReader(small_model(("sea/reefs", "sea", "Trains")))
    named = [reader.class_named(label) for label in ("Sea/Reefs", "sea/reefs/atolls", "sea/fish", "trains", "air")]
    assert ["sea/reefs", "sea/reefs", "sea", "Trains", ""] == named


@pytest.mark.parametrize(("language", "word"), [("de", "straßen"), ("en", "stations")])
def test_train_rules_use_language_of_model(language: str, word: str) -> None:
    from lycosa.text.tokens import stems

    stem = stems(word, language)[0]
    bags = Bags.of([([0], [5.0]), ([1], [5.0])])
    model = fit_model("nb", bags, np.arange(2), ["A", "B"], ["other", stem], facts={"language": language})
    assert "B" == RuleReader(model).of_page(Page("ok", marked=f"{word} {word} {word}"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("http://x.test/\tFootball\n", "no page has both links and a class of the model .1 in classes that the model"),
        ("http://dh.test/ch/0\tCH\n", "no page has both links and a class of the model .no pages"),
        ("http://a.test/\tCH\n", "no page has both links and a class of the model .1 nowhere"),
        ("http://l.test/\tCH\n", "no page that its 1 pages link to could be read .1 linked pages that"),
        ("no table at all", "has no URL with a class"),
        ("", "has no URL with a class"),
    ],
)
def test_train_rules_rejects_tables_without_rules(tmp_path: Path, content: str, message: str) -> None:
    web = paper_web()
    web.pages["http://l.test/"] = page("CH", "http://gone.test/")
    (tmp_path / "t.tsv").write_text(content)
    with pytest.raises(InputError, match=message):
        train_rules(str(tmp_path / "t.tsv"), small_model(), web)


def test_train_rules_rejects_invalid_sources(tmp_path: Path) -> None:
    with raises_input_error("missing-file", "nowhere does not"):
        train_rules(str(tmp_path / "nowhere"), small_model(), paper_web())
    with raises_input_error("not-a-crawl", "is not a"):
        train_rules(str(tmp_path), small_model(), paper_web())
    Directory.create(tmp_path / "crawl", Options()).close()
    with raises_input_error("no-pages", "nothing has been crawled in .*crawl yet"):
        train_rules(str(tmp_path / "crawl"), small_model(), paper_web())


def visit(node: str, name: str, *links: str, first: bool = False) -> Visit:
    """Return a visit to a page of a class; words have their index in WORDS as id."""
    number = list(WORDS).index(name)
    terms = Terms(np.array([number], np.uint32), np.array([5], np.uint16), list(WORDS.values()) if first else [])
    return Visit(node, "page", "ok", 1, terms=terms, links=Links.to(*links))


def write_log(path: Path, *visits: Visit) -> str:
    directory = Directory.create(path, Options())
    log = directory.log()
    for each in visits:
        log.append(each)
    log.close()
    directory.close()
    return str(path)


def test_train_rules_reads_crawl(tmp_path: Path) -> None:
    path = write_log(
        tmp_path / "crawl",
        visit("a", "DH", "b", "moved", "circle", "never fetched", "a", "back", first=True),
        Visit("back", "redirect", "ok", 1, links=Links.to("a")),
        visit("b", "CH", "a", "d"),
        Visit("moved", "redirect", "ok", 1, links=Links.to("again")),
        Visit("again", "redirect", "ok", 1, links=Links.to("c")),
        Visit("circle", "redirect", "ok", 1, links=Links.to("circle 2")),
        Visit("circle 2", "redirect", "ok", 1, links=Links.to("circle")),
        visit("c", "PH"),
        Visit("d", "page", "gone", 1),
    )
    learned = train_rules(path, small_model(), paper_web())
    assert {"DH": {"CH": 1.0, "PH": 1.0}, "CH": {"DH": 1.0}} == cases(learned.book)
    assert (2, 3, 3) == (learned.parents, learned.linked, learned.left_out["linked pages that are not available"])
    walked = cases(train_rules(path, small_model(), paper_web(), walk=60).book)
    assert {"DH": {"CH", "PH"}, "CH": {"DH"}} == {source: set(row) for source, row in walked.items()}


def test_train_rules_on_crawl_with_damaged_words_raises(tmp_path: Path) -> None:
    path = write_log(tmp_path / "crawl", visit("a", "CH", "b"))
    with pytest.raises(DamagedError, match="unknown term ids"):
        train_rules(path, small_model(), paper_web())


LOCAL: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"]}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(seed=7, pages=160, hosts=6, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def crawled(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crawls") / "crawl"
    seeds = list(server.web.urls())
    assert 160 == sum(
        visit.is_page
        for visit in lycosa.crawl(
            "coral reef", seeds, out=out, strategy="breadth-first", budget=160, per_host=8, **LOCAL
        )
    )
    return out


@pytest.fixture(scope="module")
def taught(server: Server, crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainedModel]:
    place = tmp_path_factory.mktemp("models")
    known = {url: topic.partition("/")[0] for url in server.web.urls() if (topic := server.web.topic(url))}
    table(place / "t.tsv", known)
    return place / "t.tsv", train(
        [str(place / "t.tsv")], place / "m.model", recorded_pages(crawled), held_out=0.0
    ).model


def test_train_rules_equal_for_all_sources(crawled: Path, taught: tuple[Path, TrainedModel], tmp_path: Path) -> None:
    source, model = taught
    archived = train_rules(str(source), model, recorded_pages(crawled), most=0)
    fresh = train_rules(str(source), model, fetched_pages(Options(traps=False, **LOCAL)), most=0)
    assert len(archived.book) > 10
    assert archived.book == fresh.book
    assert (archived.parents, archived.linked) == (fresh.parents, fresh.linked)
    logged = train_rules(str(crawled), model, paper_web())
    _alike(archived, logged)


def _alike(archived: LearnedRules, logged: LearnedRules) -> None:
    ours = {(rule.source, rule.to): rule.probability for rule in archived.book}
    theirs = {(rule.source, rule.to): rule.probability for rule in logged.book}
    firm = [rule for rule in archived.book if rule.cases >= 3]
    assert len(firm) >= 5
    assert max(abs(ours[rule.source, rule.to] - theirs.get((rule.source, rule.to), 0.0)) for rule in firm) < 0.2
    assert logged.parents >= archived.parents
