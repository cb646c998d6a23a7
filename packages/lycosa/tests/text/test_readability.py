"""Text quality: ordinary pages pass, stuffed pages do not."""

import random

import numpy as np

from lycosa.core.types import Page
from lycosa.testweb import Web
from lycosa.text.readability import MAX_WORDS, MIN_WORDS, quality
from lycosa.text.vocabulary import CLOSES, OPENS, Vocabulary
from lycosa.web.html import extract
from spam_farm import KINDS, SpamWeb

TOPICS = ("marine biology/coral reefs", "railways/night trains", "astronomy/meteorites")


def _of_page(body: bytes, url: str, words: Vocabulary) -> float:
    document = extract(body, url)
    return quality(words.read(Page("ok", title=document.title, marked=document.marked)).ids)


def test_quality_of_ordinary_pages_is_high() -> None:
    web, words = Web(traps=()), Vocabulary()
    qualities = np.array([_of_page(web.response(url).body, url, words) for url in list(web.urls())[::25]])
    assert np.mean(qualities < 0.5) < 0.01
    assert np.median(qualities) > 0.95


def test_quality_of_stuffed_pages_is_low() -> None:
    web, words = SpamWeb(traps=()), Vocabulary()
    for kind in KINDS:
        urls = [url for topic in TOPICS for url in web.farm.into(topic, 100) if web.farm.kind(url) == kind]
        qualities = np.array([_of_page(web.response(url).body, url, words) for url in urls])
        assert len(urls) > 40
        assert np.mean(qualities < 0.5) > 0.9


def test_quality_of_short_texts_is_1() -> None:
    assert quality(np.zeros(MIN_WORDS - 1, np.int32)) == 1.0
    assert quality(np.zeros(0, np.int32)) == 1.0
    assert quality(np.full(500, -1, np.int32)) == 1.0
    assert quality(np.zeros(MIN_WORDS, np.int32)) < 0.01


def test_quality_of_name_lists_is_high() -> None:
    assert quality(np.arange(400, dtype=np.int32)) > 0.9


def test_quality_uses_link_words_only_if_others_are_few() -> None:
    draw = random.Random(1)
    links = [part for _ in range(80) for part in (OPENS, *draw.choices(range(5), k=4), CLOSES)]
    assert quality(np.array(links, np.int32)) < 0.5
    prose = [word for number in range(300) for word in (-1, 10 + number)]
    assert quality(np.array(links + prose, np.int32)) > 0.9


def test_quality_includes_end_of_long_pages() -> None:
    draw = random.Random(1)
    stuffing = draw.choices(range(8), k=20 * MAX_WORDS)
    assert quality(np.array([*range(100, 100 + MAX_WORDS), *stuffing], np.int32)) < 0.5
