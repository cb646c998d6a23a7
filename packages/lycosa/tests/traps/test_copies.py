"""Tests of duplicate detection: exact copies by digest, near copies by simhash and sketch."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.types import Kind, Outcome, Page, Terms, Visit
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS, distance
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
    """Return a visit with a simhash, word counts, and by default a digest of its own."""
    terms = Terms(np.array(sorted(words), np.uint32), np.full(len(words), times, np.uint16))
    return Visit(
        node, kind, outcome, 1, size=size, digest=digest or node.encode(), simhash=simhash, terms=terms, same_as=same_as
    )


def knowing(*visits: Visit) -> DuplicateIndex:
    made = DuplicateIndex()
    for visit in visits:
        made.learn(visit)
    return made


def flipped(fingerprint: int, bits: Sequence[int]) -> int:
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


@pytest.mark.paper("rules-seen-content")
def test_original_has_same_digest() -> None:
    made = knowing(page("a", 1, digest=b"x", words=[1]), page("b", 2, digest=b"x", words=[1]))
    assert "a" == made.original(page("c", 3, digest=b"x", words=[1]))


def test_original_ignores_empty_bodies() -> None:
    made = knowing(page("a", digest=b"x", words=[], size=0))
    assert "" == made.original(page("b", digest=b"x", words=[], size=0))


def test_original_without_digest_is_none() -> None:
    one, other = page("a", 0, words=[1]), page("b", 0, words=[1])
    one.digest = other.digest = b""
    assert "" == knowing(one).original(other)


def test_original_of_page_is_not_the_page() -> None:
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
def test_learn_ignores_other_kinds_of_visits(other: Visit) -> None:
    assert "" == knowing(other).original(page("b", 7, digest=b"a"))


def test_original_is_never_a_copy() -> None:
    made = knowing(page("a", 0), page("b", 0b1111, same_as="a"))
    assert "" == made.original(page("c", 0b11111111))


@pytest.mark.parametrize("apart", range(9))
def test_original_has_near_simhash(apart: int) -> None:
    chance = random.Random(apart)
    known = [chance.getrandbits(64) for _ in range(1000)]
    made = knowing(*(page(f"page {number}", simhash) for number, simhash in enumerate(known)))
    for number in chance.sample(range(1000), 100):
        asked = flipped(known[number], chance.sample(range(64), apart))
        near = [
            f"page {other}" for other, simhash in enumerate(known) if distance(simhash, asked) <= NEAR_DUPLICATE_BITS
        ]
        assert (f"page {number}" in near) == (apart <= NEAR_DUPLICATE_BITS)
        assert (made.original(page("new", asked)) in near) == bool(near)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.lists(st.integers(0, 63), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 2**64 - 1), max_size=5),
)
def test_original_may_differ_in_any_bits(fingerprint: int, bits: list[int], others: list[int]) -> None:
    made = knowing(page("a", fingerprint), *(page(f"other {other}", other) for other in others))
    asked = flipped(fingerprint, bits)
    expected = any(distance(asked, known) <= NEAR_DUPLICATE_BITS for known in (fingerprint, *others))
    assert expected == bool(made.original(page("b", asked)))


@pytest.mark.parametrize("count", [0, 1, MIN_WORDS - 1])
def test_original_ignores_short_pages(count: int) -> None:
    words = range(count)
    assert "" == knowing(page("a", 7, words=words)).original(page("b", 7, words=words))
    assert "" == knowing(page("a", 7, words=range(MIN_WORDS))).original(page("b", 7, words=words))
    assert "" == knowing(page("a", 7, words=words)).original(page("b", 7, words=range(MIN_WORDS)))


def test_original_counts_repeated_words() -> None:
    assert "a" == knowing(page("a", 7, words=range(10), times=3)).original(page("b", 7, words=range(10), times=3))


@pytest.mark.parametrize(
    ("count", "copy"), [(80, True), (70, True), (69, False), (91, True), (92, False), (800, False)]
)
def test_original_must_have_similar_length(count: int, copy: bool) -> None:
    # The words are the same, but some are repeated, so that only the lengths differ.
    one, other = page("a", 7, words=range(40), times=2), page("b", 7, words=range(40), times=count // 40)
    other.terms.counts[: count % 40] += 1
    assert count == other.terms.counts.sum()
    assert copy == bool(knowing(one).original(other))


@pytest.mark.parametrize("other", range(11))
def test_original_must_share_words(other: int) -> None:
    assert 20 + other <= SKETCH, "up to there the sketch holds all words, and the share is exact"
    original = page("a", 7, words=range(20), times=2)
    rewritten = page("b", 7, words=[*range(20 - other), *range(100, 100 + other)], times=2)
    assert ((20 - other) / (20 + other) >= MIN_SIMILARITY) == bool(knowing(original).original(rewritten))


@pytest.mark.parametrize(("common", "copy"), [(1000, True), (950, True), (500, False), (0, False)])
def test_original_of_long_pages_is_found_by_sample(common: int, copy: bool) -> None:
    words = [*range(common), *range(5000, 6000 - common)]
    assert copy == bool(knowing(page("a", 7, words=range(1000))).original(page("b", 7, words=words)))


def test_original_is_found_among_pages_with_same_simhash() -> None:
    others = [page(f"other {n}", 7, words=range(1000 * n, 1000 * n + 40)) for n in range(1, 30)]
    assert "a" == knowing(*others, page("a", 7)).original(page("b", 7))


def read(words: Vocabulary, node: str, text: str) -> Visit:
    """Return a visit with the terms of a text, as created by the engine."""
    reading = words.read(Page("ok", marked=text))
    return Visit(
        node, "page", "ok", 1, size=len(text), digest=node.encode(), simhash=reading.simhash, terms=reading.terms
    )


def prose(chance: random.Random, words: int) -> list[str]:
    """Return random words with the frequencies of prose."""
    return [f"word{int(chance.paretovariate(0.7)) % 3000}x" for _ in range(words)]


def test_edited_page_is_a_copy() -> None:
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


def test_template_pages_need_few_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
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
