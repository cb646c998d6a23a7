"""The texts of links, cut once."""

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


def test_parts_and_choices() -> None:
    """Contexts, anchors and addresses of all links, and of some."""
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


def test_scent_reads_the_same_of_what_was_cut_and_of_texts() -> None:
    """Live, the judge has cut the texts; a log that is folded again has only the texts."""
    met: list[list[list[str]]] = [[], []]
    chosen = np.array([2, 0])
    LINKS.read = None
    texts = LinkWords(lambda words, slots: met[0].append(words)).read_links(LINKS, chosen)
    LINKS.read = LinkTexts.of(LINKS, Tokens())
    cut = LinkWords(lambda words, slots: met[1].append(words)).read_links(LINKS, chosen)
    assert [column.tolist() for column in texts] == [column.tolist() for column in cut]
    assert met[0] == met[1] != []
    LINKS.read = LinkTexts.of(LINKS, Tokens("de"))  # cut by other rules than the page's language has
    other = LinkWords().read_links(LINKS, chosen)
    assert [column.tolist() for column in texts] == [column.tolist() for column in other]
    LINKS.read = None


def test_the_judge_says_the_same_whoever_cuts() -> None:
    """A page that was read just now brings its tokens; one that was not is cut by the judge's own."""
    said = []
    for own in (False, True):
        topic, words = VectorJudge("coral reef"), Vocabulary()
        topic.facets = ("context", "url")
        page = Page("ok", marked="On coral reefs.", links=LINKS)
        reading = words.read(page)
        if own:
            reading.head = None
        LINKS.read = None
        said.append({name: column.tolist() for name, column in topic.judge(page, reading).facets.items()})
        assert (LINKS.read.tokens is words.read(page).head.tokens) is not own  # type: ignore[union-attr]
    assert said[0] == said[1]
    assert max(said[0]["url"]) > 0.0
    LINKS.read = None
