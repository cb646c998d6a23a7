"""The judge `probability`: what it says, what it learns, and what becomes of odd topics, pages and labels."""

import math

import numpy as np
import pytest

from lycosa.core.errors import DamagedError, InputError
from lycosa.core.types import Label, Links, ModelUpdate, Page, Seed, Visit
from lycosa.judges.probability import Probability
from lycosa.text.vocabulary import Vocabulary

SEA = "coral reef polyp atoll lagoon fish algae bleach ocean warm water diver sponge anemone shoal tide".split()
RAIL = "steam engine rail locomotive signal boiler track carriage station whistle coal piston guard bogie axle".split()
BREAD = "flour yeast dough oven crust loaf baker knead salt rye wheat butter mill grain starter proof".split()


def text(words: list[str], number: int, length: int = 55) -> str:
    """Prose of some words, another one for each number."""
    chance = np.random.default_rng(number)
    return " ".join(f"the {word}" if at % 3 else word for at, word in enumerate(chance.choice(words, length)))


def page(node: str, words: list[str], number: int, title: str = "", links: tuple[str, ...] = ()) -> Page:
    main = text(words, number)
    return Page("ok", title=title, marked=main, main=main, lead=main[:200], node=node, links=Links.to(*links))


class Hunt:
    """A judge that is shown pages as the engine does it, and the events that a log would have."""

    def __init__(self, judge: Probability) -> None:
        self.judge, self.words = judge, Vocabulary()
        self.events: list[object] = []

    def start(self, *nodes: str) -> None:
        for node in nodes:
            self.events.append(Seed(node))
            self.judge.start(Seed(node))

    def see(self, found: Page, **more: object) -> Visit:
        reading = self.words.read(found)
        said = self.judge.judge(found, reading)
        visit = Visit(
            found.node, "page", "ok", 1, title=found.title, language=found.language, relevance=said.relevance,
            data=said.data, terms=reading.terms, links=found.links, **more,  # type: ignore[arg-type]
        )  # fmt: skip
        self.words.learn(visit)
        self.judge.learn(visit)
        self.events.append(visit)
        self.teach()
        return visit

    def teach(self, force: bool = False) -> ModelUpdate | None:
        update = self.judge.update(0.0, force)
        if update is not None:
            self.judge.adopt(update)
            self.events.append(update)
        return update

    def label(self, node: str, relevant: bool | None) -> None:
        self.events.append(Label(node, relevant))
        self.judge.add_label(Label(node, relevant))

    def mixed(self, sea: int = 12, others: int = 24) -> None:
        for number in range(max(sea, others)):
            if number < sea:
                self.see(page(f"http://a.test/sea/{number}", SEA, number))
            if number < others:
                words, name = (RAIL, "rail") if number % 2 else (BREAD, "bread")
                self.see(page(f"http://a.test/{name}/{number}", words, 100 + number))
        self.teach(force=True)

    def worth(self) -> dict[str, float]:
        nodes = [event.node for event in self.events if isinstance(event, Visit) and event.is_version]
        return dict(zip(nodes, self.judge.relevances_now().tolist(), strict=True))

    def relevant(self) -> set[str]:
        return {node.split("/")[3] for node, worth in self.worth().items() if worth >= self.judge.threshold}


def again(hunt: Hunt, judge: Probability) -> Probability:
    """A judge that folds the same events."""
    for event in hunt.events:
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


def test_pages_of_the_topic_are_told_from_others() -> None:
    """After a lesson, from one start page, it is the pages of the topic that count."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0")
    hunt.mixed()
    assert hunt.relevant() == {"sea"}
    assert sum(worth >= 0.5 for worth in hunt.worth().values()) == pytest.approx(12, abs=3)


def test_pages_without_the_words_are_found_by_likeness() -> None:
    """A page that has none of the topic's words, but all else that relevant pages have, is worth more than others."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0", "http://a.test/sea/1")
    hunt.mixed()
    silent = hunt.see(page("http://a.test/silent", SEA[2:], 7)).relevance
    assert silent > 3 * hunt.see(page("http://a.test/other", RAIL, 7)).relevance


def test_a_replayed_judge_is_the_same() -> None:
    """Folding the same events gives the same worths and the same word on the next page, bit for bit."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0")
    hunt.mixed()
    hunt.label("http://a.test/rail/1", True)
    hunt.teach(force=True)
    hunt.see(page("http://a.test/last", SEA, 77))
    second = again(hunt, Probability("coral reef"))
    assert np.array_equal(second.relevances_now(), hunt.judge.relevances_now())
    after = page("http://a.test/next", SEA, 78)
    words = Vocabulary()
    words.follow(hunt.words.terms)
    expected = hunt.judge.judge(after, hunt.words.read(after)).relevance
    assert expected == second.judge(page("http://a.test/next", SEA, 78), words.read(after)).relevance


def test_nothing_changes_before_a_lesson_is_adopted() -> None:
    """Asking for a lesson changes neither worths nor judgements."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed(4, 5)
    before = hunt.judge.relevances_now().copy()
    assert hunt.judge.update(0.0, force=True) is not None
    assert np.array_equal(before, hunt.judge.relevances_now())


def test_lessons_come_at_positions_that_grow() -> None:
    """After ten pages, then each time there are half as many again."""
    hunt = Hunt(Probability("coral reef"))
    at = []
    for number in range(60):
        hunt.see(page(f"http://a.test/{number}", SEA if number % 2 else RAIL, number))
        if isinstance(hunt.events[-1], ModelUpdate):
            at.append(number + 1)
    assert at == [10, 15, 23, 35, 53]


def test_nothing_is_learned_of_pages_that_have_nothing_to_do_with_the_topic() -> None:
    """The best of them would be taken for relevant. It ends with the first page that promises something, a page that
    somebody shows, or fifty pages."""

    def first(judge: Probability, better: int = 0) -> int:
        hunt = Hunt(judge)
        for number in range(1, 70):
            hunt.see(
                page(f"http://a.test/{number}", SEA if number == better else RAIL if number % 2 else BREAD, number)
            )
            if isinstance(hunt.events[-1], ModelUpdate):
                return number
        return 0

    shown = Probability.from_examples([page("http://b.test/", SEA, 99)])
    assert first(Probability("coral reef")) == 50
    assert first(Probability("coral reef"), better=23) == 23
    assert first(Probability("coral reef"), better=4) == 10
    assert first(Probability("coral reef", examples=shown)) == 10


def test_labels_have_the_last_word_on_their_own_pages() -> None:
    """A yes is 1, a no is 0; taken back, the page is worth what the judge says."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0")
    hunt.mixed()
    hunt.label("http://a.test/rail/1", True)
    hunt.label("http://a.test/sea/3", False)
    hunt.teach(force=True)
    assert hunt.worth()["http://a.test/rail/1"] == 1.0
    assert hunt.worth()["http://a.test/sea/3"] == 0.0
    hunt.label("http://a.test/sea/3", None)
    hunt.teach(force=True)
    assert 0.0 < hunt.worth()["http://a.test/sea/3"] < 1.0


def test_labels_teach_about_other_pages() -> None:
    """Whoever says yes to railways and no to reefs gets railways, whatever the words were."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed()
    for number in (1, 3, 5, 7):
        hunt.label(f"http://a.test/rail/{number}", True)
        hunt.label(f"http://a.test/sea/{number}", False)
    hunt.teach(force=True)
    worth = hunt.worth()
    assert worth["http://a.test/rail/9"] > worth["http://a.test/bread/10"]
    assert worth["http://a.test/rail/9"] > worth["http://a.test/sea/9"]


@pytest.mark.parametrize("answer", [True, False], ids=["all yes", "all no"])
def test_one_sided_labels(answer: bool) -> None:
    """All yes or all no: pages keep the labels, nothing breaks, and every worth is a probability."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed(6, 8)
    for node in list(hunt.worth()):
        hunt.label(node, answer)
    hunt.teach(force=True)
    assert set(hunt.worth().values()) == {float(answer)}
    assert 0.0 <= hunt.see(page("http://a.test/new", SEA, 5)).relevance <= 1.0


def test_contradicting_labels() -> None:
    """Of two pages that are the same, one yes and one no: both are heard, the last word on a page counts."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed(6, 8)
    hunt.label("http://a.test/sea/1", True)
    hunt.label("http://a.test/sea/1", False)
    hunt.label("http://a.test/sea/2", True)
    hunt.teach(force=True)
    assert hunt.worth()["http://a.test/sea/1"] == 0.0
    assert hunt.worth()["http://a.test/sea/2"] == 1.0


def test_start_pages_of_three_topics_are_outvoted() -> None:
    """The words decide which of the start pages is trusted."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0", "http://a.test/rail/1", "http://a.test/bread/0")
    hunt.mixed()
    worth = hunt.worth()
    mean = {
        name: np.mean([value for node, value in worth.items() if f"/{name}/" in node])
        for name in ("sea", "rail", "bread")
    }
    assert mean["sea"] > 0.5 > 2 * max(mean["rail"], mean["bread"])


def test_words_that_no_page_has() -> None:
    """Nothing is relevant by words that are nowhere."""
    hunt = Hunt(Probability("zeppelin"))
    hunt.mixed(6, 12)
    assert sum(worth >= 0.5 for worth in hunt.worth().values()) <= 5
    assert all(0.0 <= worth <= 1.0 for worth in hunt.worth().values())


def test_only_common_words_are_refused() -> None:
    """They would match everything."""
    with pytest.raises(InputError, match="no words to look for"):
        Probability("the and of")


def test_an_empty_topic_is_refused() -> None:
    """Neither words nor examples."""
    with pytest.raises(InputError, match="topic is empty"):
        Probability("")


def test_an_empty_page_is_worth_nothing() -> None:
    """Before and after lessons."""
    hunt = Hunt(Probability("coral"))
    assert hunt.see(Page("ok", node="http://a.test/empty")).relevance == 0.0
    hunt.mixed(6, 8)
    assert hunt.see(Page("ok", node="http://a.test/empty2")).relevance == 0.0
    assert hunt.worth()["http://a.test/empty"] == 0.0


def test_a_page_in_another_language() -> None:
    """Its words are stemmed by its own rules, the topic's with them."""
    topic, words = Probability("Riffe"), Vocabulary()
    found = Page("ok", title="Das Riff", marked="Riffe im Meer", main="Riffe im Meer", lead="Riffe im Meer")
    found.language = "de"
    other = Page("ok", title="Die Bahn", marked="Züge im Tal", main="Züge im Tal", language="de")
    assert topic.judge(found, words.read(found)).relevance > 3 * topic.judge(other, words.read(other)).relevance


def test_phrases_and_words_against() -> None:
    """A phrase wants its words side by side, a -word speaks against a page that has it."""
    words = Vocabulary()
    side = Page("ok", main="the great barrier reef lies north", node="http://a.test/1")
    apart = Page("ok", main="a reef, a barrier and a great tide", node="http://a.test/2")
    hotel = Page("ok", main="the great barrier reef hotel, rooms of the hotel", node="http://a.test/3")
    topic = Probability('"great barrier reef" -hotel')
    relevance = [topic.judge(each, words.read(each)).relevance for each in (side, apart, hotel)]
    assert relevance[0] > relevance[1]
    assert relevance[0] > 0.5 > 1.5 * relevance[2]


def test_only_words_against_are_refused() -> None:
    """Nobody knows what is wanted then."""
    with pytest.raises(InputError, match="only says what is not wanted"):
        Probability("-hotel")


def test_stuffing_does_not_pay() -> None:
    """A page that says the topic's words over and over is worth less than one that says them in passing, also before
    anything was learned, and its reasons add up; and there is nothing to learn from it."""
    words, topic = Vocabulary(), Probability("coral reef")
    stuffed = "coral reef best coral cheap reef coral reefs top coral reef " * 60
    bad = Page("ok", marked=stuffed, main=stuffed, lead=stuffed[:300], node="http://a.test/bad")
    good = page("http://a.test/1", SEA, 1)
    hunt = Hunt(topic)
    hunt.words = words
    seen = hunt.see(bad)
    assert seen.relevance < 0.1
    told = topic.explain(seen)
    assert told["it looks stuffed"] < -2.0
    assert max(sum(told.values()), -30.0) == pytest.approx(math.log(seen.relevance / (1 - seen.relevance)), abs=0.01)
    for number in range(20):
        hunt.see(page(f"http://a.test/rail/{number}", RAIL, number))
    assert not any(isinstance(event, ModelUpdate) for event in hunt.events)
    hunt.mixed(6, 12)
    assert topic.judge(bad, words.read(bad)).relevance < 0.1 < topic.judge(good, words.read(good)).relevance


def test_what_others_say_of_a_text_counts_live_as_in_a_replay() -> None:
    """A page that the judge did not look at, as little spoke for it, and that somebody else found to be stuffed: its
    reasons add up before and after the first lesson, and a judge that reads the log says the same."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0")
    found = page("http://a.test/rail/bad", RAIL, 7)
    reading = hunt.words.read(found)
    said = hunt.judge.judge(found, reading)
    assert "quality" not in said.data
    data = {**said.data, "quality": 0.03}
    visit = Visit(found.node, "page", "ok", 1, relevance=said.relevance, data=data, terms=reading.terms)
    hunt.words.learn(visit)
    hunt.judge.learn(visit)
    hunt.events.append(visit)
    for taught in (False, True):
        if taught:
            hunt.mixed()
        worth = hunt.worth()[visit.node]
        assert sum(hunt.judge.explain(visit).values()) == pytest.approx(math.log(worth / (1 - worth)), abs=0.05)
    assert again(hunt, Probability("coral reef")).relevances_now().tolist() == hunt.judge.relevances_now().tolist()
    assert "it looks stuffed" in hunt.judge.explain(visit)


def test_examples_are_learned_from() -> None:
    """Examples alone, without a word: pages like them count."""
    shown = Probability.from_examples([page(f"http://x.test/{number}", SEA, 50 + number) for number in range(4)])
    hunt = Hunt(Probability(examples=shown))
    hunt.mixed()
    assert hunt.relevant() == {"sea"}


def test_examples_tell_before_the_first_lesson() -> None:
    """With examples and no words the very first pages are told apart, by their meaning; and the explanation says so."""
    shown = Probability.from_examples([page(f"http://x.test/{number}", SEA, 50 + number) for number in range(4)])
    hunt = Hunt(Probability(examples=shown))
    sea, rail = (hunt.see(page(f"http://a.test/{nth}", words, 1)) for nth, words in enumerate((SEA, RAIL)))
    assert sea.relevance >= 0.5 > 0.2 > rail.relevance
    reasons = hunt.judge.explain(sea)
    assert reasons["like the examples: meaning"] > 0.0
    assert sum(reasons.values()) == pytest.approx(math.log(sea.relevance / (1 - sea.relevance)), abs=0.01)


def test_an_explanation_adds_up() -> None:
    """The parts of an explanation sum to the log odds of what the page is worth."""
    hunt = Hunt(Probability("coral reef"))
    hunt.start("http://a.test/sea/0")
    hunt.mixed()
    visit = next(event for event in hunt.events if isinstance(event, Visit) and event.node == "http://a.test/sea/4")
    worth = hunt.worth()[visit.node]
    told = hunt.judge.explain(visit)
    assert sum(told.values()) == pytest.approx(math.log(worth / (1 - worth)), abs=0.05)
    assert any(what.startswith("like relevant pages: ") for what in told)
    hunt.label(visit.node, True)
    assert list(hunt.judge.explain(visit)) == ["somebody said yes"]


def test_hollow_pages_and_copies_do_not_teach() -> None:
    """A soft 404 is worth nothing; a copy is judged but not learned from."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed(6, 8)
    hollow = hunt.see(page("http://a.test/404", SEA, 1), flags=["soft-404"])
    hunt.see(page("http://a.test/copy", SEA, 2), same_as="http://a.test/sea/2")
    hunt.teach(force=True)
    assert hunt.worth()[hollow.node] == 0.0
    rows = hunt.judge._pages
    assert not rows.first[rows.count - 1]
    assert not rows.first[rows.count - 2]


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
def test_a_damaged_lesson_is_told(broken: dict[str, object]) -> None:
    """A log may come from anywhere: what is no lesson is one clear error."""
    hunt = Hunt(Probability("coral reef"))
    hunt.mixed(6, 8)
    update = hunt.judge.update(0.0, force=True)
    assert update is not None
    with pytest.raises(DamagedError, match="lesson of the judge in the log is damaged"):
        hunt.judge.adopt(ModelUpdate("", {**update.data, **broken}))


@pytest.mark.parametrize("threshold", [7.0, -0.1, float("nan")])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    """Above 1 no page would ever be relevant: it is refused before anything is fetched."""
    with pytest.raises(InputError, match="from 0 to 1"):
        Probability("coral", threshold)
