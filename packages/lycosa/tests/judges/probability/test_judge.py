"""The judge `probability`: judging, learning, labels, explanations, and unusual topics and pages."""

import math

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import DamagedError
from lycosa.core.types import Label, Links, ModelUpdate, Page, Seed, Visit
from lycosa.judges.probability import Probability
from lycosa.judges.probability.judge import is_portal, parse_topic
from lycosa.text.vocabulary import Vocabulary

SEA = "coral reef polyp atoll lagoon fish algae bleach ocean warm water diver sponge anemone shoal tide".split()
RAIL = "steam engine rail locomotive signal boiler track carriage station whistle coal piston guard bogie axle".split()
BREAD = "flour yeast dough oven crust loaf baker knead salt rye wheat butter mill grain starter proof".split()


def text(words: list[str], number: int, length: int = 55) -> str:
    """Return text of some words, a different one for each number."""
    chance = np.random.default_rng(number)
    return " ".join(f"the {word}" if at % 3 else word for at, word in enumerate(chance.choice(words, length)))


def page(node: str, words: list[str], number: int, title: str = "", links: tuple[str, ...] = ()) -> Page:
    main = text(words, number)
    return Page("ok", title=title, marked=main, main=main, lead=main[:200], node=node, links=Links.to(*links))


class JudgedCrawl:
    """Judge that judges and learns as in the engine, with the events that a log would have."""

    def __init__(self, judge: Probability) -> None:
        self.judge, self.words = judge, Vocabulary()
        self.events: list[object] = []

    def start(self, *nodes: str) -> None:
        for node in nodes:
            self.events.append(Seed(node))
            self.judge.start(Seed(node))

    def visit(self, found: Page, **more: object) -> Visit:
        reading = self.words.read(found)
        judgement = self.judge.judge(found, reading)
        visit = Visit(
            found.node, "page", "ok", 1, title=found.title, language=found.language, relevance=judgement.relevance,
            data=judgement.data, terms=reading.terms, links=found.links, **more,  # type: ignore[arg-type]
        )  # fmt: skip
        self.words.learn(visit)
        self.judge.learn(visit)
        self.events.append(visit)
        self.update()
        return visit

    def update(self, force: bool = False) -> ModelUpdate | None:
        update = self.judge.next_update(0.0, force)
        if update is not None:
            self.judge.adopt(update)
            self.events.append(update)
        return update

    def label(self, node: str, relevant: bool | None) -> None:
        self.events.append(Label(node, relevant))
        self.judge.add_label(Label(node, relevant))

    def visit_mixed(self, sea: int = 12, others: int = 24) -> None:
        for number in range(max(sea, others)):
            if number < sea:
                self.visit(page(f"http://a.test/sea/{number}", SEA, number))
            if number < others:
                words, name = (RAIL, "rail") if number % 2 else (BREAD, "bread")
                self.visit(page(f"http://a.test/{name}/{number}", words, 100 + number))
        self.update(force=True)

    def relevances(self) -> dict[str, float]:
        nodes = [event.node for event in self.events if isinstance(event, Visit) and event.is_version]
        return dict(zip(nodes, self.judge.relevances_now().tolist(), strict=True))

    def relevant(self) -> set[str]:
        return {
            node.split("/")[3] for node, relevance in self.relevances().items() if relevance >= self.judge.threshold
        }


def replay(crawl: JudgedCrawl, judge: Probability) -> Probability:
    """Return a judge after the events of a crawl."""
    for event in crawl.events:
        if isinstance(event, Seed):
            judge.start(event)
        elif isinstance(event, Label):
            judge.add_label(event)
        elif isinstance(event, ModelUpdate):
            judge.adopt(event)
        else:
            assert isinstance(event, Visit)
            judge.learn(event)
    return judge


def test_judge_after_update_from_one_start_page() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    assert crawl.relevant() == {"sea"}
    assert sum(relevance >= 0.5 for relevance in crawl.relevances().values()) == pytest.approx(12, abs=3)


def test_judge_page_without_topic_words_by_similarity() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0", "http://a.test/sea/1")
    crawl.visit_mixed()
    silent = crawl.visit(page("http://a.test/silent", SEA[2:], 7)).relevance
    assert silent > 3 * crawl.visit(page("http://a.test/other", RAIL, 7)).relevance


def test_replayed_judge_equals_live_judge() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    crawl.label("http://a.test/rail/1", True)
    crawl.update(force=True)
    crawl.visit(page("http://a.test/last", SEA, 77))
    second = replay(crawl, Probability("coral reef"))
    assert np.array_equal(second.relevances_now(), crawl.judge.relevances_now())
    after = page("http://a.test/next", SEA, 78)
    words = Vocabulary()
    words.follow(crawl.words.terms)
    expected = crawl.judge.judge(after, crawl.words.read(after)).relevance
    assert expected == second.judge(page("http://a.test/next", SEA, 78), words.read(after)).relevance


def test_next_update_leaves_relevances_unchanged() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed(4, 5)
    before = crawl.judge.relevances_now().copy()
    assert crawl.judge.next_update(0.0, force=True) is not None
    assert np.array_equal(before, crawl.judge.relevances_now())


def test_next_update_at_growing_intervals() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    at = []
    for number in range(60):
        crawl.visit(page(f"http://a.test/{number}", SEA if number % 2 else RAIL, number))
        if isinstance(crawl.events[-1], ModelUpdate):
            at.append(number + 1)
    assert at == [10, 15, 23, 35, 53]


def test_first_update_waits_for_likely_page() -> None:
    """The first update is due after ten pages, but waits for a page with probability .2, for at most fifty pages."""

    def first(judge: Probability, better: int = 0) -> int:
        crawl = JudgedCrawl(judge)
        for number in range(1, 70):
            crawl.visit(
                page(f"http://a.test/{number}", SEA if number == better else RAIL if number % 2 else BREAD, number)
            )
            if isinstance(crawl.events[-1], ModelUpdate):
                return number
        return 0

    shown = Probability.from_examples([page("http://b.test/", SEA, 99)])
    assert first(Probability("coral reef")) == 50
    assert first(Probability("coral reef"), better=23) == 23
    assert first(Probability("coral reef"), better=4) == 10
    assert first(Probability("coral reef", examples=shown)) == 10


def test_labels_set_relevance_of_their_pages() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    crawl.label("http://a.test/rail/1", True)
    crawl.label("http://a.test/sea/3", False)
    crawl.update(force=True)
    assert crawl.relevances()["http://a.test/rail/1"] == 1.0
    assert crawl.relevances()["http://a.test/sea/3"] == 0.0
    crawl.label("http://a.test/sea/3", None)
    crawl.update(force=True)
    assert 0.0 < crawl.relevances()["http://a.test/sea/3"] < 1.0


def test_labels_change_relevance_of_other_pages() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed()
    for number in (1, 3, 5, 7):
        crawl.label(f"http://a.test/rail/{number}", True)
        crawl.label(f"http://a.test/sea/{number}", False)
    crawl.update(force=True)
    relevances = crawl.relevances()
    assert relevances["http://a.test/rail/9"] > relevances["http://a.test/bread/10"]
    assert relevances["http://a.test/rail/9"] > relevances["http://a.test/sea/9"]


@pytest.mark.parametrize("answer", [True, False], ids=["all yes", "all no"])
def test_labels_of_one_kind_set_their_pages(answer: bool) -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed(6, 8)
    for node in list(crawl.relevances()):
        crawl.label(node, answer)
    crawl.update(force=True)
    assert set(crawl.relevances().values()) == {float(answer)}
    assert 0.0 <= crawl.visit(page("http://a.test/new", SEA, 5)).relevance <= 1.0


def test_labels_last_of_contradicting_labels_wins() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed(6, 8)
    crawl.label("http://a.test/sea/1", True)
    crawl.label("http://a.test/sea/1", False)
    crawl.label("http://a.test/sea/2", True)
    crawl.update(force=True)
    assert crawl.relevances()["http://a.test/sea/1"] == 0.0
    assert crawl.relevances()["http://a.test/sea/2"] == 1.0


def test_start_pages_of_three_topics_keep_topic_words_first() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0", "http://a.test/rail/1", "http://a.test/bread/0")
    crawl.visit_mixed()
    relevances = crawl.relevances()
    mean = {
        name: np.mean([value for node, value in relevances.items() if f"/{name}/" in node])
        for name in ("sea", "rail", "bread")
    }
    assert mean["sea"] > 0.5 > 2 * max(mean["rail"], mean["bread"])


def test_topic_words_on_no_page_accept_few_pages() -> None:
    crawl = JudgedCrawl(Probability("zeppelin"))
    crawl.visit_mixed(6, 12)
    assert sum(relevance >= 0.5 for relevance in crawl.relevances().values()) <= 5
    assert all(0.0 <= relevance <= 1.0 for relevance in crawl.relevances().values())


def test_stop_word_alone_is_searched_for_literally() -> None:
    judge, words = Probability("privacy"), Vocabulary()
    links = Links.to("http://a.test/1", "http://a.test/2", anchors=["Privacy", "Prices"])
    found = Page("ok", title="Privacy", main="We care about privacy on the web.", node="http://a.test/p", links=links)
    judgement = judge.judge(found, words.read(found))
    other = page("http://a.test/rail", RAIL, 1)
    assert judgement.relevance > 3 * judge.judge(other, words.read(other)).relevance
    assert judgement.link_relevances.tolist() == [1.0, 0.0]


def test_start_pages_are_examples() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/rail/1")
    crawl.visit_mixed()
    assert crawl.relevances()["http://a.test/rail/1"] == pytest.approx(0.95)
    crawl.label("http://a.test/rail/1", False)
    crawl.update(force=True)
    assert crawl.relevances()["http://a.test/rail/1"] == 0.0


@pytest.mark.parametrize("seed", [Seed("http://a.test/list"), Seed("http://a.test/list", data={"portal": True})])
def test_start_pages_that_only_lead_on_are_no_examples(seed: Seed) -> None:
    """A list of 30 links in 40 words is a portal; so is any page that the user calls one."""
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.judge.start(seed)
    links = tuple(f"http://a.test/{number}" for number in range(0 if seed.data else 30))
    found = page("http://a.test/list", BREAD, 1, links=links)
    assert crawl.visit(found).relevance < 0.5
    crawl.visit_mixed()
    assert crawl.relevances()["http://a.test/list"] < 0.5


@pytest.mark.parametrize(
    ("node", "links", "words", "expected"),
    [
        ("http://a.test/", 20, 900, True),
        ("http://a.test/", 19, 9, False),
        ("http://a.test/list", 20, 49, True),
        ("http://a.test/list", 20, 50, False),
        ("http://a.test/find?q=coral", 0, 900, True),
        ("http://a.test/find?id=coral", 0, 900, False),
        ("http://[a", 20, 9, False),
    ],
)
def test_is_portal_by_links_words_and_address(node: str, links: int, words: int, expected: bool) -> None:
    assert expected == is_portal(node, [f"http://b.test/{number}" for number in range(links)], words)


def test_relevance_of_1_belongs_to_labels() -> None:
    """However certain the judge is, it leaves out the number that readers take for a label yes."""
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    update = crawl.judge.next_update(0.0, force=True)
    assert update is not None
    crawl.judge.adopt(ModelUpdate("", {**update.data, "line": -1000.0}))
    crawl.visit(page("http://a.test/next", SEA, 78))
    assert 0.999 < max(crawl.relevances().values()) < 1.0
    assert 0.999 < crawl.relevances()["http://a.test/next"] < 1.0


def test_labels_in_any_order_give_same_relevances() -> None:
    results = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [3, 1, 4, 0, 2, 0, 1, 2, 3, 4]):
        crawl = JudgedCrawl(Probability("coral reef"))
        crawl.start("http://a.test/sea/0")
        crawl.visit_mixed()
        for number in order:
            crawl.label(f"http://a.test/{'sea' if number % 2 else 'rail'}/{2 * number + 1}", bool(number % 2))
            crawl.update(force=True)
        results.append(crawl.relevances())
    assert results[0] == results[1] == results[2]


def test_update_without_news_changes_nothing() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    before = crawl.relevances()
    for _ in range(3):
        crawl.update(force=True)
    assert before == crawl.relevances()


def test_judge_page_in_script_without_stemmer_by_its_address() -> None:
    judge, words = Probability("mutex"), Vocabulary()
    found = Page(
        "ok", title="排他制御", main="排他制御のためのクラスです。", node="http://a.test/mutex/lock", language="ja"
    )
    other = Page("ok", title="文字列", main="文字列のためのクラスです。", node="http://a.test/string", language="ja")
    assert judge.judge(found, words.read(found)).relevance > 2 * judge.judge(other, words.read(other)).relevance


def test_refuses_empty_topic() -> None:
    with raises_input_error("empty-topic"):
        Probability("")


def test_judge_empty_page_is_irrelevant() -> None:
    crawl = JudgedCrawl(Probability("coral"))
    assert crawl.visit(Page("ok", node="http://a.test/empty")).relevance == 0.0
    crawl.visit_mixed(6, 8)
    assert crawl.visit(Page("ok", node="http://a.test/empty2")).relevance == 0.0
    assert crawl.relevances()["http://a.test/empty"] == 0.0


def test_judge_page_in_another_language() -> None:
    judge, words = Probability("Riffe"), Vocabulary()
    found = Page("ok", title="Das Riff", marked="Riffe im Meer", main="Riffe im Meer", lead="Riffe im Meer")
    found.language = "de"
    other = Page("ok", title="Die Bahn", marked="Züge im Tal", main="Züge im Tal", language="de")
    assert judge.judge(found, words.read(found)).relevance > 3 * judge.judge(other, words.read(other)).relevance


def test_judge_phrases_and_excluded_words() -> None:
    words = Vocabulary()
    side = Page("ok", main="the great barrier reef lies north", node="http://a.test/1")
    apart = Page("ok", main="a reef, a barrier and a great tide", node="http://a.test/2")
    hotel = Page("ok", main="the great barrier reef hotel, rooms of the hotel", node="http://a.test/3")
    judge = Probability('"great barrier reef" -hotel')
    relevance = [judge.judge(each, words.read(each)).relevance for each in (side, apart, hotel)]
    assert relevance[0] > relevance[1]
    assert relevance[0] > 0.5 > 1.5 * relevance[2]


def test_refuses_excluded_words_only() -> None:
    with raises_input_error("only-excluded-words"):
        Probability("-hotel")


def test_judge_stuffed_page_is_irrelevant() -> None:
    words, judge = Vocabulary(), Probability("coral reef")
    stuffed = "coral reef best coral cheap reef coral reefs top coral reef " * 60
    bad = Page("ok", marked=stuffed, main=stuffed, lead=stuffed[:300], node="http://a.test/bad")
    good = page("http://a.test/1", SEA, 1)
    crawl = JudgedCrawl(judge)
    crawl.words = words
    seen = crawl.visit(bad)
    assert seen.relevance < 0.1
    reasons = judge.explain(seen)
    assert reasons["stuffed text"] < -2.0
    assert max(sum(reasons.values()), -30.0) == pytest.approx(math.log(seen.relevance / (1 - seen.relevance)), abs=0.01)
    for number in range(20):
        crawl.visit(page(f"http://a.test/rail/{number}", RAIL, number))
    assert not any(isinstance(event, ModelUpdate) for event in crawl.events)
    crawl.visit_mixed(6, 12)
    assert judge.judge(bad, words.read(bad)).relevance < 0.1 < judge.judge(good, words.read(good)).relevance


def test_quality_set_by_others_is_learned() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    found = page("http://a.test/rail/bad", RAIL, 7)
    reading = crawl.words.read(found)
    judgement = crawl.judge.judge(found, reading)
    assert "quality" not in judgement.data
    data = {**judgement.data, "quality": 0.03}
    visit = Visit(found.node, "page", "ok", 1, relevance=judgement.relevance, data=data, terms=reading.terms)
    crawl.words.learn(visit)
    crawl.judge.learn(visit)
    crawl.events.append(visit)
    for is_updated in (False, True):
        if is_updated:
            crawl.visit_mixed()
        relevance = crawl.relevances()[visit.node]
        assert sum(crawl.judge.explain(visit).values()) == pytest.approx(
            math.log(relevance / (1 - relevance)), abs=0.05
        )
    assert replay(crawl, Probability("coral reef")).relevances_now().tolist() == crawl.judge.relevances_now().tolist()
    assert "stuffed text" in crawl.judge.explain(visit)


def test_examples_are_sufficient_without_topic_words() -> None:
    shown = Probability.from_examples([page(f"http://x.test/{number}", SEA, 50 + number) for number in range(4)])
    crawl = JudgedCrawl(Probability(examples=shown))
    crawl.visit_mixed()
    assert crawl.relevant() == {"sea"}


def test_examples_before_first_update() -> None:
    shown = Probability.from_examples([page(f"http://x.test/{number}", SEA, 50 + number) for number in range(4)])
    crawl = JudgedCrawl(Probability(examples=shown))
    sea, rail = (crawl.visit(page(f"http://a.test/{nth}", words, 1)) for nth, words in enumerate((SEA, RAIL)))
    assert sea.relevance >= 0.5 > 0.2 > rail.relevance
    reasons = crawl.judge.explain(sea)
    assert reasons["like the examples: meaning"] > 0.0
    assert sum(reasons.values()) == pytest.approx(math.log(sea.relevance / (1 - sea.relevance)), abs=0.01)


def test_explain_contributions_sum_to_log_odds() -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.start("http://a.test/sea/0")
    crawl.visit_mixed()
    visit = next(event for event in crawl.events if isinstance(event, Visit) and event.node == "http://a.test/sea/4")
    relevance = crawl.relevances()[visit.node]
    reasons = crawl.judge.explain(visit)
    assert sum(reasons.values()) == pytest.approx(math.log(relevance / (1 - relevance)), abs=0.05)
    assert any(name.startswith("like relevant pages: ") for name in reasons)
    crawl.label(visit.node, True)
    assert list(crawl.judge.explain(visit)) == ["labelled yes"]


def test_learn_skips_soft_404_pages_and_copies() -> None:
    """A soft 404 has relevance 0; a copy is judged, but not learned from."""
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed(6, 8)
    hollow = crawl.visit(page("http://a.test/404", SEA, 1), flags=["soft-404"])
    crawl.visit(page("http://a.test/copy", SEA, 2), same_as="http://a.test/sea/2")
    crawl.update(force=True)
    assert crawl.relevances()[hollow.node] == 0.0
    rows = crawl.judge._pages
    assert not rows.is_first[rows.count - 1]
    assert not rows.is_first[rows.count - 2]


@pytest.mark.parametrize(
    "broken",
    [
        {"slots": b"abc"},
        {"slots": np.array([2**30], np.int32).tobytes(), "weights": np.array([1.0], np.float32).tobytes()},
        {"weights": b""},
        {"direction": np.zeros(3, np.float32).tobytes()},
        {"line": float("nan")},
        {"mean": "text"},
        {"rows": np.zeros(1, np.int32).tobytes()},
    ],
    ids=["cut", "out of range", "fewer weights", "another size", "no number", "no bytes", "fewer pages"],
)
def test_adopt_rejects_damaged_update(broken: dict[str, object]) -> None:
    crawl = JudgedCrawl(Probability("coral reef"))
    crawl.visit_mixed(6, 8)
    update = crawl.judge.next_update(0.0, force=True)
    assert update is not None
    with pytest.raises(DamagedError, match="model update of the judge in the log is damaged"):
        crawl.judge.adopt(ModelUpdate("", {**update.data, **broken}))


@pytest.mark.parametrize("threshold", [7.0, -0.1, float("nan")])
def test_refuses_threshold_out_of_range(threshold: float) -> None:
    with raises_input_error("out-of-range"):
        Probability("coral", threshold)


@pytest.mark.parametrize(
    ("topic", "words", "phrases", "against"),
    [
        ("coral reef", ["coral", "reef"], (), ()),
        ('"coral reef"', ["coral reef"], ("coral reef",), ()),
        ('reef -hotel -"dive shop"', ["reef"], (), ("hotel", "dive shop")),
        ("sea-level - rise", ["sea-level", "-", "rise"], (), ()),
        ('unclosed "quote here', ["unclosed", "quote", "here"], (), ()),
    ],
)
def test_parse_topic_returns_words_and_exclusions(
    topic: str, words: list[str], phrases: tuple[str, ...], against: tuple[str, ...]
) -> None:
    found = parse_topic(topic)
    assert (list(found.words), found.phrases, found.against) == (words, phrases, against)
