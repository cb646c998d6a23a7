"""Soft 404s: what a host says to nonsense, and which of its pages say the same."""

from collections.abc import Sequence

import numpy as np
import pytest

from lycosa.core.types import Kind, Links, Outcome, Page, Visit
from lycosa.store import codec
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.copies import MAX_ERROR_PAGE_WORDS, Soft404Detector
from lycosa.traps.trap_filter import SectionTrapFilter

PROBE = "http://a.test/reefs/no-such-page-0123456789ab.html"
SORRY = (
    "Sorry, the page you are looking for could not be found on this server. Perhaps it has moved to another place, "
    "or the address was misspelt. Search our collection, or write to the keeper of these pages, who will gladly help."
)
CORAL = (
    "Corals are animals, though they look like plants. Each polyp builds a skeleton of limestone around itself, and "
    "over centuries the skeletons of countless polyps grow into a reef that shelters fish, crabs and sea urchins."
)


class Host:
    """A host's answers, as the engine shows them to the warden's nose for soft 404s, and records them."""

    def __init__(self) -> None:
        self.words, self.soft404 = Vocabulary(), Soft404Detector()
        self.events: list[Visit] = []

    def visit(self, node: str, marked: str, kind: Kind = "page", outcome: Outcome = "ok", title: str = "") -> Visit:
        """Let a page be read, recognised, learned and recorded."""
        visit = Visit(node, kind, outcome, 1, title=title)
        reading = self.words.read(Page("ok", title=title, marked=marked))
        visit.terms = reading.terms
        self.soft404.recognise(visit, reading)
        self.words.learn(visit)
        self.soft404.learn(visit)
        self.events.append(visit)
        return visit

    def says(self, node: str, marked: str, title: str = "") -> Sequence[str]:
        """The flags of a page."""
        return self.visit(node, marked, title=title).flags


def probed(answer: str = SORRY, outcome: Outcome = "ok") -> Host:
    """A host that has been asked for nonsense."""
    host = Host()
    host.visit(PROBE, answer, "probe", outcome)
    return host


def test_what_looks_like_the_answer_to_nonsense_is_no_page() -> None:
    """The same words as the probe's, and the page is a soft 404; other words, and it is a page."""
    host = probed()
    assert ["soft-404"] == host.says("http://a.test/lost.html", SORRY)
    assert [] == host.says("http://a.test/corals.html", CORAL)


def test_a_face_is_what_stands_outside_links() -> None:
    """Error pages offer links that differ each time; they are left out of the comparison."""
    links = [f"\x01{word} the {word} of reefs and atolls {word}\x02" for word in CORAL.split()]
    host = probed(SORRY + " ".join(links[:10]))
    assert ["soft-404"] == host.says("http://a.test/lost.html", SORRY + " ".join(links[10:]))


def test_pages_that_only_link_alike_are_pages() -> None:
    """The same navigation around another text is another page."""
    navigation = " ".join(f"\x01{word}\x02" for word in SORRY.split())
    host = probed(f"{navigation} {SORRY}")
    assert [] == host.says("http://a.test/corals.html", f"{navigation} {CORAL}")


def test_quoted_addresses_are_ignored() -> None:
    """An error page that repeats what was asked for, many times, has the same face for each address."""
    host = probed("no such page 0123456789ab " * 20 + SORRY)
    quoting = "corals bleaching atoll lagoon " * 20 + SORRY
    assert ["soft-404"] == host.says("http://a.test/corals/bleaching/atoll-lagoon.html", quoting)
    assert [] == host.says("http://a.test/other.html", quoting), "quoted from elsewhere, they are words like any other"


def test_a_page_that_says_no_more_than_its_address_is_not_judged() -> None:
    """When nothing is left to compare, nothing is alike."""
    host = probed("no such page")
    assert "face" not in host.events[0].data
    assert [] == host.says("http://a.test/coral.html", "coral")
    assert [] == probed().says("http://a.test/empty.html", "")


def test_a_host_that_was_not_asked_has_no_face() -> None:
    """What one host says to nonsense says nothing of others, nor of another port or scheme."""
    host = probed()
    for base in ("http://b.test", "https://a.test", "http://a.test:8080", "http://www.a.test"):
        assert [] == host.says(f"{base}/lost.html", SORRY)


@pytest.mark.parametrize("outcome", ["gone", "redirect", "timeout", "unwanted", "busy", "broken"])
def test_an_honest_host_has_no_face(outcome: Outcome) -> None:
    """A host that says 404, leads elsewhere or fails does not pretend to have everything."""
    host = probed(outcome=outcome)
    assert [] == host.says("http://a.test/lost.html", SORRY)


def test_an_endless_answer_is_no_error_page() -> None:
    """Something with thousands of different words is not what a host says when it has nothing to say."""
    novel = " ".join(f"w{number}x" for number in range(MAX_ERROR_PAGE_WORDS + 1))
    host = probed(novel)
    assert "face" not in host.events[0].data
    assert [] == host.says("http://a.test/novel.html", novel)


def test_a_probe_is_never_a_soft_404_itself() -> None:
    """A second probe renews the face; it isn't judged by it."""
    host = probed()
    assert [] == host.visit(PROBE, SORRY, "probe").flags
    host.visit(PROBE, CORAL, "probe")
    assert ["soft-404"] == host.says("http://a.test/corals.html", CORAL)
    assert [] == host.says("http://a.test/lost.html", SORRY)


@pytest.mark.parametrize(("share", "soft"), [(0.0, True), (0.1, True), (0.6, False), (1.0, False)])
def test_how_much_may_differ(share: float, soft: bool) -> None:
    """A few words more or less are still the error page; a good part of a text of its own is not."""
    own = CORAL.split()
    answer = SORRY + " " + " ".join(own[: round(share * len(own))])
    assert soft == bool(probed().says("http://a.test/page.html", answer))


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found",
        "404",
        "Error 404",
        "Not Found",
        "not found.",
        "Page not found - Reefs",
        "Reefs | Page Not Found",
        "The document could not be found",
        "Seite nicht gefunden",
        "Page introuvable",
        "Página no encontrada",
    ],
)
def test_a_title_that_admits_it_is_believed(title: str) -> None:
    """Some error pages say what they are; no one has to ask their host."""
    assert ["soft-404"] == Host().says("http://a.test/lost.html", CORAL, title)


@pytest.mark.parametrize(
    "title",
    ["", "Corals", "Lost and found: a novel", "Peugeot 404", "Where squid are found", "Room 404", "What I found"],
)
def test_a_title_with_such_words_admits_nothing(title: str) -> None:
    """A page may be about finding, or have a number."""
    assert [] == Host().says("http://a.test/corals.html", CORAL, title)


@pytest.mark.parametrize(
    "title", ["404 Media", "404 species of coral", "Nothing found in the wreck of the Lutine: a diver's report"]
)
def test_a_title_that_says_it_of_something_else_admits_nothing(title: str) -> None:
    """A page that is lost for its title's sake is lost for good: its relevance is taken as 0."""
    assert [] == Host().says("http://a.test/corals.html", CORAL, title)


def test_a_soft_404_is_no_find_and_vouches_for_nothing() -> None:
    """The warden takes its relevance and that of its links, and does not look for its original."""
    trap_filter, words = SectionTrapFilter(0.1), Vocabulary()
    probe, page = Visit(PROBE, "probe", "ok", 1), Page("ok", marked=SORRY, links=Links.to("b", "c"))
    trap_filter.soft404.recognise(probe, words.read(page))
    trap_filter.soft404.learn(probe)
    visit = Visit("http://a.test/lost.html", "page", "ok", 2, relevance=0.9, links=Links.to("b", "c"))
    visit.links.link_relevances = np.array([0.5, 0.7], np.float32)
    trap_filter.recognise(visit, words.read(page))
    assert (0.0, [0.0, 0.0], ["soft-404"], "") == (
        visit.relevance,
        visit.links.link_relevances.tolist(),
        visit.flags,
        visit.same_as,
    )
    assert not visit.was_relevant(0.1)


def test_replayed_is_as_live() -> None:
    """From the stored visits the same faces come back, bit for bit, and pages are judged as before."""
    host = probed()
    host.says("http://a.test/corals.html", CORAL)
    host.visit("http://b.test/no-such-page.html", f"{CORAL} {SORRY}", "probe")
    replayed = Host()
    for event in host.events:
        stored = codec.decode_visit(codec.encode_visit(event), event.place)
        replayed.words.learn(stored)
        replayed.soft404.learn(stored)
    assert host.words.terms == replayed.words.terms
    assert host.soft404._faces.keys() == replayed.soft404._faces.keys() == {"http://a.test", "http://b.test"}
    for base, (ids, counts) in host.soft404._faces.items():
        again = replayed.soft404._faces[base]
        assert (ids.dtype, counts.dtype) == (again[0].dtype, again[1].dtype)
        assert (ids.tolist(), counts.tolist()) == (again[0].tolist(), again[1].tolist())
    for node, text in (("http://a.test/x", SORRY), ("http://a.test/y", CORAL), ("http://b.test/z", f"{CORAL} {SORRY}")):
        assert host.says(node, text) == replayed.says(node, text)


@pytest.mark.parametrize("hosts", [0, 1, 3])
def test_faces_in_a_snapshot(hosts: int) -> None:
    """They come back as they were, in arrays for all hosts together."""
    host = Host()
    for number in range(hosts):
        probe = f"http://{number}.test/no-such-page-0123456789ab.html"
        host.visit(probe, " ".join(SORRY.split()[number:]), "probe")
    state = host.soft404.state()
    again = Soft404Detector()
    again.restore(state | {"hosts": list(state["hosts"].items)})
    faces = [
        {name: (ids.tolist(), n.tolist()) for name, (ids, n) in one._faces.items()} for one in (host.soft404, again)
    ]
    assert faces[0] == faces[1]
    assert hosts == len(faces[1])
