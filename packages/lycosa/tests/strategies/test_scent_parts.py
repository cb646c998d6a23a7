"""The parts of scent by themselves: words of links, meaning, sharpening, mixing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Terms, Visit
from lycosa.strategies.scent.link_words import LANGUAGES, NOWHERE, SLOTS, LinkWords, Meaning, meaning_of, slot_of
from lycosa.strategies.scent.mixing import TRIAL, Mixing
from lycosa.strategies.scent.sharpening import Sharpening
from lycosa.strategies.scent.trails import HOST, OF_ADDRESS, OF_ANCHOR, OF_CONTEXT, OF_ROOTS, Trails, fill
from lycosa.text.tokens import stems

# -- words -----------------------------------------------------------------------------------------------------


def read(texts: Sequence[str], language: str = "en", words: LinkWords | None = None) -> list[list[int]]:
    """The slots of each text."""
    owner, slots = (words or LinkWords()).read(texts, language)
    return [slots[owner == number].tolist() for number in range(len(texts))]


def slots_of(text: str, language: str = "en") -> list[int]:
    return [slot_of(stem) for stem in stems(text, language)]


def test_words_have_the_slots_of_their_stems() -> None:
    """In order, stop words left out, each text by itself, also those without a word."""
    texts = ["Coral reefs, the reef", "", "of the", "bleaching!"]
    assert [slots_of("coral reef reef"), [], [], slots_of("bleaching")] == read(texts)
    assert NOWHERE < min(slot_of(str(number)) for number in range(10_000)) < SLOTS


@pytest.mark.parametrize(
    ("language", "text"),
    [("de-AT", "Häuser an den Straßen"), ("fr", "Étoiles et récifs"), ("ru", "Коралловые рифы"), ("tr", "IŞIK ışık")],
)
def test_words_are_stemmed_by_the_language_of_the_page(language: str, text: str) -> None:
    """As its own words are, so that the two meet."""
    assert [slots_of(text, language), slots_of(text, language)] == read([text, text], language)


def test_chinese_characters_are_words() -> None:
    """They are read text by text, as how one is cut must not depend on its neighbours."""
    assert [slots_of("珊瑚", "zh"), slots_of("coral", "zh")] == read(["珊瑚", "coral"], "zh")
    long = "coral reefs in the warm sea " * 10  # a page that is nearly all English is not searched for them
    assert [slots_of("珊瑚"), slots_of(long)] == read(["珊瑚", long])
    assert 2 == len(slots_of("珊瑚"))


def test_marks_in_texts_are_no_borders() -> None:
    """A text with the sign that stands between texts is still one text."""
    assert [slots_of("coral reef"), slots_of("fish")] == read(["coral\x01reef", "fish"])
    assert [[], slots_of("fish"), []] == read(["\x01", "fish", "\x01\x01"])


def test_no_texts_have_no_words() -> None:
    """Nothing to read is nothing read."""
    assert [] == LinkWords().read([])[1].tolist()


def test_more_languages_than_are_kept() -> None:
    """One that was forgotten is read as before."""
    words, codes = LinkWords(), ["de", "fr", "es", "it", "nl", "sv", "fi", "pt", "ru", "tr"]
    assert len(codes) > LANGUAGES
    first = [read(["Häuser corals étoiles"], code, words) for code in codes]
    assert first == [read(["Häuser corals étoiles"], code, words) for code in codes]


_TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    [
        "coral reefs",
        "サンゴ礁の白化",
        "Größe",
        "\x01",
        "I\u0307",
        "\ud800",
        "l·l",
        "北京 reef",
        "\u200c",
        "ﷺ",
        "x" * 300,
    ]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(_TEXT, min_size=1, max_size=5), st.sampled_from(["en", "", "de", "tr", "ja", "fa"]))
def test_a_text_is_read_alike_in_any_company(texts: list[str], language: str) -> None:
    """The words of a text do not depend on what is read with it, or was before."""
    words = LinkWords()
    assert [read([text], language)[0] for text in texts] == read(texts, language, words) == read(texts, language, words)


def test_new_words_are_met_once() -> None:
    """Whoever wants to know of words is told of each spelling once, with its slot."""
    met: list[tuple[str, int]] = []
    words = LinkWords(lambda found, slots: met.extend(zip(found, slots, strict=True)))
    words.read(["Corals", "the coral corals"])
    words.read(["coral"])
    assert [("corals", slot_of("coral")), ("coral", slot_of("coral"))] == met


def test_words_of_pages_have_the_same_slots() -> None:
    """By number, also of stems that joined the crawl's list since the last page."""
    words, known = LinkWords(), ["coral", "reef"]
    assert [slot_of("reef")] == words.slots(known, np.array([1], np.uint32)).tolist()
    known.append("fish")
    assert [slot_of("coral"), slot_of("fish")] == words.slots(known, np.array([0, 2], np.uint32)).tolist()


def test_lines_keep_the_first_words_of_each_text() -> None:
    """Two rows: contexts of 13 and 1 words, anchors of 0 and 9, addresses of 1 and 9; the rest is cut off."""
    lengths = [13, 1, 0, 9, 1, 9]
    owner = np.repeat(np.arange(6), lengths)
    slots = np.arange(1, 1 + sum(lengths), dtype=np.int32)
    trails = Trails()
    trails.fit(4)
    trails.words[:, HOST] = 5
    lines = trails.lines(np.array([1, 3]))
    fill(lines, owner, slots, np.array(lengths), np.cumsum(lengths) - lengths)
    trails.put(lines)
    words = trails.words
    assert list(range(1, 13)) == words[1, OF_CONTEXT].tolist()
    assert [14, *(11 * [0])] == words[3, OF_CONTEXT].tolist()
    assert 8 * [0] == words[1, OF_ANCHOR].tolist()
    assert list(range(15, 23)) == words[3, OF_ANCHOR].tolist()
    assert [24, *(7 * [0])] == words[1, OF_ADDRESS].tolist()
    assert list(range(25, 33)) == words[3, OF_ADDRESS].tolist()
    assert not words[[0, 2], :HOST].any()
    assert 4 * [5] == words[:4, HOST].tolist(), "where they lead is left alone"
    assert [[12, 0], [1, 8]] == [pytest.approx(line**2) for line in trails.known[[1, 3], OF_ROOTS]]


# -- meaning ---------------------------------------------------------------------------------------------------


@pytest.fixture
def axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that one can reckon with: each word points along the axis of its first letter, "ab" between two."""

    def vectors(texts: Sequence[str], language: str = "en") -> Any:
        found = np.zeros((len(texts), 256), np.float32)
        for line, text in zip(found, texts, strict=True):
            for letter in text.replace(" ", ""):
                line[ord(letter) - ord("a")] += 1
            line /= max(float(np.sqrt(line @ line)), 1e-6)
        return found

    for name in ("vectors", "word_vectors"):
        monkeypatch.setattr(f"lycosa.text.embeddings.{name}", vectors)


@pytest.mark.usefixtures("axes")
def test_similar_is_the_cosine_of_the_sum() -> None:
    """The topic is a; texts a, b, "a b" and none have 1, 0, 1 / sqrt 2 and 0."""
    meaning = Meaning("a")
    meaning.meet(["a", "b"], [1, 2])
    slots, counts = np.array([1, 2, 1, 2], np.int32), np.array([1, 1, 2, 0])
    near = meaning.similar(meaning.sums(slots, counts, np.cumsum(counts) - counts))
    assert [1, 0, 1 / math.sqrt(2), 0] == pytest.approx(near.tolist())


@pytest.mark.usefixtures("axes")
def test_a_topic_of_terms_is_their_weighted_sum() -> None:
    """3 a + 4 b has length 5; of many terms the 40 heaviest count."""
    assert [0.6, 0.8] == pytest.approx(Meaning("", {"a": 3.0, "b": 4.0}).topic[:2].tolist())
    many = {f"{'c' * (number + 1)}": 1.0 for number in range(40)} | {"b": 0.5}
    assert [0, 0, 1] == pytest.approx(Meaning("", many).topic[:3].tolist())
    assert not Meaning("", {}).topic.any()


@pytest.mark.usefixtures("axes")
def test_of_two_words_in_a_slot_the_first_counts() -> None:
    """Met together or one after the other."""
    meaning = Meaning("a")
    meaning.meet(["a", "b"], [7, 7])
    meaning.meet(["c"], [7])
    sums = meaning.sums(np.array([7], np.int32), np.array([1]), np.array([0]))
    assert [1] == meaning.similar(sums).tolist()


def test_without_vectors_there_is_no_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """None, not an error: they are an extra."""

    def missing(texts: Sequence[str], language: str = "en") -> Any:
        raise InputError("no vectors here")

    monkeypatch.setattr("lycosa.text.embeddings.vectors", missing)
    assert meaning_of("coral", {}) is None
    assert meaning_of("", {"coral": 1.0}) is None


# -- sharpening ------------------------------------------------------------------------------------------------


class Reading:
    """A sharpening, fed with pages of words; `sharpening.learn` gives their outcomes."""

    def __init__(self, topic: dict[str, float] | None = None, *, feedback: bool = True, **judge: bool) -> None:
        self.sharpening = Sharpening(topic or {}, np.zeros((SLOTS, 2), np.float32), **judge)
        self.sharpening.feedback = self.sharpening.feedback and feedback
        self.table, self.words, self.pages = Table(), LinkWords(), 0

    def page(self, words: str, beta: float, same_as: str = "") -> float:
        stems, each = self.table.stems, words.split()
        stems += [word for word in dict.fromkeys(each) if word not in stems]
        ids = sorted({stems.index(word) for word in each})
        terms = Terms(np.array(ids, np.uint32), np.array([each.count(stems[n]) for n in ids], np.uint16))
        visit = Visit("x", "page", "ok", 1, relevance=beta, terms=terms, same_as=same_as)
        self.pages += 1
        return self.sharpening.learn(self.pages, visit, self.table, self.words)


def test_a_fifth_is_the_judges_and_the_rest_our_own_reading() -> None:
    """Topic coral reef, (1, 1) / sqrt 2: cosines .5 and 1, betas .4 and .2, which sum to .6 where ours have 1.5."""
    reading = Reading({"coral": 1.0, "reef": 1.0}, feedback=False)
    assert pytest.approx(0.2 * 0.4 + 0.8 * 0.5 * (0.4 / 0.5)) == reading.page("coral sea", 0.4)
    assert pytest.approx(0.2 * 0.2 + 0.8 * 1.0 * (0.6 / 1.5)) == reading.page("coral reef", 0.2)


def test_beside_a_probability_our_own_reading_is_a_fifth() -> None:
    """Cosines .5 and 1 as above; below .2 a probability counts nothing; and no feedback, however much agrees."""
    reading = Reading({"coral": 1.0, "reef": 1.0}, probability=True)
    assert pytest.approx(0.8 * 0.4 + 0.2 * 0.5 * (0.4 / 0.5)) == reading.page("coral sea", 0.4)
    assert pytest.approx(0.2 * 1.0 * (0.4 / 1.5)) == reading.page("coral reef", 0.19)
    reading = Reading(probability=True)
    assert {0.9} == {reading.page("coral", 0.9) for _ in range(20)}


def test_an_exact_judge_is_not_overruled() -> None:
    """Neither by our own reading, with cosines .7 and 0, nor by feedback, however much agrees."""
    reading = Reading({"coral": 1.0}, exact=True)
    assert [1.4, 0.7, 0.0] * 10 == [reading.page(*page) for _ in range(10) for page in
                                    (("coral sea", 1.4), ("train rail", 0.7), ("coral", 0.0))]  # fmt: skip


def test_our_own_reading_takes_the_logarithm_of_counts() -> None:
    """Three times coral, once sea: cosine (1 + log 3) / sqrt((1 + log 3)^2 + 1), after a page with cosine 1."""
    reading = Reading({"coral": 2.0}, feedback=False)
    assert pytest.approx(0.5) == reading.page("coral", 0.5)
    cosine = (1 + math.log(3)) / math.hypot(1 + math.log(3), 1)
    expected = 0.2 * 0.1 + 0.8 * cosine * (0.5 + 0.1) / (1 + cosine)
    assert pytest.approx(expected) == reading.page("coral coral coral sea", 0.1)


def test_what_cannot_be_read_is_the_judges() -> None:
    """A topic without words, a page without words, and pages of which none has had the topic's words."""
    assert 0.4 == Reading().page("coral", 0.4)
    reading = Reading({"coral": 1.0})
    assert 0.4 == reading.page("", 0.4)
    assert 0.3 == reading.page("sea", 0.3)


def test_a_copy_teaches_nothing() -> None:
    """It is worth nothing, and its words are not counted again."""
    reading = Reading()
    reading.page("coral", 0.4)
    assert 0 == reading.page("coral", 0.9, same_as="x")
    assert (1, 0.4) == (reading.sharpening.pages, reading.sharpening.total)


def expected_outcomes(pages: Sequence[tuple[str, float]]) -> list[float]:
    """Outcomes of pages of one word each, for a topic without words, by the definition."""
    seen: list[tuple[str, float]] = []
    said: list[float] = []
    found = []
    for word, q in pages:
        n = sum(word == known for known, _ in seen)
        mean = sum(beta for _, beta in seen) / max(len(seen), 1)
        lift = (sum(beta for known, beta in seen if known == word) - mean * n) / (n + 3)
        age = 0.98 ** np.arange(len(seen))[::-1]
        old, heard = np.array([beta for _, beta in seen]), np.array(said)
        fed = 0.0
        if len(seen) >= 5:
            mq, mf = age @ old / age.sum(), age @ heard / age.sum()
            covariance = age @ ((old - mq) * (heard - mf))
            spread = math.sqrt((age @ (old - mq) ** 2) * (age @ (heard - mf) ** 2))
            if covariance > 0.2 * spread:
                qq, ff = age @ old**2 + q * q, age @ heard**2 + lift * lift
                usual = math.sqrt(qq / (age.sum() + 1))
                fed = min(max(lift * math.sqrt(qq / ff), -1.5 * usual), 1.5 * usual)
        found.append(max(0.0, q + 0.5 * fed))
        seen.append((word, q))
        said.append(lift)
    return found


def test_feedback_that_agrees_counts_half() -> None:
    """Good pages share a word, bad ones another: after the trial, the good become better and the bad worse."""
    pages = [("good", 0.9), ("bad", 0.2), ("bad", 0.1), ("good", 0.8), ("good", 0.7), ("bad", 0.3)] * 3
    reading = Reading()
    actual = [reading.page(word, beta) for word, beta in pages]
    assert pytest.approx(expected_outcomes(pages), rel=1e-4, abs=1e-5) == actual
    assert [beta for _, beta in pages[:5]] == actual[:5]
    assert all(outcome > beta for (word, beta), outcome in zip(pages[6:], actual[6:], strict=True) if word == "good")
    assert all(outcome < beta for (word, beta), outcome in zip(pages[6:], actual[6:], strict=True) if word == "bad")
    assert reading.sharpening.trusted


def test_feedback_that_disagrees_counts_nothing() -> None:
    """Drift: whatever was on a good page is on a bad one next, and the other way round."""
    reading = Reading()
    for number in range(30):
        for word, beta in ((f"a{number}", 0.9), (f"b{number}", 0.1), (f"a{number}", 0.1), (f"b{number}", 0.9)):
            assert beta == reading.page(word, beta)
    assert not reading.sharpening.trusted


def test_feedback_is_dropped_when_the_world_changes() -> None:
    """It agreed for 40 pages; then good words are on bad pages, until outcomes are the query's again."""
    reading = Reading()
    for _ in range(20):
        reading.page("good", 0.9), reading.page("bad", 0.1)
    assert reading.page("good", 0.9) > 0.9
    trust = []
    for number in range(60):
        reading.page(f"good fresh{number}", 0.05), reading.page(f"bad fresh{number}", 0.95)
        trust.append(reading.sharpening.trusted)
    assert trust[0]
    assert False in trust


def test_feedback_is_capped() -> None:
    """A page with 100 words of the best page so far is not worth more than .5 times 1.5 times the usual query."""
    reading, many = Reading(), " ".join(f"w{number}" for number in range(100))
    betas = [0.9, *(20 * [0.9, 0.1]), 0.1]
    outcomes = [reading.page(many, 0.9)]
    for _ in range(20):
        outcomes += [reading.page("good", 0.9), reading.page("bad", 0.1)]
    outcomes.append(reading.page(many, 0.1))
    age = 0.98 ** np.arange(len(betas) - 1)[::-1]
    usual = math.sqrt((age @ np.array(betas[:-1]) ** 2 + 0.1**2) / (age.sum() + 1))
    assert pytest.approx(0.1 + 0.5 * 1.5 * usual) == outcomes[-1]


def test_feedback_learns_from_the_query_alone() -> None:
    """What words are known to be worth is the sum of betas, not of outcomes that feedback has raised."""
    reading = Reading()
    for _ in range(10):
        reading.page("good", 0.75), reading.page("bad", 0.25)
    assert reading.page("good", 0.75) > 0.75
    assert [11 * 0.75, 11] == reading.sharpening.lifts[slot_of("good")].tolist()
    assert pytest.approx((11 * 0.75 + 10 * 0.25) / 21) == reading.sharpening.mean


def test_feedback_can_be_switched_off() -> None:
    """Outcomes are the query's, but words are still counted: links are judged by them."""
    reading = Reading(feedback=False)
    for _ in range(10):
        assert (0.75, 0.25) == (reading.page("good", 0.75), reading.page("bad", 0.25))
    assert [7.5, 10] == reading.sharpening.lifts[slot_of("good")].tolist()


def test_no_outcome_is_below_nothing() -> None:
    """However bad a page's words are."""
    reading = Reading()
    outcomes = []
    for _ in range(20):
        reading.page("good", 0.9)
        outcomes.append(reading.page("bad", 0.01))
    assert 0.0 == min(outcomes)


# -- mixing ----------------------------------------------------------------------------------------------------


def test_one_update_by_hand() -> None:
    """Terms (1, 0), said 1, turned out 2: w = 1 + (2 - 1) / (1 + 50), and the other weight stays."""
    mixing = Mixing(np.array([1.0, 0.5]))
    mixing.learn(np.array([1.0, 0.0]), 2.0)
    assert [1 + 1 / 51, 0.5] == pytest.approx(mixing.shifted.tolist())
    assert [1.0, 0.5] == mixing.weights.tolist()


def test_a_second_update_is_centred() -> None:
    """Terms (3, 0) are 2 above the first page's 1, an outcome of 1 is 1 below its 2: (1 - 2 * 3) / (1 + 4 + 50)."""
    mixing = Mixing(np.array([1.0, 0.5]))
    mixing.learn(np.array([1.0, 0.0]), 2.0)
    mixing.learn(np.array([3.0, 0.0]), 1.0)
    assert [1 + (1 * (2 - 1) + 2 * (-1 - 2)) / (1 + 4 + 50), 0.5] == pytest.approx(mixing.shifted.tolist())


def test_outcomes_are_cut_off_at_three() -> None:
    """A page ten times as good as others is as good as one three times as good."""
    mixing = Mixing(np.array([1.0]))
    mixing.learn(np.array([1.0]), 10.0)
    assert [1 + (3 - 1) / 51] == pytest.approx(mixing.shifted.tolist())


def test_many_updates_are_one_regression() -> None:
    """What numpy solves at once, with terms and outcomes less their running means."""
    chance, fixed = np.random.default_rng(2), np.array([0.4, 0.3, -0.1])
    mixing = Mixing(fixed)
    lines, rest = [], []
    mean, level = np.zeros(3), 0.0
    for page, (terms, y) in enumerate(zip(chance.random((150, 3)), chance.random(150), strict=True), 1):
        mixing.learn(terms, float(y))
        rate = max(1 / page, 0.01)
        lines.append(terms - mean)
        rest.append((y - level) - fixed @ (terms - mean))
        mean, level = mean + rate * (terms - mean), level + rate * (y - level)
    f = np.array(lines)
    expected = fixed + np.linalg.solve(f.T @ f + 50 * np.eye(3), f.T @ np.array(rest))
    assert pytest.approx(expected) == mixing.shifted


def referee(mixing: Mixing, terms: Any, outcomes: Any) -> list[tuple[bool, bool]]:
    """After each page: whether the shifted weights have the higher correlation by our own reckoning; who is in force.

    Predictions are those made before the page was learned from.
    """
    found, said, truth = [], np.zeros((2, 0)), np.zeros(0)
    level, mean = np.zeros(2), 0.0
    for pages, (line, y) in enumerate(zip(terms, outcomes, strict=True), 1):
        p = np.array([mixing.fixed @ line, mixing.shifted @ line])
        mixing.learn(line, float(y))
        said, truth = np.c_[said, p - level], np.append(truth, y - mean)
        rate = max(1 / pages, 0.01)
        level, mean = level + rate * (p - level), mean + rate * (y - mean)
        age = 0.99 ** np.arange(pages)[::-1]
        fixed, shifted = (age @ (column * truth) / math.sqrt(age @ column**2 * (age @ truth**2)) for column in said)
        found.append((bool(shifted > fixed), mixing.weights is mixing.shifted))
    return found


def test_the_shifted_weights_are_in_force_only_while_better() -> None:
    """Outcomes follow the term that counted little; after 150 pages they turn against it."""
    chance = np.random.default_rng(3)
    terms = chance.random((400, 2))
    outcomes = np.where(np.arange(400) < 150, terms[:, 1], 1 + terms[:, 0] - terms[:, 1])
    decided = referee(Mixing(np.array([0.5, 0.05])), terms, outcomes)
    assert TRIAL == 20
    assert 19 * [False] == [in_force for _, in_force in decided[:19]]
    assert any(better for better, _ in decided[10:19])
    assert [better for better, _ in decided[19:]] == [in_force for _, in_force in decided[19:]]
    assert decided[149][1]
    assert not all(in_force for _, in_force in decided[150:])


def test_where_the_fixed_weights_are_right_they_stay_in_force() -> None:
    """Outcomes are what the fixed weights say, with noise: the shifted ones are seldom in force, and hardly differ."""
    chance = np.random.default_rng(4)
    terms = chance.random((300, 3))
    fixed = np.array([0.5, 0.3, 0.1])
    mixing = Mixing(fixed)
    referee(mixing, terms, terms @ fixed + 0.05 * chance.standard_normal(300))
    assert pytest.approx(fixed, abs=0.05) == mixing.weights


def test_terms_that_never_change_are_no_trouble() -> None:
    """Nothing varies, so nothing correlates: the fixed weights stay in force."""
    mixing = Mixing(np.array([0.5, 0.3]))
    for _ in range(40):
        mixing.learn(np.zeros(2), 0.0)
    assert mixing.weights is mixing.fixed
    assert np.isfinite(mixing.shifted).all()
