"""Vocabulary: term ids, bags, and replay from the log."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.types import ADDRESS, HEADING, LEAD, MAIN, TITLE, Page, Terms, Visit
from lycosa.text.vocabulary import CLOSES, OPENS, SKIP, PageWords, Vocabulary
from tables import each

WORDS = st.lists(st.sampled_from("coral reef polyp algae bleach the of Corals 珊瑚 риф x".split()), max_size=12)
# Chinese is excluded, as its tokens depend on the rest of the text.
SPACED = WORDS.map(lambda words: [word for word in words if word != "珊瑚"])


def page(text: str, title: str = "") -> Page:
    return Page("ok", title=title, marked=text)


def visit(reading: PageWords) -> Visit:
    return Visit("n", "page", "ok", 1, terms=reading.terms)


def test_read_numbers_terms_in_order() -> None:
    words = Vocabulary()
    reading = words.read(page("the coral of corals", title="Reef"))
    assert ["reef", "coral"] == words.terms == reading.terms.new
    assert [0, SKIP, 1, SKIP, 1] == reading.ids.tolist()
    assert ([0, 1], [1, 2]) == (reading.terms.ids.tolist(), reading.terms.counts.tolist())


def test_read_returns_new_terms_once() -> None:
    words = Vocabulary()
    words.read(page("coral"))
    assert ["reef"] == words.read(page("coral reef")).terms.new


@pytest.mark.paper("batsakis-content")
def test_read_marks_terms_by_part_of_page() -> None:
    words = Vocabulary()
    whole = Page(
        "ok",
        title="Reef fish",
        marked="\x01Shop\x02 Corals Polyps feed at night. More corals.",
        main="Corals Polyps feed at night. More corals.",
        headings="Corals",
        lead="Polyps feed at night.",
        node="http://sea.test/polyp/shop.html",
    )
    reading = words.read(whole)
    known = {words.terms[number]: mark for number, mark in zip(reading.terms.ids, reading.terms.marks, strict=True)}
    assert known == {
        "reef": TITLE,
        "fish": TITLE,
        "coral": HEADING | MAIN,
        "polyp": LEAD | MAIN | ADDRESS,
        "feed": LEAD | MAIN,
        "night": LEAD | MAIN,
    }
    assert 2 == reading.terms.counts[reading.terms.ids.tolist().index(words.id_of["coral"])]
    assert ("shop" in words.id_of, "shop" in reading.terms.new) == (True, True)
    starts, ends = reading.spans()
    assert ["shop"] == [words.terms[number] for number in reading.ids[starts[0] : ends[0]]]
    assert words.read(page("reef")).terms.marks.tolist() == [MAIN]
    assert words.read(page("", title="reef")).terms.marks.tolist() == [TITLE | MAIN]
    assert words.read(page("")).terms.marks.tolist() == []


@settings(max_examples=30, deadline=None)
@given(SPACED, SPACED, SPACED)
def test_read_parts_do_not_change_ids(title: list[str], menu: list[str], main: list[str]) -> None:
    with_parts, without = Vocabulary(), Vocabulary()
    plain = page(" ".join(menu + main), " ".join(title))
    parts = Page("ok", title=plain.title, marked=plain.marked, main=" ".join(main), lead=" ".join(main[:3]))
    one, other = with_parts.read(parts), without.read(plain)
    assert one.ids.tolist() == other.ids.tolist()
    assert one.terms.new == other.terms.new
    assert set(one.terms.ids.tolist()) <= set(other.terms.ids.tolist())
    assert len(one.terms.ids) == len(one.terms.marks)
    assert (one.terms.marks > 0).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, max_size=8))
def test_learn_replays_the_same_ids(pages: list[list[str]]) -> None:
    live, visits = Vocabulary(), []
    for text in pages:
        visits.append(visit(live.read(page(" ".join(text)))))
        live.learn(visits[-1])
    replayed = Vocabulary()
    for known in visits:
        replayed.learn(known)
    assert live.terms == replayed.terms
    assert live.id_of == replayed.id_of
    assert (live.pages, live.frequency.tolist()) == (replayed.pages, replayed.frequency.tolist())
    again = page("coral new 珊 word")
    assert live.read(again).terms.ids.tolist() == replayed.read(again).terms.ids.tolist()
    assert live.read(again).simhash == replayed.read(again).simhash


def test_learn_counts_pages() -> None:
    words = Vocabulary()
    for text in ("coral coral reef", "coral", "the"):
        words.learn(visit(words.read(page(text))))
    assert (2, [2, 1]) == (words.pages, words.frequency[:2].tolist())


def test_idf_by_hand() -> None:
    """The idf is ln((N + 1) / (df + .5)) + 1: with 2 pages, a term on both has ln(3 / 2.5) + 1; df 0 counts as 1."""
    words = Vocabulary()
    assert [math.log(1 / 1.5) + 1] == pytest.approx(words.idf(np.array([0], np.uint32)))
    for text in ("coral reef", "coral"):
        words.learn(visit(words.read(page(text))))
    expected = [math.log(3 / 2.5) + 1, math.log(3 / 1.5) + 1]
    assert expected == pytest.approx(words.idf(np.array([0, 1], np.uint32)).tolist())


def test_spans_are_words_of_each_link() -> None:
    words = Vocabulary()
    reading = words.read(page("see \x01coral reef\x02 and \x01\x02\x01polyp\x02"))
    starts, ends = reading.spans()
    inside = [[words.terms[i] for i in reading.ids[a:b] if i >= 0] for a, b in zip(starts, ends, strict=True)]
    assert [["coral", "reef"], [], ["polyp"]] == inside
    assert 3 == np.count_nonzero(reading.ids == OPENS) == np.count_nonzero(reading.ids == CLOSES)


@each(["\x01coral", "coral\x02", "\x02coral\x01", "\x01a\x01b\x02"])
def test_spans_are_empty_for_unbalanced_marks(text: str) -> None:
    starts, ends = Vocabulary().read(page(text)).spans()
    assert (0, 0) == (len(starts), len(ends))


def test_read_empty_page_has_no_terms() -> None:
    reading = Vocabulary().read(page(""))
    assert (0, 0, [], 0) == (
        len(reading.ids), len(reading.terms.ids), reading.terms.new, reading.simhash
    )  # fmt: skip


def test_read_caps_counts() -> None:
    assert [65_535] == Vocabulary().read(page("coral " * 70_000)).terms.counts.tolist()


def test_learn_grows_frequencies() -> None:
    words = Vocabulary()
    words.learn(visit(words.read(page(" ".join(f"w{n}q" for n in range(9000))))))
    assert (9000, 1) == (len(words.terms), words.frequency[8999])
    replayed = Vocabulary()
    replayed.learn(Visit("n", "page", "ok", 1, terms=Terms(
        np.arange(9000, dtype=np.uint32), np.ones(9000, np.uint16), words.terms
    )))  # fmt: skip
    assert 9000 == replayed.frequency.sum()


def test_read_is_consistent_after_reset_of_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.text.tokens._MAX_TOKENS", 10)
    words = Vocabulary()
    text = " ".join(f"w{n}q" for n in range(100))
    first = words.read(page(text)).terms.ids.tolist()
    assert first == words.read(page(text)).terms.ids.tolist()
    assert 100 == len(words.terms)


LANGUAGES = st.sampled_from(["", "en", "de-AT", "ru", "tr", "ja", "de, en", "no such thing", "el", "fr"])
MIXTURE = "coral Häuser haus рифы риф die ISI l'eau 珊瑚 θάλασσας the und Stra\u00dfe étoiles x".split()
MIXED = st.lists(st.tuples(LANGUAGES, st.lists(st.sampled_from(MIXTURE), max_size=12)), max_size=8)


@settings(max_examples=40, deadline=None)
@given(MIXED, st.sampled_from(["en", "de", "ja"]))
def test_learn_replays_pages_in_many_languages(pages: list[tuple[str, list[str]]], own: str) -> None:
    live, visits = Vocabulary(own), []
    for language, text in pages:
        reading = live.read(Page("ok", marked=" ".join(text), language=language))
        assert all(reading.terms.ids < len(live.terms))
        visits.append(visit(reading))
        live.learn(visits[-1])
    replayed, other = Vocabulary(own), Vocabulary("fi")
    for known in visits:
        replayed.learn(known)
        other.learn(known)
    assert live.terms == replayed.terms == other.terms
    assert live.id_of == replayed.id_of == other.id_of
    for language in ("", "de", "ru", "ja"):
        again = Page("ok", marked=" ".join(MIXTURE), language=language)
        assert live.read(again).ids.tolist() == replayed.read(again).ids.tolist()
        assert live.read(again).simhash == replayed.read(again).simhash


def test_read_stem_has_one_id_in_all_languages() -> None:
    words = Vocabulary()
    first = words.read(Page("ok", marked="corals", language="en")).terms
    second = words.read(Page("ok", marked="coral", language="ru")).terms
    assert (["coral"], []) == (first.new, second.new)
    assert first.ids.tolist() == second.ids.tolist()


@each(
    [
        ("en", "", ("en", ["die", "häuser"])),
        ("en", "de-AT", ("de", ["haus"])),
        ("de-AT", "", ("de", ["haus"])),
        ("de", "en", ("en", ["die", "häuser"])),
        ("de", "ja", ("", ["die", "häuser"])),
        ("ja", "", ("", ["die", "häuser"])),
        ("", "", ("en", ["die", "häuser"])),
        ("en", "x" * 10_000, ("en", ["die", "häuser"])),
        ("en", "de-de, en", ("de", ["haus"])),
    ]
)
def test_read_uses_language_of_page(own: str, declared: str, expected: tuple[str, list[str]]) -> None:
    words = Vocabulary(own)
    reading = words.read(Page("ok", marked="Die Häuser", language=declared))
    assert expected == (reading.language, words.terms)


def test_vocabulary_limits_cached_lexicons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.text.vocabulary.LEXICONS", 2)
    words = Vocabulary()
    ids = {}
    for code in ("de", "fr", "de", "es", "de", "fr"):
        reading = words.read(Page("ok", marked="Rochen étoiles corales", language=code)).ids.tolist()
        assert ids.setdefault(code, reading) == reading
        assert len(words._others) <= 2
    assert ["de", "fr"] == list(words._others)


def test_vocabulary_can_be_pickled() -> None:
    words = Vocabulary()
    words.read(Page("ok", marked="Häuser", language="de"))
    twin = pickle.loads(pickle.dumps(words))
    twin.read(Page("ok", marked="Meere", language="de"))
    assert (["haus"], ["haus", "meer"]) == (words.terms, twin.terms)
