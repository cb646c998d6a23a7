"""Clean pages of the embedded web."""

import re
import tracemalloc
from collections import Counter

import pytest

from lycosa.testweb import Trap, Web

CORAL = "marine biology/coral reefs"


def test_response_depends_on_seed_and_url() -> None:
    one, two = Web(seed=3, pages=400, hosts=12), Web(seed=3, pages=400, hosts=12)
    urls = list(one.urls())
    first = {url: one.response(url) for url in urls}
    assert {url: two.response(url) for url in reversed(urls)} == first


def test_seed_changes_texts() -> None:
    one, two = Web(seed=1, pages=400, hosts=12, traps=()), Web(seed=2, pages=400, hosts=12, traps=())
    assert one.response(one.seeds(CORAL)[0]).body != two.response(two.seeds(CORAL)[0]).body


def test_traps_add_only_an_aside_to_clean_pages(clean: Web, wild: Web) -> None:
    with_aside = 0
    for url in list(clean.urls())[::7]:
        assert wild.topic(url) == clean.topic(url)
        trapped = wild.response(url).body
        stripped = re.sub(rb"<aside>.*?</aside>\n", b"", trapped, flags=re.S)
        assert stripped == clean.response(url).body
        with_aside += stripped != trapped
    assert with_aside > 50


def test_seeds_are_independent_of_traps(clean: Web, wild: Web) -> None:
    assert clean.seeds(CORAL, 6) == wild.seeds(CORAL, 6)
    assert list(clean.relevant(CORAL)) == list(wild.relevant(CORAL))


def test_urls_are_distinct_and_canonical(clean: Web) -> None:
    urls = list(clean.urls())
    assert len(set(urls)) == len(urls) == len(clean) == 3000
    assert all(clean.canonical(url) == url for url in urls)
    assert all(clean.response(url).status == 200 for url in urls[::50])


def test_topics_have_2_to_4_percent_of_pages_each(clean: Web) -> None:
    assert len(clean.topics) == 36
    truth = Counter(clean.topic(url) for url in clean.urls())
    for topic in clean.topics:
        assert truth[topic] == sum(1 for _ in clean.relevant(topic))
        assert 0.018 < truth[topic] / len(clean) < 0.042
    assert truth[None] / len(clean) < 0.06


def test_topic_is_none_for_front_pages_and_unknown_urls(clean: Web) -> None:
    page = next(clean.relevant(CORAL))
    for url in (
        clean.seeds(CORAL)[0],
        page + "x",
        page.replace("http:", "https:"),
        "http://x.invalid/",
        "http://[",
        "",
    ):
        assert clean.topic(url) is None


def test_query_words_occur_in_relevant_pages(clean: Web) -> None:
    words = clean.query(CORAL).split()
    assert words == ["coral", "reef", "bleaching"]

    def share(urls: list[str]) -> float:
        texts = [re.sub(rb"<[^>]*>", b" ", clean.response(url).body).decode().lower().split() for url in urls]
        return sum(text.count(word) for text in texts for word in words) / sum(map(len, texts))

    assert share(list(clean.relevant(CORAL))) > 20 * share(list(clean.urls())[::20])


def test_query_raises_for_unknown_topic(clean: Web) -> None:
    with pytest.raises(KeyError):
        clean.query("alchemy/gold")


def test_seeds_can_be_off_or_on_topic(clean: Web) -> None:
    for topic in clean.topics:
        assert topic not in map(clean.topic, clean.seeds(topic, 8))
        assert set(map(clean.topic, clean.seeds(topic, 8, on_topic=True))) == {topic}
        assert len(set(clean.seeds(topic, 8))) == 8


def test_web_of_a_million_pages_is_lazy() -> None:
    tracemalloc.start()
    web = Web(pages=1_000_000, hosts=400)
    page = next(web.relevant(CORAL))
    assert web.response(page).status == 200
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert len(web) == 1_000_000


def test_urls_have_port() -> None:
    web = Web(pages=100, hosts=5, port=8123)
    page = next(web.relevant(CORAL))
    assert ":8123/" in page
    assert web.topic(page) == CORAL
    assert b":8123/" in web.response(web.seeds(CORAL)[0]).body
    web.port = 80
    assert ":" not in next(web.urls()).removeprefix("http:")


def test_traps_are_chosen_by_name() -> None:
    assert Web(pages=50, hosts=3).traps == frozenset(Trap)
    assert Web(pages=50, hosts=3, traps="slow").traps == {Trap.SLOW}
    assert Web(pages=50, hosts=3, traps={"slow", Trap.DEAD}).traps == {Trap.SLOW, Trap.DEAD}
    with pytest.raises(ValueError, match="wolves"):
        Web(pages=50, hosts=3, traps=["wolves"])
