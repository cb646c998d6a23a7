"""Copies: word for word by digest, nearly by simhash and sketch; found if they are, and not if they aren't."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.types import Kind, Outcome, Page, Terms, Visit
from lycosa.text.fingerprint import MAX_NEAR_DUPLICATE_DISTANCE, distance
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps import copies as module
from lycosa.traps.copies import MIN_SIMILARITY, MIN_WORDS, SKETCH, DuplicateIndex

WORDS = tuple(range(40))


def page(
    node: str,
    simhash: int = 0,
    *,
    digest: bytes = b"",
    words: Sequence[int] = WORDS,
    times: int = 1,
    size: int = 1000,
    kind: Kind = "page",
    outcome: Outcome = "ok",
    same_as: str = "",
) -> Visit:
    """A visit with a fingerprint, and so many times each of its words; a digest of its own unless it is told one."""
    terms = Terms(np.array(sorted(words), np.uint32), np.full(len(words), times, np.uint16))
    return Visit(
        node, kind, outcome, 1, size=size, digest=digest or node.encode(), simhash=simhash, terms=terms, same_as=same_as
    )


def knowing(*visits: Visit) -> DuplicateIndex:
    """Copies that have seen some visits."""
    made = DuplicateIndex()
    for visit in visits:
        made.learn(visit)
    return made


def flipped(fingerprint: int, bits: Sequence[int]) -> int:
    """A fingerprint with some bits the other way round."""
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


# -- word for word -------------------------------------------------------------------------------------------


@pytest.mark.paper("rules-seen-content")
def test_the_same_bytes_are_a_copy() -> None:
    """A digest that is known names the page that had it first, however long ago and however short the page."""
    made = knowing(page("a", 1, digest=b"x", words=[1]), page("b", 2, digest=b"x", words=[1]))
    assert "a" == made.original(page("c", 3, digest=b"x", words=[1]))


def test_empty_bodies_are_no_copies() -> None:
    """Pages without a byte have the same digest and nothing in common."""
    made = knowing(page("a", digest=b"x", words=[], size=0))
    assert "" == made.original(page("b", digest=b"x", words=[], size=0))


def test_a_visit_without_digest_is_no_copy() -> None:
    """Spaces that keep no bytes have no digests: nothing is word for word the same there."""
    one, other = page("a", 0, words=[1]), page("b", 0, words=[1])
    one.digest = other.digest = b""
    assert "" == knowing(one).original(other)


def test_a_page_is_not_its_own_copy() -> None:
    """A page that is visited again is itself, unchanged or nearly so."""
    made = knowing(page("a", 7, digest=b"x"))
    assert "" == made.original(page("a", 7, digest=b"x"))
    assert "" == made.original(page("a", 6, digest=b"y"))


@pytest.mark.parametrize(
    "other",
    [
        page("a", 7, kind="redirect"),
        page("a", 7, kind="probe"),
        page("a", 7, kind="sitemap"),
        page("a", 7, outcome="gone"),
    ],
)
def test_only_pages_are_originals(other: Visit) -> None:
    """Redirects, probes, sitemaps and failures may say what they like."""
    assert "" == knowing(other).original(page("b", 7, digest=b"a"))


def test_a_copy_is_no_original() -> None:
    """Copies of a copy are copies of the original."""
    made = knowing(page("a", 0), page("b", 0b1111, same_as="a"))
    assert "" == made.original(page("c", 0b11111111))


# -- nearly --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", range(9))
def test_found_if_near(apart: int) -> None:
    """Planted among a thousand others, a fingerprint is found at a distance of at most NEAR, and at no other."""
    chance = random.Random(apart)
    known = [chance.getrandbits(64) for _ in range(1000)]
    made = knowing(*(page(f"page {number}", simhash) for number, simhash in enumerate(known)))
    for number in chance.sample(range(1000), 100):
        asked = flipped(known[number], chance.sample(range(64), apart))
        near = [f"page {other}" for other, simhash in enumerate(known) if distance(simhash, asked) <= MAX_NEAR_DUPLICATE_DISTANCE]
        assert (f"page {number}" in near) == (apart <= MAX_NEAR_DUPLICATE_DISTANCE)
        assert (made.original(page("new", asked)) in near) == bool(near)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.lists(st.integers(0, 63), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 2**64 - 1), max_size=5),
)
def test_where_the_bits_lie_does_not_matter(fingerprint: int, bits: list[int], others: list[int]) -> None:
    """Whichever bits differ, one or two of them in each band or all in one, near is found and far is not."""
    made = knowing(page("a", fingerprint), *(page(f"other {other}", other) for other in others))
    asked = flipped(fingerprint, bits)
    expected = any(distance(asked, known) <= MAX_NEAR_DUPLICATE_DISTANCE for known in (fingerprint, *others))
    assert expected == bool(made.original(page("b", asked)))


@pytest.mark.parametrize("count", [0, 1, MIN_WORDS - 1])
def test_short_pages_have_no_near_copies(count: int) -> None:
    """With a few words only, a fingerprint says nothing."""
    words = range(count)
    assert "" == knowing(page("a", 7, words=words)).original(page("b", 7, words=words))
    assert "" == knowing(page("a", 7, words=range(MIN_WORDS))).original(page("b", 7, words=words))
    assert "" == knowing(page("a", 7, words=words)).original(page("b", 7, words=range(MIN_WORDS)))


def test_words_are_counted_as_often_as_they_occur() -> None:
    """Ten words three times are thirty."""
    assert "a" == knowing(page("a", 7, words=range(10), times=3)).original(page("b", 7, words=range(10), times=3))


@pytest.mark.parametrize(
    ("count", "copy"), [(80, True), (70, True), (69, False), (91, True), (92, False), (800, False)]
)
def test_lengths_must_agree(count: int, copy: bool) -> None:
    """An eighth more or less is near; a page ten times as long is another, whatever its fingerprint."""
    # The same words, some of them twice or more, so that only the lengths differ.
    one, other = page("a", 7, words=range(40), times=2), page("b", 7, words=range(40), times=count // 40)
    other.terms.counts[: count % 40] += 1
    assert count == other.terms.counts.sum()
    assert copy == bool(knowing(one).original(other))


@pytest.mark.parametrize("other", range(11))
def test_rare_words_must_agree(other: int) -> None:
    """Two pages of one template, with one fingerprint, are copies if three of four words are common to both."""
    assert 20 + other <= SKETCH, "up to there the sketch holds all words, and the share is exact"
    original = page("a", 7, words=range(20), times=2)
    rewritten = page("b", 7, words=[*range(20 - other), *range(100, 100 + other)], times=2)
    assert ((20 - other) / (20 + other) >= MIN_SIMILARITY) == bool(knowing(original).original(rewritten))


@pytest.mark.parametrize(("common", "copy"), [(1000, True), (950, True), (500, False), (0, False)])
def test_long_pages_are_compared_by_a_sample(common: int, copy: bool) -> None:
    """Of a thousand words, thirty-two tell whether most are the same."""
    words = [*range(common), *range(5000, 6000 - common)]
    assert copy == bool(knowing(page("a", 7, words=range(1000))).original(page("b", 7, words=words)))


def test_the_nearest_in_words_is_found_behind_others() -> None:
    """Pages with the same fingerprint and other words do not stand in the way of the original."""
    others = [page(f"other {n}", 7, words=range(1000 * n, 1000 * n + 40)) for n in range(1, 30)]
    assert "a" == knowing(*others, page("a", 7)).original(page("b", 7))


# -- on real text --------------------------------------------------------------------------------------------


def read(words: Vocabulary, node: str, text: str) -> Visit:
    """A visit of some text, as the engine makes it."""
    reading = words.read(Page("ok", marked=text))
    return Visit(
        node, "page", "ok", 1, size=len(text), digest=node.encode(), simhash=reading.simhash, terms=reading.terms
    )


def prose(chance: random.Random, words: int) -> list[str]:
    """Words drawn as prose has them: few often, many seldom."""
    return [f"word{int(chance.paretovariate(0.7)) % 3000}x" for _ in range(words)]


def test_an_edited_page_is_a_copy_and_another_is_not() -> None:
    """A page with one word in a hundred changed is a near copy; a page of its own is none."""
    chance, vocabulary = random.Random(3), Vocabulary()
    texts = [prose(chance, 400) for _ in range(40)]
    made = DuplicateIndex()
    found = strangers = 0
    for number, text in enumerate(texts):
        visit = read(vocabulary, f"page {number}", " ".join(text))
        strangers += bool(made.original(visit))
        made.learn(visit)
    for number, text in enumerate(texts):
        edited = [word if chance.random() > 0.01 else "edited" for word in text]
        found += f"page {number}" == made.original(read(vocabulary, f"copy {number}", " ".join(edited)))
    assert 0 == strangers
    assert found >= 38


def test_a_template_does_not_make_it_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that all have one simhash are compared with a few of each other only, however many there are."""
    compared = 0
    shared = module._shared

    def count(a: frozenset[int], b: frozenset[int]) -> float:
        nonlocal compared
        compared += 1
        return shared(a, b)

    monkeypatch.setattr(module, "_shared", count)
    copies = DuplicateIndex()
    for number in range(300):
        ids = np.arange(number * 100, number * 100 + 100, dtype=np.uint32)
        terms = Terms(ids, np.ones(100, np.uint16))
        visit = Visit(f"http://a.test/{number}", "page", "ok", 1, size=9, digest=b"%d" % number, simhash=7, terms=terms)
        assert "" == copies.original(visit)
        copies.learn(visit)
    assert compared <= 300 * 32
