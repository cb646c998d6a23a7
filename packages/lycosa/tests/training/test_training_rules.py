"""Rules between classes, learned from tables, from crawls and from the web."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from lycosa.core.errors import DamagedError, InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Links, Page, Terms, Visit
from lycosa.judges.model import TrainedModel, fitted
from lycosa.store.directory import Directory
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb import Server, Web, serve
from lycosa.text.bags import Bags
from lycosa.training.corpus import Account
from lycosa.training.looking import fetched, recorded
from lycosa.training.rules import Learned, RuleReader, train_rules
from lycosa.training.train_model import train

WORDS = {"DH": "owl", "CH": "coral", "PH": "jazz", "SP": "rail"}
"""A word for each class of the rules paper: departments, courses, personal pages, sports."""

TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
"""Of the paper: for each class of train-0, the classes of the ten pages that its pages link to."""


def small_model(classes: Sequence[str] = tuple(WORDS), **facts: Any) -> TrainedModel:
    """One word, one class."""
    words = [WORDS.get(name, name.rpartition("/")[2]) for name in classes]
    bags = Bags.of([([number], [5.0]) for number in range(len(classes))])
    return fitted("nb", bags, np.arange(len(classes)), classes, words, facts=facts)


class Pages:
    """A few pages in memory, as a Look; remembers what was asked for."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def __call__(self, urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        for url in urls:
            self.asked.append(url)
            if url in self.pages:
                yield url, self.pages[url]
            else:
                account.left_out["nowhere"] += 1


def page(name: str, *links: str) -> Page:
    """A page of a class, with links."""
    return Page("ok", marked=f"{WORDS.get(name, name)} " * 5, links=Links.to(*links), language="en")


def paper_web() -> Pages:
    """Four pages, one of each class, each with ten links to pages as table 1 has them."""
    pages: dict[str, Page] = {}
    for source, row in TABLE_1.items():
        targets = [
            f"http://{source}.test/{to}/{number}".lower() for to, count in row.items() for number in range(count)
        ]
        pages[f"http://{source}.test/".lower()] = page(source, *targets)
        pages |= {url: page(url.split("/")[3].upper()) for url in targets}
    return Pages(pages)


def table(place: Path, rows: dict[str, str]) -> str:
    """A table of addresses and classes."""
    place.write_text("".join(f"{url}\t{name}\n" for url, name in rows.items()))
    return str(place)


def paper_table(place: Path) -> str:
    """The four pages and their classes."""
    return table(place, {f"http://{name}.test/".lower(): name for name in TABLE_1})


def cases(book: RuleBook) -> dict[str, dict[str, float]]:
    """How often each rule was seen."""
    found: dict[str, dict[str, float]] = {}
    for rule in book:
        found.setdefault(rule.source, {})[rule.to] = rule.cases
    return found


# -- topic-citation matrix -------------------------------------------------------------------------------------


@pytest.mark.paper("rules-citation-matrix")
def test_a_random_walk_fills_the_citation_matrix(tmp_path: Path) -> None:
    """Cells are the shares that follow from the walk, within what chance leaves of 6,000 links.

    a (DH) links to b (CH) and c (DH), and both link to a, where every walk starts. From a a walk goes on with .85, half
    of the time each way; from b and c with .85, too. Of 1 visit to a come .425 to b and .425 to c, so .425 links a-b,
    .425 a-c, and .425 * .85 = .36125 each of b-a and c-a. From DH: a-b .425 of .425 + .425 + .36125 = 1.21125 leads to
    CH. From CH all lead to DH.
    """
    a, b, c = (f"http://walk.test/{name}" for name in "abc")
    pages = Pages({a: page("DH", b, c), b: page("CH", a), c: page("DH", a)})
    source = table(tmp_path / "t.tsv", {a: "DH"})
    learned = train_rules(source, small_model(), pages, walk=6_000)
    assert learned.book.probability("DH", "CH") == pytest.approx(0.425 / 1.21125, abs=0.02)
    assert 1.0 == learned.book.probability("CH", "DH")
    assert 6_000 == sum(rule.cases for rule in learned.book)
    assert ([a, b, c], 3, 3, []) == (sorted(pages.asked), learned.parents, learned.linked, learned.notes)
    assert learned.book == train_rules(source, small_model(), pages, walk=6_000).book
    assert learned.book != train_rules(source, small_model(), pages, walk=6_000, seed=1).book


def test_a_walk_that_gets_nowhere_ends(tmp_path: Path) -> None:
    """One link that can be followed, from one of two starts; the other leads to what can't be had, which is told."""
    pages = Pages({"http://one.test/": page("DH", "http://end.test/"), "http://end.test/": page("CH")})
    pages.pages["http://two.test/"] = page("PH", "http://lost.test/")
    source = table(tmp_path / "t.tsv", {"http://one.test/": "DH", "http://two.test/": "PH"})
    learned = train_rules(source, small_model(), pages, walk=100)
    assert {"DH": {"CH": 100}} == cases(learned.book)
    assert {"nowhere": 1} == learned.left_out
    with pytest.raises(InputError, match="no rule could be learned"):
        train_rules(table(tmp_path / "n.tsv", {"http://two.test/": "PH"}), small_model(), pages, walk=5)


# -- by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.paper("rules-generation", "rules-table-1")
def test_table_1_and_2_of_the_paper(tmp_path: Path) -> None:
    """Four pages and the forty that they link to give the paper's counts, and its probabilities, to the digit."""
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
def test_a_page_counts_once_for_each_class(tmp_path: Path) -> None:
    """However many pages of a class link to it, and however often; for another class it counts again."""
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
    assert [*rows, "http://c.test/"] == web.asked, "what was looked at once is not looked at again"


def test_pages_that_can_not_be_had_are_counted(tmp_path: Path) -> None:
    """Nor do those count that have no word which the model knows."""
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
        "nowhere": 1, "of classes that the model does not know": 1, "linked pages that can't be had": 1,
        "linked pages without a word that the model knows": 1,
    } == dict(learned.left_out)  # fmt: skip


@pytest.mark.parametrize("most", [0, 3, 9, 10])
def test_some_linked_pages_of_each_class(tmp_path: Path, most: int) -> None:
    """At most so many are looked at for each class, drawn by chance, the same for the same number."""
    learned = [
        train_rules(paper_table(tmp_path / "t.tsv"), small_model(), paper_web(), most=most, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert {most or 10} == {sum(row.values()) for some in learned for row in cases(some.book).values()}
    assert learned[0].book == learned[1].book
    if most == 3:
        assert learned[0].book != learned[2].book


def test_classes_that_were_merged_and_other_spellings(tmp_path: Path) -> None:
    """A class below one of the model's counts as that, and large or small letters are the same."""
    reader = RuleReader(small_model(("sea/reefs", "sea", "Trains")))
    named = [reader.class_named(label) for label in ("Sea/Reefs", "sea/reefs/atolls", "sea/fish", "trains", "air")]
    assert ["sea/reefs", "sea/reefs", "sea", "Trains", ""] == named


@pytest.mark.parametrize(("language", "word"), [("de", "straßen"), ("en", "stations")])
def test_words_are_read_in_the_language_of_the_model(language: str, word: str) -> None:
    """A page that does not say its language is read as the pages that the model was trained on."""
    from lycosa.text.tokens import stems

    stem = stems(word, language)[0]
    bags = Bags.of([([0], [5.0]), ([1], [5.0])])
    model = fitted("nb", bags, np.arange(2), ["A", "B"], ["other", stem], facts={"language": language})
    assert "B" == RuleReader(model).of_page(Page("ok", marked=f"{word} {word} {word}"))


# -- what can be wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("http://x.test/\tFootball\n", "none of its pages has a class of the model and links .1 of classes that the m"),
        ("http://dh.test/ch/0\tCH\n", "none of its pages has a class of the model and links .no pages"),
        ("http://a.test/\tCH\n", "none of its pages has a class of the model and links .1 nowhere"),
        ("http://l.test/\tCH\n", "none of the pages that its 1 pages link to could be read .1 linked pages that"),
        ("no table at all", "names no address with a class"),
        ("", "names no address with a class"),
    ],
)
def test_tables_that_give_no_rule(tmp_path: Path, content: str, told: str) -> None:
    """It is said why there is none."""
    web = paper_web()
    web.pages["http://l.test/"] = page("CH", "http://gone.test/")
    (tmp_path / "t.tsv").write_text(content)
    with pytest.raises(InputError, match=told):
        train_rules(str(tmp_path / "t.tsv"), small_model(), web)


def test_sources_that_are_none(tmp_path: Path) -> None:
    """No file, and a directory that is no crawl, and a crawl that has not begun."""
    with pytest.raises(InputError, match=r"there is no file or directory .*nowhere: name a table"):
        train_rules(str(tmp_path / "nowhere"), small_model(), paper_web())
    with pytest.raises(InputError, match="is not a crawl: rules need addresses and links"):
        train_rules(str(tmp_path), small_model(), paper_web())
    Directory.create(tmp_path / "crawl", Options()).close()
    with pytest.raises(InputError, match=r"nothing has been crawled in .*crawl yet"):
        train_rules(str(tmp_path / "crawl"), small_model(), paper_web())


# -- out of a crawl --------------------------------------------------------------------------------------------


def visit(node: str, name: str, *links: str, first: bool = False) -> Visit:
    """A page of a class in the log; words are numbered as in WORDS."""
    number = list(WORDS).index(name)
    terms = Terms(np.array([number], np.uint32), np.array([5], np.uint16), list(WORDS.values()) if first else [])
    return Visit(node, "page", "ok", 1, terms=terms, links=Links.to(*links))


def write_log(path: Path, *visits: Visit) -> str:
    """A crawl's directory with these visits."""
    directory = Directory.create(path, Options())
    log = directory.log()
    for each in visits:
        log.append(each)
    log.close()
    directory.close()
    return str(path)


def test_a_crawl_is_its_own_table(tmp_path: Path) -> None:
    """Its pages are of the class that the model finds in their words; redirects are followed, circles are not."""
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
    assert (2, 3, 3) == (learned.parents, learned.linked, learned.left_out["linked pages that can't be had"])
    walked = cases(train_rules(path, small_model(), paper_web(), walk=60).book)
    assert {"DH": {"CH", "PH"}, "CH": {"DH"}} == {source: set(row) for source, row in walked.items()}


def test_a_crawl_with_damaged_words(tmp_path: Path) -> None:
    """Words that the log never named are no crash."""
    path = write_log(tmp_path / "crawl", visit("a", "CH", "b"))
    with pytest.raises(DamagedError, match="words without a name"):
        train_rules(path, small_model(), paper_web())


# -- the embedded web ------------------------------------------------------------------------------------------

LOCAL: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"]}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A small web."""
    with serve(Web(seed=7, pages=160, hosts=6, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def crawled(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of all of it."""
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
    """A table of all pages with a topic, and a model of the subjects."""
    place = tmp_path_factory.mktemp("models")
    known = {url: topic.partition("/")[0] for url in server.web.urls() if (topic := server.web.topic(url))}
    table(place / "t.tsv", known)
    return place / "t.tsv", train([str(place / "t.tsv")], place / "m.model", recorded(crawled), held_out=0.0).model


def test_recorded_fetched_and_crawled_give_the_same(
    crawled: Path, taught: tuple[Path, TrainedModel], tmp_path: Path
) -> None:
    """Pages out of an archive, pages from the web, and the words in a crawl's log make the same rules."""
    source, model = taught
    archived = train_rules(str(source), model, recorded(crawled), most=0)
    fresh = train_rules(str(source), model, fetched(Options(traps=False, **LOCAL)), most=0)
    assert len(archived.book) > 10
    assert archived.book == fresh.book
    assert (archived.parents, archived.linked) == (fresh.parents, fresh.linked)
    logged = train_rules(str(crawled), model, paper_web())
    _alike(archived, logged)


def _alike(archived: Learned, logged: Learned) -> None:
    """A crawl has pages without a topic, too, and the model's word for all: nearly the same rules."""
    ours = {(rule.source, rule.to): rule.probability for rule in archived.book}
    theirs = {(rule.source, rule.to): rule.probability for rule in logged.book}
    firm = [rule for rule in archived.book if rule.cases >= 3]
    assert len(firm) >= 5
    assert max(abs(ours[rule.source, rule.to] - theirs.get((rule.source, rule.to), 0.0)) for rule in firm) < 0.2
    assert logged.parents >= archived.parents
