"""LinkTexts: texts of links, tokenised once."""

import numpy as np

from lycosa.core.types import Links, Page
from lycosa.judges.vector_judge import VectorJudge
from lycosa.strategies.scent.link_words import LinkWords
from lycosa.text.tokens import Tokens
from lycosa.text.vocabulary import LinkTexts, Vocabulary

LINKS = Links(
    ["http://a.test/coral-reefs", "http://a.test/", "http://b.test/bleachedCoral.html"],
    ["Coral reefs", "", "\x01 bleached"],
    ["About coral reefs today", "", "Bleached coral, 珊瑚"],
    ["", "", ""],
    [0, 1, 2],
)


def test_link_texts_return_part_and_selection() -> None:
    read = LinkTexts.of(LINKS, Tokens())
    names = read.tokens.names
    links, numbers = read.part("url")
    assert [(link, names[number]) for link, number in zip(links.tolist(), numbers.tolist(), strict=True)] == [
        (0, b"a"), (0, b"coral"), (0, b"reefs"), (1, b"a"), (2, b"b"), (2, b"bleached"), (2, b"coral"),
    ]  # fmt: skip
    places, numbers = read.take(np.array([5, 1, 3]))
    assert [(place, names[number]) for place, number in zip(places.tolist(), numbers.tolist(), strict=True)] == [
        (0, b"bleached"), (2, b"coral"), (2, b"reefs"),
    ]  # fmt: skip


def test_link_texts_read_links_equals_plain_texts() -> None:
    met: list[list[list[str]]] = [[], []]
    chosen = np.array([2, 0])
    LINKS.read = None
    texts = LinkWords(lambda words, slots: met[0].append(words)).read_links(LINKS, chosen)
    LINKS.read = LinkTexts.of(LINKS, Tokens())
    cut = LinkWords(lambda words, slots: met[1].append(words)).read_links(LINKS, chosen)
    assert [column.tolist() for column in texts] == [column.tolist() for column in cut]
    assert met[0] == met[1] != []
    LINKS.read = LinkTexts.of(LINKS, Tokens("de"))  # tokenised by the rules of another language
    other = LinkWords().read_links(LINKS, chosen)
    assert [column.tolist() for column in texts] == [column.tolist() for column in other]
    LINKS.read = None


def test_link_texts_are_judged_like_own_tokens() -> None:
    facets = []
    for own in (False, True):
        topic, words = VectorJudge("coral reef"), Vocabulary()
        topic.facets = ("context", "url")
        page = Page("ok", marked="On coral reefs.", links=LINKS)
        reading = words.read(page)
        if own:
            reading.head = None
        LINKS.read = None
        facets.append({name: column.tolist() for name, column in topic.judge(page, reading).facets.items()})
        assert (LINKS.read.tokens is words.read(page).head.tokens) is not own  # type: ignore[union-attr]
    assert facets[0] == facets[1]
    assert max(facets[0]["url"]) > 0.0
    LINKS.read = None
