"""Simhash: equal for equal pages, near for similar ones."""

import random

import numpy as np

from lycosa.core.types import Page
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS, TermHashes, distance
from lycosa.text.vocabulary import Vocabulary


def words(seed: int, n: int = 800) -> list[str]:
    """Return random words."""
    chance = random.Random(seed)
    return [f"w{int(chance.paretovariate(0.7)) % 5000}{seed % 7}x" for _ in range(n)]


def test_simhash_is_independent_of_word_order() -> None:
    text = words(1)
    one, other = Vocabulary(), Vocabulary()
    other.read(Page("ok", marked=" ".join(words(9))))
    turned = " ".join(text[::-1])
    expected = one.read(Page("ok", marked=" ".join(text))).simhash
    assert expected == other.read(Page("ok", marked=turned)).simhash
    assert 0 < expected < 2**64


def test_simhash_is_near_for_similar_pages() -> None:
    """In at least 9 of 10 cases a page with 2 % of its words changed is near, and another page is not."""
    reader = Vocabulary()
    near = far = 0
    for seed in range(40):
        text = words(seed)
        changed = text.copy()
        for place in random.Random(seed).sample(range(len(text)), len(text) // 50):
            changed[place] = f"new{place}"
        first = reader.read(Page("ok", marked=" ".join(text))).simhash
        near += distance(first, reader.read(Page("ok", marked=" ".join(changed))).simhash) <= NEAR_DUPLICATE_BITS
        far += (
            distance(first, reader.read(Page("ok", marked=" ".join(words(seed + 100)))).simhash) > NEAR_DUPLICATE_BITS
        )
    assert near >= 36
    assert 40 == far


def test_simhash_of_empty_page_is_0() -> None:
    assert 0 == Vocabulary().read(Page("ok", marked="the of 7")).simhash


def test_simhash_of_one_word_is_its_hash() -> None:
    import xxhash

    signs = TermHashes()
    signs.extend(["coral"])
    got = signs.simhash(np.array([0], np.uint32), np.array([3], np.uint16))
    assert xxhash.xxh3_64_intdigest(b"coral") == int.from_bytes(got.to_bytes(8, "big"), "little")


def test_simhash_is_unchanged_after_growth() -> None:
    signs, terms = TermHashes(), [f"t{n}" for n in range(10_000)]
    signs.extend(terms[:1])
    before = signs.simhash(np.array([0], np.uint32), np.array([1], np.uint16))
    signs.extend(terms)
    assert before == signs.simhash(np.array([0], np.uint32), np.array([1], np.uint16))


def test_distance_counts_different_bits() -> None:
    assert (0, 64, 2) == (distance(5, 5), distance(0, 2**64 - 1), distance(0b1001, 0b0000))
